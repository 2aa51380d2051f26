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
        match value {
            Value::Bool(flag) => *self = self.union(Self::of_boolean(keyword, *flag)),
            Value::Array(_) if keyword == "items" => *self = self.union(Self::NON_SCHEMA_ITEMS),
            Value::String(text) if text == "null" && keyword == "type" => {
                *self = self.union(Self::NULL_TYPE)
            }
            _ => {}
        }
    }

    /// What the boolean value of a keyword implies.
    fn of_boolean(keyword: &str, flag: bool) -> Self {
        match (keyword, flag) {
            ("default" | "nullable" | "uniqueItems", _) => Self::default(),
            ("items", false) => Self::NON_SCHEMA_ITEMS,
            (
                "additionalItems"
                | "additionalProperties"
                | "unevaluatedItems"
                | "unevaluatedProperties",
                false,
            ) => Self::default(),
            _ => Self::BOOLEAN_SCHEMA,
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

/// The bit of a keyword that passes look for; 0 for those that any pass may write.
///
/// A `match`, because this runs for every keyword of every schema several times, and the compiler compares by length first.
fn keyword_bit(keyword: &str) -> u64 {
    match keyword {
        "type" | "description" | "properties" | "required" | LIFT_KEYWORD => 0,
        "items" => 1 << 0,
        "enum" => 1 << 1,
        "default" => 1 << 2,
        "anyOf" => 1 << 3,
        "format" => 1 << 4,
        "additionalProperties" => 1 << 5,
        "title" => 1 << 6,
        "$ref" => 1 << 7,
        "minimum" => 1 << 8,
        "maximum" => 1 << 9,
        "minItems" => 1 << 10,
        "maxItems" => 1 << 11,
        "minLength" => 1 << 12,
        "maxLength" => 1 << 13,
        "pattern" => 1 << 14,
        "const" => 1 << 15,
        "$schema" => 1 << 16,
        "$defs" => 1 << 17,
        "oneOf" => 1 << 18,
        "allOf" => 1 << 19,
        "uniqueItems" => 1 << 20,
        "prefixItems" => 1 << 21,
        "exclusiveMinimum" => 1 << 22,
        "exclusiveMaximum" => 1 << 23,
        "multipleOf" => 1 << 24,
        "minProperties" => 1 << 25,
        "maxProperties" => 1 << 26,
        "not" => 1 << 27,
        "if" => 1 << 28,
        "then" => 1 << 29,
        "else" => 1 << 30,
        "patternProperties" => 1 << 31,
        "propertyNames" => 1 << 32,
        "additionalItems" => 1 << 33,
        "contains" => 1 << 34,
        "minContains" => 1 << 35,
        "maxContains" => 1 << 36,
        "dependencies" => 1 << 37,
        "dependentRequired" => 1 << 38,
        "dependentSchemas" => 1 << 39,
        "unevaluatedItems" => 1 << 40,
        "unevaluatedProperties" => 1 << 41,
        "definitions" => 1 << 42,
        "$id" => 1 << 43,
        "$anchor" => 1 << 44,
        "$dynamicAnchor" => 1 << 45,
        "$dynamicRef" => 1 << 46,
        _ => KeywordSet::OTHER_KEYWORD.0,
    }
}
