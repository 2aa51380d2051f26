//! Path templates of endpoints such as `/chat/{room}`: parsing, matching, and the conversation that a request addresses.

use toolwright_schema::__internal::{percent_decode, percent_encode};

/// A path template such as `/chat/{room}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PathTemplate {
    /// The path in the router's syntax.
    pub(crate) path: String,
    param_names: Vec<String>,
    /// True if the conversation's name is the `id` parameter alone, without the path as prefix.
    unprefixed: bool,
    /// True if the template had no parameters, so an `id` parameter was appended.
    adds_id_param: bool,
}

/// The values of a path's parameters, in the order of the path.
pub(crate) type PathParams = Vec<(String, String)>;

/// The parameter that is appended to a path without parameters.
pub(crate) const ID_PARAM: &str = "id";

impl PathTemplate {
    /// Parses a path; appends [`ID_PARAM`] to one without parameters.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        let rest = path.strip_prefix('/').ok_or("it has to begin with a slash")?;
        if rest.starts_with('{') {
            return Err("it has to begin with a word of its own".to_owned());
        }
        let mut names: Vec<String> = Vec::new();
        for segment in rest.split('/') {
            if segment.is_empty() {
                return Err("it has an empty part".to_owned());
            }
            let Some(name) = param_name(segment) else {
                if segment.contains(['{', '}', '?', '#', '%', '*']) {
                    return Err(format!("`{segment}` is neither a name in braces nor plain text"));
                }
                continue;
            };
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(plain) {
                return Err(format!("`{segment}` has to be a name of letters, as {{room}}"));
            }
            if names.iter().any(|known| known == name) {
                return Err(format!("`{segment}` is there twice"));
            }
            names.push(name.to_owned());
        }
        let by_client = names.is_empty();
        let path = match by_client {
            true => format!("{path}/{{{ID_PARAM}}}"),
            false => path.to_owned(),
        };
        if by_client {
            names.push(ID_PARAM.to_owned());
        }
        Ok(Self { path, param_names: names, unprefixed: false, adds_id_param: by_client })
    }

    /// The template whose conversations are named by the `id` parameter alone.
    pub(crate) fn unprefixed(path: &str) -> Self {
        Self {
            path: format!("{path}/{{{ID_PARAM}}}"),
            param_names: vec![ID_PARAM.to_owned()],
            unprefixed: true,
            adds_id_param: true,
        }
    }

    /// Returns true if the conversation's name is the `id` parameter alone.
    pub(crate) fn is_unprefixed(&self) -> bool {
        self.unprefixed
    }

    /// The names of the parameters, in the order of the path.
    pub(crate) fn param_names(&self) -> &[String] {
        &self.param_names
    }

    /// The path without the appended `id` parameter; `None` if the template has parameters of its own.
    pub(crate) fn collection_path(&self) -> Option<&str> {
        let own = self.adds_id_param.then_some(&self.path)?;
        own.strip_suffix(&format!("/{{{ID_PARAM}}}"))
    }

    /// The values of the parameters if the path matches.
    pub(crate) fn match_path(&self, path: &str) -> Option<PathParams> {
        let (ours, theirs) = (self.path.split('/'), path.split('/'));
        if ours.clone().count() != theirs.clone().count() {
            return None;
        }
        let mut values = Vec::new();
        for (segment, value) in ours.zip(theirs) {
            match param_name(segment) {
                Some(name) => values.push((name.to_owned(), percent_decode(value)?)),
                None if segment == value => {}
                None => return None,
            }
        }
        Some(values)
    }

    /// Returns true if a router cannot distinguish the two paths, or the routes below them.
    pub(crate) fn conflicts_with(&self, other: &Self) -> bool {
        let mut pairs = self.path.split('/').zip(other.path.split('/'));
        let is_name = |segment: &str| segment.starts_with('{');
        // The first difference decides: two literals are distinct, and a literal takes precedence over a parameter.
        match pairs.find(|(one, two)| one != two) {
            Some((one, two)) => is_name(one) && is_name(two),
            None => true,
        }
    }

    /// The name of the conversation that these parameter values address.
    pub(crate) fn conversation_name(&self, params: &[(String, String)]) -> Result<String, String> {
        let value = |name: &str| {
            let found = params.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).unwrap_or_default()
        };
        if let Some(name) = self.param_names.iter().find(|name| !is_valid_value(value(name))) {
            return Err(format!(
                "`{name}` has to have 1 to 128 characters, and none that cannot be seen"
            ));
        }
        if self.unprefixed {
            return Ok(value(ID_PARAM).to_owned());
        }
        let mut filled = String::new();
        for segment in self.path.split('/').skip(1) {
            filled.push('/');
            match param_name(segment) {
                // A slash in a value must not separate segments.
                Some(name) => filled.push_str(&percent_encode(value(name))),
                None => filled.push_str(segment),
            }
        }
        Ok(filled)
    }
}

