//! The set of types that a schema allows.

use serde_json::{Map, Value};

/// A set of types; integers and fractions are separate, so that `integer` and `number` intersect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeSet(u8);

impl TypeSet {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// The JSON types, most informative first.
    pub(super) const JSON_TYPES: [Self; 6] =
        [Self::OBJECT, Self::ARRAY, Self::STRING, Self::NUMBER, Self::BOOLEAN, Self::NULL];

    pub(super) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn intersects(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }

    pub(super) fn type_of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) => match number.as_f64() {
                Some(float) if number.is_f64() && float.fract() != 0.0 => Self::FRACTION,
                _ => Self::INTEGER,
            },
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The types that a `type` keyword allows.
    pub(super) fn from_type_keyword(names: &Value) -> Self {
        match names {
            Value::String(name) => match name.as_str() {
                "null" => Self::NULL,
                "boolean" => Self::BOOLEAN,
                "integer" => Self::INTEGER,
                "number" => Self::NUMBER,
                "string" => Self::STRING,
                "array" => Self::ARRAY,
                "object" => Self::OBJECT,
                _ => Self::NONE,
            },
            Value::Array(names) => names
                .iter()
                .fold(Self::NONE, |types, name| types.union(Self::from_type_keyword(name))),
            _ => Self::ALL,
        }
    }

    /// The types that the schema's own keywords allow.
    pub(super) fn allowed_by(schema: &Value) -> Self {
        let Value::Object(object) = schema else {
            return Self::ALL;
        };
        let typed = object.get("type").map_or(Self::ALL, Self::from_type_keyword);
        typed.intersection(object.get("const").map_or(Self::ALL, Self::type_of))
    }

    /// The types that the keywords of a schema without `type` imply.
    pub(super) fn implied_by(object: &Map<String, Value>) -> Self {
        object.keys().fold(Self::NONE, |types, keyword| {
            types.union(match keyword.as_str() {
                "properties"
                | "required"
                | "additionalProperties"
                | "patternProperties"
                | "minProperties"
                | "maxProperties"
                | "propertyNames"
                | "dependentRequired"
                | "dependentSchemas"
                | "unevaluatedProperties" => Self::OBJECT,
                "items" | "prefixItems" | "contains" | "minItems" | "maxItems" | "uniqueItems"
                | "unevaluatedItems" => Self::ARRAY,
                "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding" => {
                    Self::STRING
                }
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                    Self::NUMBER
                }
                _ => Self::NONE,
            })
        })
    }
}
