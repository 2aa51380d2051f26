//! Violations of unions: finds the alternative that the model most likely intended.

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{ViolationCollector, describe, excerpt};

type BranchErrors = Vec<ValidationError<'static>>;

impl ViolationCollector<'_> {
    /// Lists the errors of the closest alternative, or what all of the alternatives accept.
    pub(super) fn add_union_error(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[BranchErrors],
    ) {
        let pointer = error.instance_path().as_str();
        let near = branches
            .iter()
            .filter(|branch| !branch.iter().any(|e| rejects_type(e, pointer)))
            .min_by_key(|branch| branch_distance(branch));
        match near {
            Some(branch)
                if !branch.is_empty()
                    && !branch.iter().any(|e| enum_options(e, pointer).is_some()) =>
            {
                branch.iter().for_each(|error| self.add_error(error));
            }
            _ => self.add_alternatives(error, branches, pointer),
        }
    }

    fn add_alternatives(
        &mut self,
        error: &ValidationError<'_>,
        branches: &[BranchErrors],
        pointer: &str,
    ) {
        let mut wanted: Vec<Value> = Vec::new();
        let mut types: Vec<String> = Vec::new();
        for branch in branches {
            if let Some(options) = branch.iter().find_map(|error| enum_options(error, pointer)) {
                wanted.extend_from_slice(options);
            } else if let Some(name) = branch.iter().find_map(|error| match error.kind() {
                Kind::Type { kind } if error.instance_path().as_str() == pointer => {
                    Some(describe::type_names(kind))
                }
                _ => None,
            }) && !types.contains(&name)
            {
                types.push(name);
            }
        }
        let got = excerpt(error.instance(), pointer);
        let message = match (wanted.is_empty(), types.is_empty()) {
            (true, true) => "fits none of the alternatives".to_owned(),
            (true, false) => format!("expected {}, got {got}", describe::join_with_or(&types)),
            // Text was sent and text is accepted: the other types need no mention.
            (false, _) if types.is_empty() || error.instance().is_string() => {
                describe::enum_message(&wanted, error.instance(), &got)
            }
            (false, _) => format!(
                "expected {} or {}, got {got}",
                describe::describe_options(&wanted),
                describe::join_with_or(&types)
            ),
        };
        self.push(describe::redact_pointer(pointer), error.kind(), message);
    }
}

/// Returns true if the branch never accepts a value of this type; a fraction instead of an integer still counts as close.
fn rejects_type(error: &ValidationError<'_>, pointer: &str) -> bool {
    error.instance_path().as_str() == pointer
        && matches!(error.kind(), Kind::Type { kind } if !matches!(kind, TypeKind::Single(JsonType::Integer)) || !error.instance().is_number())
}

fn enum_options<'e>(error: &'e ValidationError<'_>, pointer: &str) -> Option<&'e [Value]> {
    if error.instance_path().as_str() != pointer {
        return None;
    }
    match error.kind() {
        Kind::Enum { options } => options.as_array().map(Vec::as_slice),
        Kind::Constant { expected_value } => Some(std::slice::from_ref(&**expected_value)),
        _ => None,
    }
}

/// How much would have to change: most for a wrong discriminator, least for a wrong leaf.
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
