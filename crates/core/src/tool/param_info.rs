//! An input schema in, its parameters as people read them out.

use serde_json::Value;

/// One parameter of a tool, as published.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamInfo {
    /// Its name.
    pub name: String,
    /// Its JSON type, for example `string` or `array of integer`; `any` where the schema says none.
    pub json_type: String,
    /// Whether it must be sent.
    pub required: bool,
    /// What the model reads about it.
    pub description: Option<String>,
    /// What it is when it is not sent.
    pub default: Option<Value>,
}

/// Lists the parameters of an input schema, in the order they were written.
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

/// How many subschemas are looked at to name one type; schemas may come from strangers.
const MAX_VISITS: usize = 64;

/// Names the JSON types of a schema for people.
struct TypeDescriber<'s> {
    root: &'s Value,
    /// References being followed: a type that contains itself has no end.
    ref_stack: Vec<&'s str>,
    visits_left: usize,
}

impl<'s> TypeDescriber<'s> {
    fn type_name(root: &'s Value, schema: &'s Value) -> String {
        let mut kinds = Self {
            root,
            ref_stack: Vec::new(),
            visits_left: MAX_VISITS,
        };
        kinds.describe_type(schema)
    }

    fn describe_type(&mut self, schema: &'s Value) -> String {
        let any = || "any".to_owned();
        let Some(left) = self.visits_left.checked_sub(1) else {
            return any();
        };
        self.visits_left = left;
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
                    join_alternatives(options.iter().map(|it| json_type_of(it).to_owned()))
                }
                _ => any(),
            },
        }
    }
}

/// Joins kinds, each once; `null` only says that the others may be left out.
fn join_alternatives(kinds: impl Iterator<Item = String>) -> String {
    let mut named: Vec<String> = Vec::new();
    for kind in kinds {
        if !named.contains(&kind) && kind != "null" {
            named.push(kind);
        }
    }
    match named.as_slice() {
        [] => "null".to_owned(),
        several => several.join(" or "),
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
