//! Turns validator errors into sentences that a model can act on.

mod describe;
mod property_errors;
mod union_errors;

use std::fmt;

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::{SchemaError, json_pointer::write_message_at, text::english::count_noun};
use describe::{describe_format, enum_message, type_names};
pub(crate) use describe::{excerpt, resolve_local_ref};

/// How many violations are listed; the rest is only counted.
const MAX_VIOLATIONS: usize = 20;

/// How many errors are examined: a million invalid elements add nothing to the first few.
const MAX_EXAMINED_ERRORS: usize = 10 * MAX_VIOLATIONS;

/// One mistake in a value, described for the model that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the invalid value, empty for the whole document.
    pub pointer: String,
    /// The schema keyword that was violated.
    pub keyword: String,
    /// What is wrong and what is expected.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message_at(f, &self.pointer, &self.message)
    }
}

pub(crate) fn invalid_schema_violation(error: &SchemaError) -> Violation {
    Violation {
        pointer: String::new(),
        keyword: "$schema".to_owned(),
        message: format!("the schema itself is broken: {error}"),
    }
}

/// Describes every error, drops those that repeat another, and limits the number.
pub(crate) fn violations_from_errors<'e>(
    schema: &Value,
    errors: impl Iterator<Item = ValidationError<'e>>,
) -> Vec<Violation> {
    let mut collector = ViolationCollector {
        schema,
        violations: Vec::new(),
        uncertain: Vec::new(),
        unexamined_count: 0,
    };
    for error in errors {
        if collector.is_full() {
            collector.unexamined_count += 1;
        } else {
            collector.add_error(&error);
        }
    }
    let unseen = collector.unexamined_count;
    let mut found = collector.finish();
    let more = found.len().saturating_sub(MAX_VIOLATIONS) + unseen;
    found.truncate(MAX_VIOLATIONS);
    if more > 0 {
        found.push(Violation {
            pointer: String::new(),
            keyword: String::new(),
            message: format!("… and {more} more"),
        });
    }
    found
}

struct ViolationCollector<'s> {
    schema: &'s Value,
    violations: Vec<Violation>,
    /// Properties that may be unevaluated only because another branch failed.
    uncertain: Vec<Violation>,
    unexamined_count: usize,
}

impl ViolationCollector<'_> {
    fn push(&mut self, pointer: impl Into<String>, kind: &Kind, message: impl Into<String>) {
        let keyword = kind.keyword().to_owned();
        self.violations.push(Violation {
            pointer: pointer.into(),
            keyword,
            message: message.into(),
        });
    }

    fn is_full(&self) -> bool {
        self.violations.len() + self.uncertain.len() >= MAX_EXAMINED_ERRORS
    }

    fn add_error(&mut self, error: &ValidationError<'_>) {
        let kind = error.kind();
        match kind {
            Kind::Required { property } => {
                self.add_missing(error, property.as_str().unwrap_or_default())
            }
            Kind::AdditionalProperties { unexpected } => self.add_unknown(error, unexpected, false),
            Kind::UnevaluatedProperties { unexpected } => self.add_unknown(error, unexpected, true),
            Kind::PropertyNames { error: inner } => self.add_invalid_name(error, inner),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_union_error(error, context)
            }
            _ => self.push(
                describe::redact_pointer(error.instance_path().as_str()),
                kind,
                single_value_message(error),
            ),
        }
    }

    fn finish(mut self) -> Vec<Violation> {
        if self.violations.is_empty() {
            self.violations = self.uncertain;
        }
        // A value of the wrong type needs no other message, and a list of the allowed values is better than their type.
        for keyword in ["enum", "const", "type"] {
            let decided: Vec<String> = self
                .violations
                .iter()
                .filter(|v| v.keyword == keyword)
                .map(|v| v.pointer.clone())
                .collect();
            if !decided.is_empty() {
                self.violations.retain(|v| v.keyword == keyword || !decided.contains(&v.pointer));
            }
        }
        let mut unique = Vec::<Violation>::with_capacity(self.violations.len());
        for violation in self.violations {
            if !unique.contains(&violation) {
                unique.push(violation);
            }
        }
        unique
    }
}

/// The message for a keyword that concerns one value alone.
fn single_value_message(error: &ValidationError<'_>) -> String {
    let value = error.instance().as_ref();
    let got = || excerpt(value, error.instance_path().as_str());
    match error.kind() {
        Kind::Type { kind } => format!("expected {}, got {}", type_names(kind), got()),
        Kind::Enum { options } => {
            enum_message(options.as_array().map(Vec::as_slice).unwrap_or_default(), value, &got())
        }
        Kind::Constant { expected_value } => {
            enum_message(std::slice::from_ref(&**expected_value), value, &got())
        }
        Kind::Minimum { limit } => format!("expected at least {limit}, got {}", got()),
        Kind::Maximum { limit } => format!("expected at most {limit}, got {}", got()),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}, got {}", got()),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}, got {}", got()),
        Kind::MultipleOf { multiple_of } => {
            format!("expected a multiple of {multiple_of}, got {}", got())
        }
        Kind::MinLength { limit } => size_message("least", *limit, "character", value),
        Kind::MaxLength { limit } => size_message("most", *limit, "character", value),
        Kind::MinItems { limit } => size_message("least", *limit, "item", value),
        Kind::MaxItems { limit } => size_message("most", *limit, "item", value),
        Kind::MinProperties { limit } => size_message("least", *limit, "property", value),
        Kind::MaxProperties { limit } => size_message("most", *limit, "property", value),
        Kind::AdditionalItems { limit } => size_message("most", *limit as u64, "item", value),
        Kind::UnevaluatedItems { .. } => "has more items than expected".to_owned(),
        Kind::Pattern { pattern } => {
            format!("expected text that matches `{pattern}`, got {}", got())
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "is too costly to check against its pattern".to_owned()
        }
        Kind::Format { format } => format!("expected {}, got {}", describe_format(format), got()),
        Kind::UniqueItems => "expected no two equal items".to_owned(),
        Kind::Contains => "has too few or too many items of the expected kind".to_owned(),
        Kind::FalseSchema => "not allowed here".to_owned(),
        Kind::Not { .. } => "this value is not allowed".to_owned(),
        Kind::OneOfMultipleValid { .. } => {
            "fits more than one of the alternatives, expected exactly one".to_owned()
        }
        other => format!("does not satisfy `{}`", other.keyword()),
    }
}

fn size_message(bound: &str, limit: u64, noun: &str, value: &Value) -> String {
    let size = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(elements) => elements.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    };
    format!("expected at {bound} {}, got {size}", count_noun(&limit.into(), noun))
}

#[cfg(test)]
mod tests;
