//! [`ParamInfo`]: the parameters of an input schema, for listings that people read.

use serde_json::Value;

/// One parameter of a tool.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamInfo {
    /// The name.
    pub name: String,
    /// The JSON type, for example `string` or `array of integer`; `any` if the schema has none.
    pub json_type: String,
    /// Whether it must be sent.
    pub required: bool,
    /// The description.
    pub description: Option<String>,
    /// The value of an absent argument, if the schema has a default.
    pub default: Option<Value>,
    /// The only values that are allowed; empty if the schema lists none.
    pub options: Vec<Value>,
    /// The fields of the object, or of each object in the array; those of a recursive type once.
    pub fields: Vec<ParamInfo>,
}

/// Lists the parameters of an input schema, in its order.
pub(super) fn list_params(root: &Value) -> Vec<ParamInfo> {
    FieldLister { root, ref_stack: Vec::new(), visits_left: MAX_LISTED }.fields(root)
}

/// The limit of visited subschemas of all parameters.
const MAX_LISTED: usize = 1_000;

/// Lists the fields of a schema, with those of objects inside it.
struct FieldLister<'s> {
    root: &'s Value,
    /// The references that lead to the current schema, to stop at a recursive type.
    ref_stack: Vec<&'s str>,
    visits_left: usize,
}

impl<'s> FieldLister<'s> {
    /// The properties of an object, of the items of an array, or of all alternatives.
    fn fields(&mut self, schema: &'s Value) -> Vec<ParamInfo> {
        let mut fields = Vec::new();
        self.visit(schema, &mut |lister, schema| {
            let properties = schema.get("properties").and_then(Value::as_object);
            let found: Vec<ParamInfo> = properties
                .into_iter()
                .flatten()
                .map(|(name, property)| lister.param(schema, name, property))
                .collect();
            merge_alternative(&mut fields, found);
        });
        fields
    }

    fn param(&mut self, object: &Value, name: &str, schema: &'s Value) -> ParamInfo {
        let required = object.get("required").and_then(Value::as_array);
        let is_required = |names: &Vec<Value>| names.iter().any(|it| it.as_str() == Some(name));
        let description = schema.get("description").and_then(Value::as_str);
        ParamInfo {
            name: name.to_owned(),
            json_type: TypeDescriber::type_name(self.root, schema),
            required: required.is_some_and(is_required),
            description: description.map(str::to_owned),
            default: schema.get("default").cloned(),
            options: self.options(schema),
            fields: self.fields(schema),
        }
    }

    /// The only values that are allowed; `null` is not listed.
    fn options(&mut self, schema: &'s Value) -> Vec<Value> {
        let mut options: Vec<Value> = Vec::new();
        self.visit(schema, &mut |_, schema| {
            let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            let new = listed.chain(schema.get("const")).filter(|value| !value.is_null());
            options.extend(new.cloned());
        });
        options
    }

    /// Visits a schema, its alternatives and the items of its arrays, behind references.
    fn visit(&mut self, schema: &'s Value, each: &mut dyn FnMut(&mut Self, &'s Value)) {
        let Some(visits_left) = self.visits_left.checked_sub(1) else {
            return;
        };
        self.visits_left = visits_left;
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = name.strip_prefix('#').and_then(|path| self.root.pointer(path));
            if let Some(target) = target.filter(|_| !self.ref_stack.contains(&name)) {
                self.ref_stack.push(name);
                self.visit(target, each);
                self.ref_stack.pop();
            }
            return;
        }
        each(self, schema);
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        let branches = choices.and_then(Value::as_array).into_iter().flatten();
        for below in branches.chain(schema.get("items")) {
            self.visit(below, each);
        }
    }
}

/// Adds the fields of another alternative: required is what all of them require.
fn merge_alternative(fields: &mut Vec<ParamInfo>, found: Vec<ParamInfo>) {
    if found.is_empty() || fields.is_empty() {
        fields.extend(found);
        return;
    }
    for field in fields.iter_mut() {
        field.required &= found.iter().any(|it| it.name == field.name && it.required);
    }
    for new in found {
        match fields.iter_mut().find(|field| field.name == new.name) {
            None => fields.push(ParamInfo { required: false, ..new }),
            Some(field) => {
                let is_new = |option: &Value| !field.options.contains(option);
                let options: Vec<Value> = new.options.into_iter().filter(is_new).collect();
                field.options.extend(options);
                merge_alternative(&mut field.fields, new.fields);
            }
        }
    }
}

/// The limit of visited subschemas per parameter; a schema may come from an untrusted source.
const MAX_VISITS: usize = 64;

