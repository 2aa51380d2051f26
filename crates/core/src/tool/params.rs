//! An input schema in, its parameters as people read them out.

use serde_json::Value;

/// One parameter of a tool, as published.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ParamInfo {
    /// Its name.
    pub name: String,
    /// Its JSON type, for example `string` or `array of integer`; `any` where the schema says none.
    pub kind: String,
    /// Whether it must be sent.
    pub required: bool,
    /// What the model reads about it.
    pub description: Option<String>,
    /// What it is when it is not sent.
    pub default: Option<Value>,
}

/// Lists the parameters of an input schema, in the order they were written.
pub(super) fn of(root: &Value) -> Vec<ParamInfo> {
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
            kind: Kinds::of(root, schema),
            required: is_required(name),
            description: description(schema),
            default: schema.get("default").cloned(),
        })
        .collect()
}

/// How many subschemas are looked at to name one type; schemas may come from strangers.
const VISITED: usize = 64;

/// Names the JSON types of a schema for people.
struct Kinds<'s> {
    root: &'s Value,
    /// References being followed: a type that contains itself has no end.
    trail: Vec<&'s str>,
    left: usize,
}

impl<'s> Kinds<'s> {
    fn of(root: &'s Value, schema: &'s Value) -> String {
        let mut kinds = Self {
            root,
            trail: Vec::new(),
            left: VISITED,
        };
        kinds.name(schema)
    }

    fn name(&mut self, schema: &'s Value) -> String {
        let any = || "any".to_owned();
        let Some(left) = self.left.checked_sub(1) else {
            return any();
        };
        self.left = left;
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let target = name.strip_prefix('#').map(|path| self.root.pointer(path));
            let (Some(Some(target)), false) = (target, self.trail.contains(&name)) else {
                return any();
            };
            self.trail.push(name);
            let kind = self.name(target);
            self.trail.pop();
            return kind;
        }
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf"));
        if let Some(Value::Array(branches)) = choices {
            return alternatives(branches.iter().map(|branch| self.name(branch)));
        }
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => match schema.get("items") {
                Some(items) => format!("array of {}", self.name(items)),
                None => "array".to_owned(),
            },
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                alternatives(kinds.iter().filter_map(Value::as_str).map(str::to_owned))
            }
            _ => match (schema.get("const"), schema.get("enum")) {
                (Some(only), _) => kind_of_value(only).to_owned(),
                (None, Some(Value::Array(options))) => {
                    alternatives(options.iter().map(|it| kind_of_value(it).to_owned()))
                }
                _ => any(),
            },
        }
    }
}

/// Joins kinds, each once; `null` only says that the others may be left out.
fn alternatives(kinds: impl Iterator<Item = String>) -> String {
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

fn kind_of_value(value: &Value) -> &'static str {
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
