//! The set of keywords that occur in a schema, so that passes about other keywords can be skipped.

use serde_json::Value;

use super::LIFT_KEYWORD;

/// Keywords that may occur somewhere in a schema: a superset of those that do.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeywordSet(u64);

/// Any keyword without its own bit.
const OTHER_KEYWORD: u64 = 1 << 63;

/// A boolean schema other than those that every pass handles.
const BOOLEAN_SCHEMA: u64 = 1 << 62;

/// `items` that are not a single schema.
const NON_SCHEMA_ITEMS: u64 = 1 << 61;

/// The type `null`.
const NULL_TYPE: u64 = 1 << 60;

impl KeywordSet {
    pub(crate) const OTHER_KEYWORD: Self = Self(OTHER_KEYWORD);
    pub(crate) const BOOLEAN_SCHEMA: Self = Self(BOOLEAN_SCHEMA);
    pub(crate) const NON_SCHEMA_ITEMS: Self = Self(NON_SCHEMA_ITEMS);
    pub(crate) const NULL_TYPE: Self = Self(NULL_TYPE);

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
            ("items", Value::Bool(false) | Value::Array(_)) => self.0 |= NON_SCHEMA_ITEMS,
            (
                "additionalItems"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                Value::Bool(false),
            ) => {}
            (_, Value::Bool(_)) => self.0 |= BOOLEAN_SCHEMA,
            ("type", Value::String(json_type)) if json_type == "null" => self.0 |= NULL_TYPE,
            _ => {}
        }
    }

    /// Adds what an element or a named subschema implies.
    #[inline]
    pub(super) fn insert_subschema(&mut self, value: &Value) {
        if value.is_boolean() {
            self.0 |= BOOLEAN_SCHEMA;
        }
    }
}

/// One bit per keyword that a pass looks for; 0 for those that any pass may write.
fn keyword_bit(keyword: &str) -> u64 {
    // The most frequent keywords come first.
    let index = match keyword {
        "type" | "description" | "properties" | "required" | LIFT_KEYWORD => return 0,
        "items" => 0,
        "enum" => 1,
        "default" => 2,
        "anyOf" => 3,
        "format" => 4,
        "additionalProperties" => 5,
        "title" => 6,
        "$ref" => 7,
        "minimum" => 8,
        "maximum" => 9,
        "minItems" => 10,
        "maxItems" => 11,
        "minLength" => 12,
        "maxLength" => 13,
        "pattern" => 14,
        "const" => 15,
        "$schema" => 16,
        "$defs" => 17,
        "oneOf" => 18,
        "allOf" => 19,
        "uniqueItems" => 20,
        "prefixItems" => 21,
        "exclusiveMinimum" => 22,
        "exclusiveMaximum" => 23,
        "multipleOf" => 24,
        "minProperties" => 25,
        "maxProperties" => 26,
        "not" => 27,
        "if" => 28,
        "then" => 29,
        "else" => 30,
        "patternProperties" => 31,
        "propertyNames" => 32,
        "additionalItems" => 33,
        "contains" => 34,
        "minContains" => 35,
        "maxContains" => 36,
        "dependencies" => 37,
        "dependentRequired" => 38,
        "dependentSchemas" => 39,
        "unevaluatedItems" => 40,
        "unevaluatedProperties" => 41,
        "definitions" => 42,
        "$id" => 43,
        "$anchor" => 44,
        "$dynamicAnchor" => 45,
        "$dynamicRef" => 46,
        _ => return OTHER_KEYWORD,
    };
    1 << index
}
