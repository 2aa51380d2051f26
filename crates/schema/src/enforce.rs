//! A schema in, whether its Rust type already enforces it out.
//!
//! Where it does, the validator can be skipped. This is a whitelist: what is not known to be enforced is validated.

use serde_json::{Map, Value};

use crate::violation::target;

/// Whether reading the strict tape into the type that this schema was generated from enforces every keyword of it.
///
/// Sound for what derive makes of a type; it cannot see hand-written `Deserialize` code, `deserialize_with`, or an `alias`
/// that the schema does not name.
pub fn types_enforce(schema: &Value) -> bool {
    Enforced {
        root: schema,
        trail: Vec::new(),
    }
    .holds(schema)
}

/// Keywords that say what kind of value is meant.
const KINDS: [&str; 5] = ["type", "enum", "oneOf", "anyOf", "$ref"];

struct Enforced<'s> {
    root: &'s Value,
    /// References being followed: meeting one again adds nothing new.
    trail: Vec<&'s str>,
}

impl<'s> Enforced<'s> {
    fn holds(&mut self, schema: &'s Value) -> bool {
        match schema {
            // A value of any shape is not read strictly, so a schema that admits any is left to the validator.
            Value::Object(object) if KINDS.iter().any(|keyword| object.contains_key(*keyword)) => {
                object
                    .iter()
                    .all(|(keyword, value)| self.keyword(object, keyword, value))
            }
            _ => false,
        }
    }

    fn keyword(&mut self, object: &'s Map<String, Value>, keyword: &str, value: &'s Value) -> bool {
        match keyword {
            "title" | "description" | "default" | "examples" | "deprecated" | "$schema"
            | "$defs" => true,
            "type" => match value {
                Value::String(_) => true,
                Value::Array(names) => {
                    matches!(names.as_slice(), [_, null] | [null, _] if null == "null")
                }
                _ => false,
            },
            "format" => {
                natural(value).is_some() || matches!(value.as_str(), Some("float" | "double"))
            }
            "minimum" => bounds(object)
                .is_some_and(|(least, _)| integer(value).is_some_and(|limit| limit <= least)),
            "maximum" => bounds(object)
                .is_some_and(|(_, most)| integer(value).is_some_and(|limit| limit >= most)),
            "enum" => all(value, |option| option.is_string()),
            "properties" => {
                matches!(
                    object.get("additionalProperties"),
                    None | Some(Value::Bool(false))
                ) && value.as_object().is_some_and(|properties| {
                    properties.values().all(|property| self.holds(property))
                })
            }
            "additionalProperties" => match value {
                Value::Bool(false) => object.contains_key("properties"),
                _ => !object.contains_key("properties") && self.holds(value),
            },
            "required" => all(value, |name| {
                let property = name
                    .as_str()
                    .and_then(|name| object.get("properties")?.get(name));
                property.is_some_and(|property| {
                    property.get("default").is_none() && !self.may_be_null(property, 8)
                })
            }),
            "items" => self.holds(value),
            "anyOf" => {
                matches!(value.as_array().map(Vec::as_slice), Some([some, null] | [null, some])
                if is_null(null) && self.holds(some))
            }
            "oneOf" => all(value, is_named_constant),
            "$ref" => self.follow(value),
            _ => false,
        }
    }

    fn follow(&mut self, reference: &'s Value) -> bool {
        let (Some(name), Some(target)) = (reference.as_str(), target(self.root, reference)) else {
            return false;
        };
        if self.trail.contains(&name) {
            return true;
        }
        self.trail.push(name);
        // Not popped: what held once holds again, so each definition is visited once.
        self.holds(target)
    }

    /// serde takes a missing `Option` for `None` even where the schema requires the property.
    fn may_be_null(&self, schema: &Value, depth: u8) -> bool {
        let Some(object) = schema.as_object() else {
            return true;
        };
        let Some(depth) = depth.checked_sub(1) else {
            return true;
        };
        let typed = match object.get("type") {
            Some(Value::String(name)) => name == "null",
            Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
            _ => !KINDS.iter().any(|keyword| object.contains_key(*keyword)),
        };
        typed
            || object
                .get("anyOf")
                .is_some_and(|branches| !all(branches, |branch| !self.may_be_null(branch, depth)))
            || object.get("$ref").is_some_and(|name| {
                target(self.root, name).is_none_or(|to| self.may_be_null(to, depth))
            })
    }
}

