//! Keyword in, the values it speaks about out.

use serde_json::{Map, Value};

/// What a keyword says something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Values of every type.
    Every,
    Numbers,
    Strings,
    Arrays,
    Objects,
    /// Nothing: it informs, or it is unknown.
    Nothing,
}

pub(crate) fn subject(keyword: &str) -> Subject {
    match keyword {
        // By far the most frequent.
        "type" => Subject::Every,
        "description" => Subject::Nothing,
        "properties" | "required" => Subject::Objects,
        "items" => Subject::Arrays,
        "$dynamicRef" | "$ref" | "allOf" | "anyOf" | "const" | "else" | "enum" | "if" | "not"
        | "oneOf" | "then" => Subject::Every,
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
            Subject::Numbers
        }
        "format" | "maxLength" | "minLength" | "pattern" => Subject::Strings,
        "additionalItems" | "contains" | "maxContains" | "maxItems" | "minContains"
        | "minItems" | "prefixItems" | "unevaluatedItems" | "uniqueItems" => Subject::Arrays,
        "additionalProperties"
        | "dependencies"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties" => Subject::Objects,
        _ => Subject::Nothing,
    }
}

/// Whether a keyword takes part in the verdict on a value.
pub(crate) fn asserts(keyword: &str) -> bool {
    subject(keyword) != Subject::Nothing
}

/// Whether a schema says nothing about values.
pub(crate) fn admits_all(schema: &Map<String, Value>) -> bool {
    !schema.keys().any(|keyword| asserts(keyword))
}

/// The types a keyword's subject comprises.
pub(crate) fn types(subject: Subject) -> &'static [&'static str] {
    match subject {
        Subject::Every | Subject::Nothing => &[],
        Subject::Numbers => &["integer", "number"],
        Subject::Strings => &["string"],
        Subject::Arrays => &["array"],
        Subject::Objects => &["object"],
    }
}
