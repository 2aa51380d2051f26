//! Which keyword holds what, in 2020-12 and in the dialects that are read.

/// What a keyword holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// One schema.
    Schema,
    /// A list of schemas.
    Schemas,
    /// Schemas by name.
    Named,
    /// Words for a reader.
    Prose,
    /// Text with a meaning of its own.
    Text,
    /// A number.
    Number,
    /// A whole number from 0.
    Count,
    /// Yes or no.
    Flag,
    /// Something a stage of its own looks after; never a schema.
    Special,
    /// Any value at all.
    Free,
}

/// What a keyword holds; `None` for a word that no dialect knows.
pub(super) fn holds(keyword: &str) -> Option<Holds> {
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
        | "contentSchema" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::Schemas,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            Holds::Named
        }
        "title" | "description" | "$comment" => Holds::Prose,
        "id" | "ref" | "$id" | "$anchor" | "$ref" | "$dynamicRef" | "$dynamicAnchor"
        | "pattern" | "format" | "contentEncoding" | "contentMediaType" => Holds::Text,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
        | "divisibleBy" => Holds::Number,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => Holds::Count,
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" | "nullable" => Holds::Flag,
        "type" | "enum" | "required" | "optional" | "propertyOrdering" | "defs"
        | "dependencies" | "dependentRequired" | "discriminator" | "xml" | "externalDocs" => {
            Holds::Special
        }
        "const" | "default" | "examples" | "example" | "extends" | "disallow" => Holds::Free,
        // Other words with a `$` are kept for the language, those with `x-` for whoever extends it.
        other if other.starts_with('$') || other.starts_with("x-") => Holds::Free,
        _ => return None,
    })
}

/// Keywords by which a schema says which values it means without naming their type.
pub(super) const INSTEAD_OF_TYPE: [&str; 10] = [
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