fn is_valid_value(value: &str) -> bool {
    let visible = |c: char| !c.is_control();
    (1..=128).contains(&value.chars().count()) && value.chars().all(visible)
}

/// The name of a segment in braces.
fn param_name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &str, values: &[(&str, &str)]) -> String {
        let own = |(name, value): &(&str, &str)| (String::from(*name), String::from(*value));
        let values: Vec<_> = values.iter().map(own).collect();
        PathTemplate::parse(path).unwrap().conversation_name(&values).unwrap()
    }

    #[test]
    fn values_name_the_conversation_and_cannot_be_mistaken_for_another() {
        assert_eq!(named("/chat/{room}", &[("room", "lobby")]), "/chat/lobby");
        let one = named("/chat/{a}", &[("a", "x/y")]);
        let two = named("/chat/{a}/{b}", &[("a", "x"), ("b", "y")]);
        assert_ne!(one, two);
        assert_eq!(named("/help", &[("id", "7")]), "/help/7");
    }

    #[test]
    fn a_malformed_path_is_refused() {
        for wrong in
            ["chat", "/chat/", "/{}", "/{a}", "/x/{a}/{a}", "/x/{a b}", "/x{a}", "/x/{*rest}"]
        {
            assert!(PathTemplate::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_is_matched_to_its_parameters() {
        let template = PathTemplate::parse("/chat/{room}").unwrap();
        let values = template.match_path("/chat/a%2Fb").unwrap();
        assert_eq!(values, [("room".to_owned(), "a/b".to_owned())]);
        assert_eq!(template.conversation_name(&values).unwrap(), "/chat/a%2Fb");
        for other in ["/chat", "/chat/a/b", "/help/a", "/chat/a%2"] {
            assert!(template.match_path(other).is_none(), "{other}");
        }
    }

    #[test]
    fn paths_that_a_router_cannot_tell_apart_clash() {
        let clash = |one: &str, two: &str| {
            let two = PathTemplate::parse(two).unwrap();
            PathTemplate::parse(one).unwrap().conflicts_with(&two)
        };
        assert!(clash("/chat/{a}", "/chat/{a}"));
        assert!(clash("/chat/{a}", "/chat/{b}"));
        assert!(clash("/chat/{a}", "/chat/{a}/more"));
        assert!(clash("/chat/{a}/x", "/chat/{b}/y"));
        assert!(clash("/chat", "/chat/{id}"));
        assert!(!clash("/chat/{a}", "/help/{a}"));
        assert!(!clash("/chat/{a}", "/chat/lobby"));
        assert!(!clash("/chat", "/help"));
    }

    #[test]
    fn empty_long_and_invisible_values_are_refused() {
        let template = PathTemplate::parse("/chat/{room}").unwrap();
        for wrong in ["", "a\nb", &"x".repeat(129)] {
            let values = [("room".to_owned(), wrong.to_owned())];
            assert!(template.conversation_name(&values).is_err(), "{wrong:?}");
        }
    }
}
