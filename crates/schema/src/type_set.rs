//! Sets of JSON types, in which integers are a subset of numbers.

use serde_json::{Number, Value};

/// A set of types; integers and fractions are two of its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

/// The types of JSON Schema, in the order in which they are written.
const NAMES: [(&str, TypeSet); 7] = [
    ("string", TypeSet::STRING),
    ("integer", TypeSet::INTEGER),
    ("number", TypeSet::NUMBER),
    ("boolean", TypeSet::BOOLEAN),
    ("array", TypeSet::ARRAY),
    ("object", TypeSet::OBJECT),
    ("null", TypeSet::NULL),
];

impl TypeSet {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const STRING: Self = Self(1);
    pub(crate) const INTEGER: Self = Self(2);
    pub(crate) const FRACTION: Self = Self(4);
    pub(crate) const NUMBER: Self = Self(2 + 4);
    pub(crate) const BOOLEAN: Self = Self(8);
    pub(crate) const ARRAY: Self = Self(16);
    pub(crate) const OBJECT: Self = Self(32);
    pub(crate) const NULL: Self = Self(64);
    pub(crate) const ALL: Self = Self(127);

    /// The type of one value.
    pub(crate) fn type_of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if is_integer(number) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The type of one value; integers and fractions are both [`TypeSet::NUMBER`].
    pub(crate) fn json_type_of(value: &Value) -> Self {
        if value.is_number() { Self::NUMBER } else { Self::type_of(value) }
    }

    /// The type of that name; none if it is unknown.
    pub(crate) fn from_name(name: &str) -> Self {
        NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map_or(Self::NONE, |(_, json_type)| *json_type)
    }

    /// The types of these names.
    pub(crate) fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        names.into_iter().fold(Self::NONE, |all, name| all.union(Self::from_name(name)))
    }

    /// The types that the keyword `type` allows.
    pub(crate) fn from_type_keyword(json_type: &Value) -> Self {
        match json_type {
            Value::String(name) => Self::from_name(name),
            Value::Array(names) => Self::from_names(names.iter().filter_map(Value::as_str)),
            _ => Self::ALL,
        }
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        !self.intersection(other).is_empty()
    }

    /// The value of `type` for these types, in a fixed order; `None` where there is none.
    pub(crate) fn to_type_keyword(self) -> Option<Value> {
        let (integer, fraction) = (self.intersects(Self::INTEGER), self.intersects(Self::FRACTION));
        if fraction && !integer {
            return None;
        }
        let named = |(name, json_type): &(&str, Self)| match *name {
            "integer" => integer && !fraction,
            "number" => fraction,
            _ => self.intersects(*json_type),
        };
        let names = NAMES.into_iter().filter(named);
        let mut names: Vec<Value> = names.map(|(name, _)| Value::from(name)).collect();
        match names.len() {
            0 => None,
            1 => names.pop(),
            _ => Some(Value::Array(names)),
        }
    }
}

/// The value of a number that is written as an integer.
pub(crate) fn as_integer(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

/// Returns true if JSON Schema accepts the number as an integer, such as `1.0`.
fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}