fn all(value: &Value, holds: impl FnMut(&Value) -> bool) -> bool {
    value
        .as_array()
        .is_some_and(|elements| elements.iter().all(holds))
}

fn is_null(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| {
        object.len() == 1 && object.get("type").is_some_and(|name| name == "null")
    })
}

/// Unit variants: fixed texts and perhaps words about them.
fn is_named_constant(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| {
        (object.contains_key("const") || object.contains_key("enum"))
            && object
                .iter()
                .all(|(keyword, value)| match keyword.as_str() {
                    "const" => value.is_string(),
                    "enum" => all(value, Value::is_string),
                    "title" | "description" | "deprecated" => true,
                    "type" => value == "string",
                    _ => false,
                })
    })
}

fn bounds(object: &Map<String, Value>) -> Option<(i128, i128)> {
    natural(object.get("format")?)
}

fn natural(format: &Value) -> Option<(i128, i128)> {
    Some(match format.as_str()? {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int" | "int64" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint" | "uint64" => (0, u64::MAX.into()),
        _ => return None,
    })
}

fn integer(value: &Value) -> Option<i128> {
    value
        .as_i64()
        .map(i128::from)
        .or_else(|| value.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::{JsonSchema, schema_for};
    use serde_json::json;
    use std::collections::{BTreeMap, HashSet};

    fn enforced<T: JsonSchema>() -> bool {
        types_enforce(schema_for!(T).as_value())
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Plain {
        /// Words do not matter.
        city: String,
        days: Option<u8>,
        unit: Unit,
        near: Vec<Plain>,
        tags: BTreeMap<String, i64>,
        scale: f32,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Unit {
        /// Celsius.
        C,
        F,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Bounded {
        #[schemars(range(max = 10))]
        count: u8,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Shape {
        Circle { radius: f64 },
        Point,
    }

    #[test]
    fn plain_structs_enums_maps_and_options_need_no_validator() {
        assert!(enforced::<Plain>(), "{}", schema_for!(Plain).as_value());
        assert!(enforced::<Unit>());
        assert!(enforced::<Option<Plain>>());
        assert!(enforced::<Option<i64>>());
    }

    #[test]
    fn what_types_cannot_express_needs_the_validator() {
        assert!(!enforced::<Bounded>());
        assert!(!enforced::<Shape>());
        assert!(!enforced::<HashSet<String>>());
        assert!(!enforced::<(u8, u8)>());
        assert!(!enforced::<char>());
        assert!(!types_enforce(&json!({"type": "string", "format": "date"})));
        assert!(!types_enforce(&json!({"type": "string", "pattern": "a"})));
        assert!(!types_enforce(&json!({"type": "integer", "minimum": 0})));
        assert!(!types_enforce(&json!(false)));
        assert!(!enforced::<Value>());
    }

    #[test]
    fn a_required_property_that_serde_would_fill_in_needs_the_validator() {
        let with = |property: Value| json!({"type": "object", "properties": {"a": property}, "required": ["a"]});
        assert!(types_enforce(&with(json!({"type": "string"}))));
        assert!(!types_enforce(&with(json!({"type": ["string", "null"]}))));
        assert!(!types_enforce(&with(
            json!({"type": "string", "default": "x"})
        )));
        assert!(!types_enforce(&with(
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]})
        )));
        assert!(!types_enforce(&with(json!({}))));
    }

    #[test]
    fn properties_beside_a_map_need_the_validator() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}});
        assert!(!types_enforce(&schema));
    }

    #[test]
    fn references_may_be_circular_but_not_lost() {
        let list = json!({"$ref": "#/$defs/L", "$defs": {"L": {"type": "object", "properties": {"next": {"$ref": "#/$defs/L"}}}}});
        assert!(types_enforce(&list));
        assert!(!types_enforce(&json!({"$ref": "#/$defs/none"})));
        assert!(!types_enforce(&json!({"$ref": "https://example.com/"})));
    }
}
