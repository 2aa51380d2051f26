//! Text with placeholders: `${name}`, `${name:-fallback}`, and `$${` for a literal `${`.

/// The limit of comparisons in [`Template::parse_escaping`].
const MAX_COMPARISONS: usize = 1_000_000;

/// A parsed text with placeholders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    source: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Text(String),
    Placeholder { name: String, fallback: Option<String> },
}

impl Template {
    /// Parses `text`; a `${` that is never closed is plain text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut segments = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(offset) = rest.find("${") {
            let (before, from) = rest.split_at(offset);
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                rest = from.strip_prefix("${").unwrap_or_default();
                continue;
            }
            let inner = from.strip_prefix("${").unwrap_or_default();
            let Some((inner, after)) = inner.split_once('}') else {
                break;
            };
            plain.push_str(before);
            if !plain.is_empty() {
                segments.push(Segment::Text(std::mem::take(&mut plain)));
            }
            let (name, fallback) = match inner.split_once(":-") {
                Some((name, fallback)) => (name, Some(fallback.to_owned())),
                None => (inner, None),
            };
            segments.push(Segment::Placeholder { name: name.to_owned(), fallback });
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            segments.push(Segment::Text(plain));
        }
        Self { source: text.to_owned(), segments }
    }

    /// Parses `text` as [`parse`](Self::parse) does, except that placeholders in copies of the
    /// `foreign` lines are plain text.
    pub(crate) fn parse_escaping(text: &str, foreign: &[impl AsRef<str>]) -> Self {
        let count = |text: &str| text.matches("${").count();
        let lines = || foreign.iter().map(AsRef::as_ref);
        let foreign_count: usize = lines().map(|line| count(line).max(1)).sum();
        // With thousands of placeholders in the arguments none is filled in.
        let too_many = foreign_count.saturating_mul(count(text)) > MAX_COMPARISONS;
        let is_foreign =
            |offset: usize| too_many || lines().any(|line| is_inside_copy(line, text, offset));
        let mut escaped = String::with_capacity(text.len());
        let mut rest = text;
        for (offset, _) in text.match_indices("${") {
            let (before, from) = rest.split_at(offset - (text.len() - rest.len()));
            escaped.push_str(before);
            if is_foreign(offset) {
                escaped.push('$');
            }
            rest = from;
        }
        escaped.push_str(rest);
        Self::parse(&escaped)
    }

    /// Returns the unparsed text.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names of the placeholders, in order.
    pub(crate) fn placeholder_names(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Placeholder { name, .. } => Some(name.as_str()),
            Segment::Text(_) => None,
        })
    }

    /// Returns true if there is a placeholder.
    pub(crate) fn has_placeholders(&self) -> bool {
        self.placeholder_names().next().is_some()
    }

    /// Returns the first name without a value in `lookup` and without a fallback.
    pub(crate) fn first_unresolved(&self, lookup: impl Fn(&str) -> Option<String>) -> Option<&str> {
        self.segments.iter().find_map(|segment| match segment {
            Segment::Placeholder { name, fallback: None } if lookup(name).is_none() => {
                Some(name.as_str())
            }
            _ => None,
        })
    }

    /// Replaces each placeholder by its value in `lookup`, else by its fallback; else it stays as it is.
    ///
    /// Values are not expanded again: they may come from an untrusted source.
    pub(crate) fn expand(&self, lookup: impl Fn(&str) -> Option<String>) -> String {
        let mut text = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Text(plain) => text.push_str(plain),
                Segment::Placeholder { name, fallback } => {
                    match lookup(name).or_else(|| fallback.clone()) {
                        Some(value) => text.push_str(&value),
                        None => {
                            text.push_str("${");
                            text.push_str(name);
                            text.push('}');
                        }
                    }
                }
            }
        }
        text
    }
}

/// Returns true if the `${` at byte `offset` of `text` is inside a copy of `line`, or its brace starts one.
fn is_inside_copy(line: &str, text: &str, offset: usize) -> bool {
    let from_brace = text.get(offset + 1..).unwrap_or_default();
    if line.starts_with('{') && from_brace.starts_with(line) {
        return true;
    }
    line.match_indices("${").any(|(in_line, _)| {
        let copy = offset.checked_sub(in_line).and_then(|start| text.get(start..));
        copy.is_some_and(|copy| copy.starts_with(line))
    })
}

#[cfg(test)]
mod tests {
    use super::Template;

    fn expand(text: &str) -> String {
        Template::parse(text).expand(|name| match name {
            "city" => Some("Paris".to_owned()),
            "nested" => Some("${city}".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn names_are_filled_in() {
        assert_eq!(expand("in ${city}, ${city}!"), "in Paris, Paris!");
    }

    #[test]
    fn an_unknown_name_takes_its_fallback_or_stays() {
        assert_eq!(expand("${who:-you} and ${who}"), "you and ${who}");
        assert_eq!(expand("${who:-}"), "");
    }

    #[test]
    fn a_doubled_dollar_is_a_literal() {
        assert_eq!(expand("$${city} costs $5, ${city}"), "${city} costs $5, Paris");
    }

    #[test]
    fn values_are_not_expanded_again() {
        assert_eq!(expand("${nested}"), "${city}");
    }

    #[test]
    fn placeholders_in_copies_of_foreign_lines_are_plain_text() {
        let escaping = |text: &str, foreign: &[&str]| {
            Template::parse_escaping(text, foreign).expand(|_| Some("Paris".to_owned()))
        };
        let script = "echo ${city} $${city} ${who:-you} ${";
        let text = format!("${{city}}:\n> {script}\n${{city}}, {script}");
        let expected = format!("Paris:\n> {script}\nParis, {script}");
        assert_eq!(escaping(&text, &[script]), expected);
        assert_eq!(escaping("$$${city}", &["${city}"]), "$$${city}");
        assert_eq!(escaping("${city}", &["in ${city}", "é${city}"]), "Paris");
        assert_eq!(escaping("ü${city}", &["üü${city}"]), "üParis");
        let many = "${city}".repeat(2_000);
        assert_eq!(escaping(&many, &[&many]), many);
    }

    #[test]
    fn an_unclosed_placeholder_is_plain_text() {
        assert_eq!(expand("${city} ${city"), "Paris ${city");
    }
}
