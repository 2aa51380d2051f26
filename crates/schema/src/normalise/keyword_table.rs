//! The type of value that each keyword holds, in 2020-12 and in the other supported dialects.

/// The type of value that a keyword holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeywordValue {
    /// One schema.
    Schema,
    /// A list of schemas.
    SchemaList,
    /// Schemas by name.
    SchemaMap,
    /// Human-readable text.
    Prose,
    /// Text with a defined meaning.
    Text,
    /// A number.
    Number,
    /// A non-negative integer.
    NonNegativeInteger,
    /// Yes or no.
    Boolean,
    /// Handled by a stage of its own; never a schema.
    HandledElsewhere,
    /// Any value at all.
    AnyValue,
}

impl KeywordValue {
    /// Returns true if the keyword holds one or more schemas.
    pub(super) fn is_schema(self) -> bool {
        matches!(self, Self::Schema | Self::SchemaList | Self::SchemaMap)
    }
}

/// The type of value that a keyword holds; `None` for an unknown keyword.
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
        // Other names with `$` are reserved by JSON Schema, those with `x-` for extensions.
        other if other.starts_with('$') || other.starts_with("x-") => KeywordValue::AnyValue,
        _ => return None,
    })
}

/// Keywords that imply the type of the values.
pub(super) const IMPLIED_TYPE_KEYWORDS: [&str; 10] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "const", "enum", "prefixItems"];
