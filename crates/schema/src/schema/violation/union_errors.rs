//! A value that fits none of several alternatives: which one was meant?

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{ViolationCollector, describe, excerpt};

type BranchErrors = Vec<ValidationError<'static>>;

impl ViolationCollector<'_> {
    /// Tells the mistakes of the alternative that comes nearest, or lists what all of them want.
    pub(super) fn add_union_error(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[BranchErrors],
    ) {
        let here = error.instance_path().as_str();
        let near = branches
            .iter()
            .filter(|branch| !branch.iter().any(|e| rejects_type(e, here)))
            .min_by_key(|branch| branch_distance(branch));
        match near {
            Some(branch)
                if !branch.is_empty()
                    && !branch.iter().any(|e| enum_options(e, here).is_some()) =>
            {
                branch.iter().for_each(|error| self.add_error(error));
            }
            _ => self.add_alternatives(error, branches, here),
        }
    }

    fn add_alternatives(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[BranchErrors],
        here: &str,
    ) {
        let mut wanted: Vec<Value> = Vec::new();
        let mut kinds: Vec<String> = Vec::new();
        for branch in branches {
            if let Some(options) = branch.iter().find_map(|error| enum_options(error, here)) {
                wanted.extend_from_slice(options);
            } else if let Some(name) = branch.iter().find_map(|error| match error.kind() {
                Kind::Type { kind } if error.instance_path().as_str() == here => {
                    Some(describe::type_names(kind))
                }
                _ => None,
            }) && !kinds.contains(&name)
            {
                kinds.push(name);
            }
        }
        let got = excerpt(error.instance(), here);
        let message = match (wanted.is_empty(), kinds.is_empty()) {
            (true, true) => "fits none of the alternatives".to_owned(),
            (true, false) => format!("expected {}, got {got}", describe::join_with_or(&kinds)),
            // Text was sent and text is wanted: the other kinds are beside the point.
            (false, _) if kinds.is_empty() || error.instance().is_string() => {
                describe::enum_message(&wanted, error.instance(), &got)
            }
            (false, _) => format!(
                "expected {} or {}, got {got}",
                describe::describe_options(&wanted),
                describe::join_with_or(&kinds)
            ),
        };
        self.push(describe::redact_pointer(here), error.kind(), message);
    }
}

/// Whether this branch never takes a value of that kind; a fraction for an integer is near enough to be told so.
fn rejects_type(error: &ValidationError<'_>, here: &str) -> bool {
    error.instance_path().as_str() == here
        && matches!(error.kind(), Kind::Type { kind } if !matches!(kind, TypeKind::Single(JsonType::Integer)) || !error.instance().is_number())
}

fn enum_options<'e>(error: &'e ValidationError<'_>, here: &str) -> Option<&'e [Value]> {
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
fn branch_distance(branch: &BranchErrors) -> usize {
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
