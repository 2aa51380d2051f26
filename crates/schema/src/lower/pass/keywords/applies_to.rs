//! The types of value that each keyword applies to.

use serde_json::{Map, Value};

/// The values that a keyword applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppliesTo {
    /// Values of every type.
    AllTypes,
    Numbers,
    Strings,
    Arrays,
    Objects,
    /// None: it is an annotation, or unknown.
    NoValue,
}

pub(crate) fn applies_to(keyword: &str) -> AppliesTo {
    match keyword {
        // The most frequent keyword.
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

/// Returns true if a keyword can make a value invalid.
pub(crate) fn is_assertion(keyword: &str) -> bool {
    applies_to(keyword) != AppliesTo::NoValue
}

/// Returns true if a schema has no assertions.
pub(crate) fn has_no_assertions(schema: &Map<String, Value>) -> bool {
    !schema.keys().any(|keyword| is_assertion(keyword))
}

/// The types that a keyword applies to.
pub(crate) fn type_names(applies_to: AppliesTo) -> &'static [&'static str] {
    match applies_to {
        AppliesTo::AllTypes | AppliesTo::NoValue => &[],
        AppliesTo::Numbers => &["integer", "number"],
        AppliesTo::Strings => &["string"],
        AppliesTo::Arrays => &["array"],
        AppliesTo::Objects => &["object"],
    }
}
