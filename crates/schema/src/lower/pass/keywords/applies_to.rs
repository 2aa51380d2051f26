//! Keyword in, the values it speaks about out.

use serde_json::{Map, Value};

/// What a keyword says something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppliesTo {
    /// Values of every type.
    AllTypes,
    Numbers,
    Strings,
    Arrays,
    Objects,
    /// Nothing: it informs, or it is unknown.
    NoValue,
}

pub(crate) fn applies_to(keyword: &str) -> AppliesTo {
    match keyword {
        // By far the most frequent.
        "type" => AppliesTo::AllTypes,
        "description" => AppliesTo::NoValue,
        "properties" | "required" => AppliesTo::Objects,
        "items" => AppliesTo::Arrays,
        "$dynamicRef" | "$ref" | "allOf" | "anyOf" | "const" | "else" | "enum" | "if" | "not"
        | "oneOf" | "then" => AppliesTo::AllTypes,
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
            AppliesTo::Numbers
        }
        "format" | "maxLength" | "minLength" | "pattern" => AppliesTo::Strings,
        "additionalItems" | "contains" | "maxContains" | "maxItems" | "minContains"
        | "minItems" | "prefixItems" | "unevaluatedItems" | "uniqueItems" => AppliesTo::Arrays,
        "additionalProperties"
        | "dependencies"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties" => AppliesTo::Objects,
        _ => AppliesTo::NoValue,
    }
}

/// Whether a keyword takes part in the verdict on a value.
pub(crate) fn is_assertion(keyword: &str) -> bool {
    applies_to(keyword) != AppliesTo::NoValue
}

/// Whether a schema says nothing about values.
pub(crate) fn has_no_assertions(schema: &Map<String, Value>) -> bool {
    !schema.keys().any(|keyword| is_assertion(keyword))
}

/// The types a keyword's subject comprises.
pub(crate) fn type_names(subject: AppliesTo) -> &'static [&'static str] {
    match subject {
        AppliesTo::AllTypes | AppliesTo::NoValue => &[],
        AppliesTo::Numbers => &["integer", "number"],
        AppliesTo::Strings => &["string"],
        AppliesTo::Arrays => &["array"],
        AppliesTo::Objects => &["object"],
    }
}
