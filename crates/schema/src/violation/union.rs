//! A value that fits none of several alternatives: which one was meant?

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{Teller, show, words};

type Branch = Vec<ValidationError<'static>>;

impl Teller<'_> {
    /// Tells the mistakes of the alternative that comes nearest, or lists what all of them want.
    pub(super) fn union(&mut self, error: &ValidationError<'_>, branches: &[Branch]) {
        let here = error.instance_path().as_str();
        let near = branches
            .iter()
            .filter(|branch| !branch.iter().any(|e| refuses_kind(e, here)))
            .min_by_key(|branch| distance(branch));
        match near {
            Some(branch)
                if !branch.is_empty() && !branch.iter().any(|e| options(e, here).is_some()) =>
            {
                branch.iter().for_each(|error| self.tell(error));
            }
            _ => self.list(error, branches, here),
        }
    }

    fn list(&mut self, error: &ValidationError<'_>, branches: &[Branch], here: &str) {
        let mut wanted: Vec<Value> = Vec::new();
        let mut kinds: Vec<String> = Vec::new();
        for branch in branches {
            if let Some(options) = branch.iter().find_map(|error| options(error, here)) {
                wanted.extend_from_slice(options);
            } else if let Some(name) = branch.iter().find_map(|error| match error.kind() {
                Kind::Type { kind } if error.instance_path().as_str() == here => {
                    Some(words::type_names(kind))
                }
                _ => None,
            }) && !kinds.contains(&name)
            {
                kinds.push(name);
            }
        }
        let got = show(error.instance(), here);
        let message = match (wanted.is_empty(), kinds.is_empty()) {
            (true, true) => "fits none of the alternatives".to_owned(),
            (true, false) => format!("expected {}, got {got}", words::alternatives(&kinds)),
            // Text was sent and text is wanted: the other kinds are beside the point.
            (false, _) if kinds.is_empty() || error.instance().is_string() => {
                words::choice(&wanted, error.instance(), &got)
            }
            (false, _) => format!(
                "expected {} or {}, got {got}",
                words::one_of(&wanted),
                words::alternatives(&kinds)
            ),
        };
        self.push(words::pointer(here), error.kind(), message);
    }
}

/// Whether this branch never takes a value of that kind; a fraction for an integer is near enough to be told so.
fn refuses_kind(error: &ValidationError<'_>, here: &str) -> bool {
    error.instance_path().as_str() == here
        && matches!(error.kind(), Kind::Type { kind } if !matches!(kind, TypeKind::Single(JsonType::Integer)) || !error.instance().is_number())
}

fn options<'e>(error: &'e ValidationError<'_>, here: &str) -> Option<&'e [Value]> {
    if error.instance_path().as_str() != here {
        return None;
    }
    match error.kind() {
        Kind::Enum { options } => options.as_array().map(Vec::as_slice),
        Kind::Constant { expected_value } => Some(std::slice::from_ref(&**expected_value)),
        _ => None,
    }
}

/// How much would have to change: a wrong tag most, a wrong leaf least.
fn distance(branch: &Branch) -> usize {
    let one = |error: &ValidationError<'_>| match error.kind() {
        Kind::Constant { .. } | Kind::Enum { .. } => 10,
        Kind::Required { .. } => 3,
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            2 * unexpected.len()
        }
        _ => 1,
    };
    branch.iter().map(one).sum()
}
