//! The types of value that each keyword applies to.

use crate::JsonObject;

/// The types of value that a keyword applies to, none for all types; `None` for an annotation or unknown keyword.
pub(crate) fn applies_to(keyword: &str) -> Option<&'static [&'static str]> {
    Some(match keyword {
        // The most frequent keywords.
        "type" => &[],
        "description" => return None,
        "properties" | "required" => &["object"],
        "items" => &["array"],
        "$dynamicRef" | "$ref" | "allOf" | "anyOf" | "const" | "else" | "enum" | "if" | "not"
        | "oneOf" | "then" => &[],
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
            &["integer", "number"]
        }
        "format" | "maxLength" | "minLength" | "pattern" => &["string"],
        "additionalItems" | "contains" | "maxContains" | "maxItems" | "minContains"
        | "minItems" | "prefixItems" | "unevaluatedItems" | "uniqueItems" => &["array"],
        "additionalProperties"
        | "dependencies"
        | "dependentRequired"
        | "dependentSchemas"
        | "maxProperties"
        | "minProperties"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties" => &["object"],
        _ => return None,
    })
}

/// Returns true if a keyword can make a value invalid.
pub(crate) fn is_assertion(keyword: &str) -> bool {
    applies_to(keyword).is_some()
}

/// Returns true if a schema has no assertions.
pub(crate) fn has_no_assertions(schema: &JsonObject) -> bool {
    !schema.keys().any(|keyword| is_assertion(keyword))
}