/// Describes the JSON type of a schema.
struct TypeDescriber<'s> {
    root: &'s Value,
    /// The references being followed, to stop at a recursive type.
    ref_stack: Vec<&'s str>,
    visits_left: usize,
}

impl<'s> TypeDescriber<'s> {
    fn type_name(root: &'s Value, schema: &'s Value) -> String {
        let mut describer = Self { root, ref_stack: Vec::new(), visits_left: MAX_VISITS };
        describer.describe_type(schema)
    }

    fn describe_type(&mut self, schema: &'s Value) -> String {
        let any = || "any".to_owned();
        let Some(visits_left) = self.visits_left.checked_sub(1) else {
            return any();
        };
        self.visits_left = visits_left;
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = name.strip_prefix('#').map(|path| self.root.pointer(path));
            let (Some(Some(target)), false) = (target, self.ref_stack.contains(&name)) else {
                return any();
            };
            self.ref_stack.push(name);
            let kind = self.describe_type(target);
            self.ref_stack.pop();
            return kind;
        }
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        if let Some(Value::Array(branches)) = choices {
            return join_alternatives(branches.iter().map(|branch| self.describe_type(branch)));
        }
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => match schema.get("items") {
                Some(items) => format!("array of {}", self.describe_type(items)),
                None => "array".to_owned(),
            },
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                join_alternatives(kinds.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            _ => match (schema.get("const"), schema.get("enum")) {
                (Some(only), _) => json_type_of(only).to_owned(),
                (None, Some(Value::Array(options))) => {
                    join_alternatives(options.iter().map(|value| json_type_of(value).to_owned()))
                }
                _ => any(),
            },
        }
    }
}

/// Joins distinct types with "or"; `null` beside others only means that the argument is optional.
fn join_alternatives(types: impl Iterator<Item = String>) -> String {
    let mut distinct: Vec<String> = Vec::new();
    for json_type in types {
        if !distinct.contains(&json_type) && json_type != "null" {
            distinct.push(json_type);
        }
    }
    match distinct.as_slice() {
        [] => "null".to_owned(),
        distinct => distinct.join(" or "),
    }
}

fn json_type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_nested_objects_are_listed_with_their_options_and_defaults() {
        let schema = json!({
            "properties": { "trip": { "anyOf": [{ "$ref": "#/$defs/Trip" }, { "type": "null" }] } },
            "$defs": { "Trip": {
                "type": "object",
                "required": ["stops"],
                "properties": {
                    "class": { "enum": ["first", "second", null], "default": "second" },
                    "stops": { "type": "array", "items": {
                        "type": "object", "properties": { "city": { "type": "string" }, "then": { "$ref": "#/$defs/Trip" } }
                    } }
                }
            } }
        });
        let params = list_params(&schema);
        let [trip] = &params[..] else { panic!("{params:?}") };
        let [class, stops] = &trip.fields[..] else { panic!("{trip:?}") };
        assert_eq!(class.options, [json!("first"), json!("second")]);
        assert_eq!(class.default, Some(json!("second")));
        assert!(stops.required && !trip.required);
        assert_eq!(stops.json_type, "array of object");
        let [city, then] = &stops.fields[..] else { panic!("{stops:?}") };
        assert_eq!((city.name.as_str(), city.json_type.as_str()), ("city", "string"));
        assert!(then.fields.is_empty(), "{then:?}");
    }

    #[test]
    fn alternatives_are_merged_and_require_what_all_require() {
        let schema = json!({ "properties": { "shape": { "oneOf": [
            { "type": "object", "required": ["kind", "radius"],
              "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } } },
            { "type": "object", "required": ["kind"],
              "properties": { "kind": { "const": "square" }, "side": { "type": "number" } } }
        ] } } });
        let fields = list_params(&schema).remove(0).fields;
        let shown: Vec<_> = fields.iter().map(|it| (it.name.as_str(), it.required)).collect();
        assert_eq!(shown, [("kind", true), ("radius", false), ("side", false)]);
        assert_eq!(fields[0].options, [json!("circle"), json!("square")]);
    }

    #[test]
    fn a_schema_that_branches_without_end_is_cut_off() {
        let node =
            json!({ "properties": { "a": { "$ref": "#/$defs/B" }, "b": { "$ref": "#/$defs/C" } } });
        let schema = json!({ "properties": { "x": { "$ref": "#/$defs/A" } }, "$defs": { "A": node, "B": node, "C": node } });
        assert_eq!(list_params(&schema).len(), 1);
    }
}
