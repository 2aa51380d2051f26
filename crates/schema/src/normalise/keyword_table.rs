//! Which keyword holds what, in 2020-12 and in the dialects that are read.

/// What a keyword holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordValue {
    /// One schema.
    Schema,
    /// A list of schemas.
    SchemaList,
    /// Schemas by name.
    SchemaMap,
    /// Words for a reader.
    Prose,
    /// Text with a meaning of its own.
    Text,
    /// A number.
    Number,
    /// A whole number from 0.
    NonNegativeInteger,
    /// Yes or no.
    Boolean,
    /// Something a stage of its own looks after; never a schema.
    HandledElsewhere,
    /// Any value at all.
    AnyValue,
}

/// What a keyword holds; `None` for a word that no dialect knows.
pub(super) fn keyword_value(keyword: &str) -> Option<KeywordValue> {
    Some(match keyword {
        "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => KeywordValue::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => KeywordValue::SchemaList,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            KeywordValue::SchemaMap
        }
        "title" | "description" | "$comment" => KeywordValue::Prose,
        "id" | "ref" | "$id" | "$anchor" | "$ref" | "$dynamicRef" | "$dynamicAnchor"
        | "pattern" | "format" | "contentEncoding" | "contentMediaType" => KeywordValue::Text,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "divisibleBy" => KeywordValue::Number,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => KeywordValue::NonNegativeInteger,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" | "nullable" => {
            KeywordValue::Boolean
        }
        "type" | "enum" | "required" | "optional" | "propertyOrdering" | "defs"
        | "dependencies" | "dependentRequired" | "discriminator" | "xml" | "externalDocs" => {
            KeywordValue::HandledElsewhere
        }
        "const" | "default" | "examples" | "example" | "extends" | "disallow" => {
            KeywordValue::AnyValue
        }
        // Other words with a `$` are kept for the language, those with `x-` for whoever extends it.
        other if other.starts_with('$') || other.starts_with("x-") => KeywordValue::AnyValue,
        _ => return None,
    })
}

/// Keywords by which a schema says which values it means without naming their type.
pub(super) const IMPLIED_TYPE_KEYWORDS: [&str; 10] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "const",
    "enum",
    "prefixItems",
];
