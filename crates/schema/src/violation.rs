//! Validator errors in, one plain sentence per mistake out.

mod object;
mod union;
mod words;

use std::fmt;

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::Value;

use crate::SchemaError;
use words::{choice, count, format_name, type_names};
pub(crate) use words::{show, target};

/// How many violations are told before the rest is only counted.
const MOST: usize = 20;

/// How many errors are looked at; a million wrong elements teach no more than the first few.
const LOOKED_AT: usize = 10 * MOST;

/// One mistake in a value, worded for the model that made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer of the guilty value, empty for the whole.
    pub pointer: String,
    /// The schema keyword that was broken.
    pub keyword: String,
    /// What is wrong and what is expected.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        f.write_str(&self.message)
    }
}

pub(crate) fn broken_schema(error: &SchemaError) -> Violation {
    Violation {
        pointer: String::new(),
        keyword: "$schema".to_owned(),
        message: format!("the schema itself is broken: {error}"),
    }
}

/// Words every error, drops the ones that only echo another, and caps the list.
pub(crate) fn explain<'e>(
    schema: &Value,
    errors: impl Iterator<Item = ValidationError<'e>>,
) -> Vec<Violation> {
    let mut teller = Teller {
        schema,
        found: Vec::new(),
        doubtful: Vec::new(),
        unseen: 0,
    };
    for error in errors {
        if teller.full() {
            teller.unseen += 1;
        } else {
            teller.tell(&error);
        }
    }
    let unseen = teller.unseen;
    let mut found = teller.finish();
    let more = found.len().saturating_sub(MOST) + unseen;
    found.truncate(MOST);
    if more > 0 {
        found.push(Violation {
            pointer: String::new(),
            keyword: String::new(),
            message: format!("… and {more} more"),
        });
    }
    found
}

struct Teller<'s> {
    schema: &'s Value,
    found: Vec<Violation>,
    /// Properties that are unevaluated perhaps only because another branch failed.
    doubtful: Vec<Violation>,
    unseen: usize,
}

impl Teller<'_> {
    fn push(&mut self, pointer: impl Into<String>, kind: &Kind, message: impl Into<String>) {
        let keyword = kind.keyword().to_owned();
        self.found.push(Violation {
            pointer: pointer.into(),
            keyword,
            message: message.into(),
        });
    }

    fn full(&self) -> bool {
        self.found.len() + self.doubtful.len() >= LOOKED_AT
    }

    fn tell(&mut self, error: &ValidationError<'_>) {
        let kind = error.kind();
        match kind {
            Kind::Required { property } => {
                self.missing(error, property.as_str().unwrap_or_default())
            }
            Kind::AdditionalProperties { unexpected } => self.unknown(error, unexpected, false),
            Kind::UnevaluatedProperties { unexpected } => self.unknown(error, unexpected, true),
            Kind::PropertyNames { error: inner } => self.misnamed(error, inner),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => self.union(error, context),
            _ => self.push(
                words::pointer(error.instance_path().as_str()),
                kind,
                plain(error),
            ),
        }
    }

    fn finish(mut self) -> Vec<Violation> {
        if self.found.is_empty() {
            self.found = self.doubtful;
        }
        // Of a value of the wrong kind nothing else need be said, and a list of the right ones says more than their type.
        for keyword in ["enum", "const", "type"] {
            let decided: Vec<String> = self
                .found
                .iter()
                .filter(|v| v.keyword == keyword)
                .map(|v| v.pointer.clone())
                .collect();
            if !decided.is_empty() {
                self.found
                    .retain(|v| v.keyword == keyword || !decided.contains(&v.pointer));
            }
        }
        let mut told = Vec::<Violation>::with_capacity(self.found.len());
        for violation in self.found {
            if !told.contains(&violation) {
                told.push(violation);
            }
        }
        told
    }
}

/// The sentence for every keyword that concerns one value alone.
fn plain(error: &ValidationError<'_>) -> String {
    let value = error.instance().as_ref();
    let got = || show(value, error.instance_path().as_str());
    match error.kind() {
        Kind::Type { kind } => format!("expected {}, got {}", type_names(kind), got()),
        Kind::Enum { options } => choice(
            options.as_array().map(Vec::as_slice).unwrap_or_default(),
            value,
            &got(),
        ),
        Kind::Constant { expected_value } => {
            choice(std::slice::from_ref(&**expected_value), value, &got())
        }
        Kind::Minimum { limit } => format!("expected at least {limit}, got {}", got()),
        Kind::Maximum { limit } => format!("expected at most {limit}, got {}", got()),
        Kind::ExclusiveMinimum { limit } => format!("expected more than {limit}, got {}", got()),
        Kind::ExclusiveMaximum { limit } => format!("expected less than {limit}, got {}", got()),
        Kind::MultipleOf { multiple_of } => {
            format!("expected a multiple of {multiple_of}, got {}", got())
        }
        Kind::MinLength { limit } => format!(
            "expected at least {}, got {}",
            count(*limit, "character"),
            size(value)
        ),
        Kind::MaxLength { limit } => format!(
            "expected at most {}, got {}",
            count(*limit, "character"),
            size(value)
        ),
        Kind::MinItems { limit } => format!(
            "expected at least {}, got {}",
            count(*limit, "item"),
            size(value)
        ),
        Kind::MaxItems { limit } => format!(
            "expected at most {}, got {}",
            count(*limit, "item"),
            size(value)
        ),
        Kind::MinProperties { limit } => format!(
            "expected at least {}, got {}",
            count(*limit, "property"),
            size(value)
        ),
        Kind::MaxProperties { limit } => format!(
            "expected at most {}, got {}",
            count(*limit, "property"),
            size(value)
        ),
        Kind::AdditionalItems { limit } => format!(
            "expected at most {}, got {}",
            count(*limit as u64, "item"),
            size(value)
        ),
        Kind::UnevaluatedItems { .. } => "has more items than expected".to_owned(),
        Kind::Pattern { pattern } => {
            format!("expected text that matches `{pattern}`, got {}", got())
        }
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "is too costly to check against its pattern".to_owned()
        }
        Kind::Format { format } => format!("expected {}, got {}", format_name(format), got()),
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

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(elements) => elements.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
