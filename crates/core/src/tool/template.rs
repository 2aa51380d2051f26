//! Text with placeholders: `${name}`, `${name:-fallback}`, and `$${` for a literal `${`.

/// How often two placeholders are compared to tell the author's from those of others.
const MAX_COMPARISONS: usize = 1_000_000;

/// A text with placeholders, taken apart once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template {
    source: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Text(String),
    Placeholder {
        name: String,
        fallback: Option<String>,
    },
}

impl Template {
    /// Takes `text` apart; a `${` that is never closed is plain text.
    pub(crate) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
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
                pieces.push(Segment::Text(std::mem::take(&mut plain)));
            }
            let (name, fallback) = match inner.split_once(":-") {
                Some((name, fallback)) => (name, Some(fallback.to_owned())),
                None => (inner, None),
            };
            pieces.push(Segment::Placeholder {
                name: name.to_owned(),
                fallback,
            });
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            pieces.push(Segment::Text(plain));
        }
        Self {
            source: text.to_owned(),
            segments: pieces,
        }
    }

    /// Parses `text` as [`parse`](Self::parse) does, except that placeholders in copies of the
    /// `foreign` lines are plain text.
    pub(crate) fn parse_escaping(text: &str, foreign: &[impl AsRef<str>]) -> Self {
        let count = |text: &str| text.matches("${").count();
        let lines = || foreign.iter().map(AsRef::as_ref);
        let theirs: usize = lines().map(|line| count(line).max(1)).sum();
        // Arguments with thousands of placeholders get none filled in.
        let too_many = theirs.saturating_mul(count(text)) > MAX_COMPARISONS;
        let covered = |at: usize| too_many || lines().any(|line| is_inside_copy(line, text, at));
        let mut shielded = String::with_capacity(text.len());
        let mut rest = text;
        for (at, _) in text.match_indices("${") {
            let (before, from) = rest.split_at(at - (text.len() - rest.len()));
            shielded.push_str(before);
            if covered(at) {
                shielded.push('$');
            }
            rest = from;
        }
        shielded.push_str(rest);
        Self::parse(&shielded)
    }

    /// Returns the text as it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the names in order; a template without any is plain text.
    pub(crate) fn placeholder_names(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|piece| match piece {
            Segment::Placeholder { name, .. } => Some(name.as_str()),
            Segment::Text(_) => None,
        })
    }

    /// Tells whether there is anything to fill in.
    pub(crate) fn has_placeholders(&self) -> bool {
        self.placeholder_names().next().is_some()
    }

    /// Returns the first name that `lookup` does not know and that has no fallback.
    pub(crate) fn first_unresolved(&self, lookup: impl Fn(&str) -> Option<String>) -> Option<&str> {
        self.segments.iter().find_map(|piece| match piece {
            Segment::Placeholder {
                name,
                fallback: None,
            } if lookup(name).is_none() => Some(name.as_str()),
            _ => None,
        })
    }

    /// Fills in each name; what `lookup` does not know becomes its fallback, else stays as written.
    ///
    /// What is filled in is not looked at again: text from outside is never itself expanded.
    pub(crate) fn expand(&self, lookup: impl Fn(&str) -> Option<String>) -> String {
        let mut text = String::new();
        for piece in &self.segments {
            match piece {
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

/// Returns true if the `${` at `at` of `text` stands in a copy of `line`, or its brace begins one.
fn is_inside_copy(line: &str, text: &str, at: usize) -> bool {
    let from_brace = text.get(at + 1..).unwrap_or_default();
    if line.starts_with('{') && from_brace.starts_with(line) {
        return true;
    }
    line.match_indices("${").any(|(offset, _)| {
        let copy = at.checked_sub(offset).and_then(|start| text.get(start..));
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
        assert_eq!(
            expand("$${city} costs $5, ${city}"),
            "${city} costs $5, Paris"
        );
    }

    #[test]
    fn what_is_filled_in_is_not_expanded_again() {
        assert_eq!(expand("${nested}"), "${city}");
    }

    #[test]
    fn placeholders_in_the_lines_of_others_stay_as_they_are() {
        let around = |text: &str, foreign: &[&str]| {
            Template::parse_escaping(text, foreign).expand(|_| Some("Paris".to_owned()))
        };
        let script = "echo ${city} $${city} ${who:-you} ${";
        let text = format!("${{city}}:\n> {script}\n${{city}}, {script}");
        let expected = format!("Paris:\n> {script}\nParis, {script}");
        assert_eq!(around(&text, &[script]), expected);
        assert_eq!(around("$$${city}", &["${city}"]), "$$${city}");
        assert_eq!(around("${city}", &["in ${city}", "é${city}"]), "Paris");
        assert_eq!(around("ü${city}", &["üü${city}"]), "üParis");
        let many = "${city}".repeat(2_000);
        assert_eq!(around(&many, &[&many]), many);
    }

    #[test]
    fn an_unclosed_placeholder_is_plain_text() {
        assert_eq!(expand("${city} ${city"), "Paris ${city");
    }
}
