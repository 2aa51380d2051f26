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
}

/// Lists the parameters of an input schema, in its order.
pub(super) fn list_params(root: &Value) -> Vec<ParamInfo> {
    let required = root.get("required").and_then(Value::as_array);
    let is_required = |name: &str| {
        required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let description = |schema: &Value| schema.get("description")?.as_str().map(str::to_owned);
    let properties = root.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| ParamInfo {
            name: name.clone(),
            json_type: TypeDescriber::type_name(root, schema),
            required: is_required(name),
            description: description(schema),
            default: schema.get("default").cloned(),
        })
        .collect()
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
