//! The set of keywords that occur in a schema, so that passes about other keywords can be skipped.

use serde_json::Value;

use super::LIFT_KEYWORD;

/// Keywords that may occur somewhere in a schema: a superset of those that do.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeywordSet(u64);

impl KeywordSet {
    /// Any keyword without its own bit.
    pub(crate) const OTHER_KEYWORD: Self = Self(1 << 63);
    /// A boolean schema other than those that every pass handles.
    pub(crate) const BOOLEAN_SCHEMA: Self = Self(1 << 62);
    /// `items` that are not a single schema.
    pub(crate) const NON_SCHEMA_ITEMS: Self = Self(1 << 61);
    /// The type `null`.
    pub(crate) const NULL_TYPE: Self = Self(1 << 60);

    pub(crate) const ALL: Self = Self(u64::MAX);

    pub(crate) fn from_keywords(keywords: &[&str]) -> Self {
        Self(keywords.iter().fold(0, |all, keyword| all | keyword_bit(keyword)))
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns true if any of these occurs.
    pub(crate) fn intersects(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    /// Returns true if all of these occur.
    pub(crate) fn contains_all(self, all: Self) -> bool {
        all.0 & !self.0 == 0
    }

    /// Adds a keyword and what its value implies.
    #[inline]
    pub(super) fn insert_keyword(&mut self, keyword: &str, value: &Value) {
        self.0 |= keyword_bit(keyword);
        match (keyword, value) {
            ("default" | "nullable" | "uniqueItems", Value::Bool(_)) => {}
            ("items", Value::Bool(false) | Value::Array(_)) => {
                *self = self.union(Self::NON_SCHEMA_ITEMS)
            }
            (
                "additionalItems"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Bool(false),
            ) => {}
            (_, Value::Bool(_)) => *self = self.union(Self::BOOLEAN_SCHEMA),
            ("type", Value::String(json_type)) if json_type == "null" => {
                *self = self.union(Self::NULL_TYPE)
            }
            _ => {}
        }
    }

    /// Adds what an element or a named subschema implies.
    #[inline]
    pub(super) fn insert_subschema(&mut self, value: &Value) {
        if value.is_boolean() {
            *self = self.union(Self::BOOLEAN_SCHEMA);
        }
    }
}

/// The keywords that passes look for, each with its own bit; the most frequent come first.
const KEYWORDS: [&str; 47] = [
    "items", "enum", "default", "anyOf", "format", "additionalProperties", "title", "$ref",
    "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "pattern", "const",
    "$schema", "$defs", "oneOf", "allOf", "uniqueItems", "prefixItems", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minProperties", "maxProperties", "not", "if", "then",
    "else", "patternProperties", "propertyNames", "additionalItems", "contains", "minContains",
    "maxContains", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedItems",
    "unevaluatedProperties", "definitions", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef",
];

/// The bit of a keyword; 0 for those that any pass may write.
fn keyword_bit(keyword: &str) -> u64 {
    match keyword {
        "type" | "description" | "properties" | "required" | LIFT_KEYWORD => 0,
        _ => KEYWORDS
            .iter()
            .position(|known| *known == keyword)
            .map_or(KeywordSet::OTHER_KEYWORD.0, |bit| 1 << bit),
    }
}
