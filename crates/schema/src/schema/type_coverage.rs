//! Decides whether deserialising into a Rust type enforces all of its schema, so that the validator can be skipped.
//!
//! This is a whitelist: a keyword that is not known to be enforced needs the validator.

use serde_json::Value;

use crate::JsonObject;

use crate::{schema::violation::resolve_local_ref, type_set::as_integer};

/// Returns true if deserialising a strict tape into the type that this schema was generated from enforces every keyword.
///
/// Correct for derived types; it cannot see hand-written `Deserialize` code, `deserialize_with`, or an `alias` that the
/// schema does not mention.
pub fn is_enforced_by_type(schema: &Value) -> bool {
    TypeCoverage { root: schema, visited_refs: Vec::new() }.covers(schema)
}

/// Keywords that determine the type of a value.
const TYPE_KEYWORDS: [&str; 5] = ["type", "enum", "oneOf", "anyOf", "$ref"];

struct TypeCoverage<'s> {
    root: &'s Value,
    /// References that were followed; each is checked once.
    visited_refs: Vec<&'s str>,
}

impl<'s> TypeCoverage<'s> {
    fn covers(&mut self, schema: &'s Value) -> bool {
        match schema {
            // A schema without a type accepts any value, which is not read strictly, so the validator has to check it.
            Value::Object(object)
                if TYPE_KEYWORDS.iter().any(|keyword| object.contains_key(*keyword)) =>
            {
                object.iter().all(|(keyword, value)| self.covers_keyword(object, keyword, value))
            }
            _ => false,
        }
    }

    fn covers_keyword(&mut self, object: &'s JsonObject, keyword: &str, value: &'s Value) -> bool {
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
                integer_format_range(value).is_some()
                    || matches!(value.as_str(), Some("float" | "double"))
            }
            "minimum" => format_range(object)
                .is_some_and(|(min, _)| as_integer(value).is_some_and(|limit| limit <= min)),
            "maximum" => format_range(object)
                .is_some_and(|(_, max)| as_integer(value).is_some_and(|limit| limit >= max)),
            "enum" => all_elements(value, |option| option.is_string()),
            "properties" => {
                matches!(object.get("additionalProperties"), None | Some(Value::Bool(false)))
                    && value.as_object().is_some_and(|properties| {
                        properties.values().all(|property| self.covers(property))
                    })
            }
            "additionalProperties" => match value {
                Value::Bool(false) => object.contains_key("properties"),
                _ => !object.contains_key("properties") && self.covers(value),
            },
            "required" => all_elements(value, |name| {
                let property = name.as_str().and_then(|name| object.get("properties")?.get(name));
                property.is_some_and(|property| {
                    property.get("default").is_none() && !self.may_be_null(property, 8)
                })
            }),
            "items" => self.covers(value),
            "anyOf" => {
                matches!(value.as_array().map(Vec::as_slice), Some([some, null] | [null, some])
                if is_null(null) && self.covers(some))
            }
            "oneOf" => all_elements(value, is_string_constant),
            "$ref" => self.covers_reference(value),
            _ => false,
        }
    }

    fn covers_reference(&mut self, reference: &'s Value) -> bool {
        let (Some(name), Some(target)) =
            (reference.as_str(), resolve_local_ref(self.root, reference))
        else {
            return false;
        };
        if self.visited_refs.contains(&name) {
            return true;
        }
        self.visited_refs.push(name);
        // Not popped: a definition that was covered once need not be checked again.
        self.covers(target)
    }

    /// serde reads a missing `Option` as `None` even if the schema requires the property.
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
            _ => !TYPE_KEYWORDS.iter().any(|keyword| object.contains_key(*keyword)),
        };
        typed
            || object.get("anyOf").is_some_and(|branches| {
                !all_elements(branches, |branch| !self.may_be_null(branch, depth))
            })
            || object.get("$ref").is_some_and(|name| {
                resolve_local_ref(self.root, name).is_none_or(|to| self.may_be_null(to, depth))
            })
    }
}

fn all_elements(value: &Value, holds: impl FnMut(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|elements| elements.iter().all(holds))
}

fn is_null(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| {
        object.len() == 1 && object.get("type").is_some_and(|name| name == "null")
    })
}

/// A unit variant: constant strings, possibly with annotations.
fn is_string_constant(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| {
        (object.contains_key("const") || object.contains_key("enum"))
            && object.iter().all(|(keyword, value)| match keyword.as_str() {
                "const" => value.is_string(),
                "enum" => all_elements(value, Value::is_string),
                "title" | "description" | "deprecated" => true,
                "type" => value == "string",
                _ => false,
            })
    })
}

fn format_range(object: &JsonObject) -> Option<(i128, i128)> {
    integer_format_range(object.get("format")?)
}

fn integer_format_range(format: &Value) -> Option<(i128, i128)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::{JsonSchema, schema_for};
    use serde_json::json;
    use std::collections::{BTreeMap, HashSet};

    fn enforced<T: JsonSchema>() -> bool {
        is_enforced_by_type(schema_for!(T).as_value())
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
        assert!(!is_enforced_by_type(&json!({"type": "string", "format": "date"})));
        assert!(!is_enforced_by_type(&json!({"type": "string", "pattern": "a"})));
        assert!(!is_enforced_by_type(&json!({"type": "integer", "minimum": 0})));
        assert!(!is_enforced_by_type(&json!(false)));
        assert!(!enforced::<Value>());
    }

    #[test]
    fn a_required_property_that_serde_would_fill_in_needs_the_validator() {
        let with = |property: Value| json!({"type": "object", "properties": {"a": property}, "required": ["a"]});
        assert!(is_enforced_by_type(&with(json!({"type": "string"}))));
        assert!(!is_enforced_by_type(&with(json!({"type": ["string", "null"]}))));
        assert!(!is_enforced_by_type(&with(json!({"type": "string", "default": "x"}))));
        assert!(!is_enforced_by_type(&with(
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]})
        )));
        assert!(!is_enforced_by_type(&with(json!({}))));
    }

    #[test]
    fn properties_beside_a_map_need_the_validator() {
        let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}});
        assert!(!is_enforced_by_type(&schema));
    }

    #[test]
    fn references_may_be_circular_but_not_lost() {
        let list = json!({"$ref": "#/$defs/L", "$defs": {"L": {"type": "object", "properties": {"next": {"$ref": "#/$defs/L"}}}}});
        assert!(is_enforced_by_type(&list));
        assert!(!is_enforced_by_type(&json!({"$ref": "#/$defs/none"})));
        assert!(!is_enforced_by_type(&json!({"$ref": "https://example.com/"})));
    }
}
