//! [`InputSchemaBuilder`]: builds an input schema from parameters and their defaults.

use std::fmt::Write as _;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use toolwright_schema::{Schema, close_objects, coerce, is_enforced_by_type};

use crate::call::ToolName;
use crate::error::DefineError;
use crate::tool::definition::{DefaultSpec, ParamSpec};
use crate::tool::template::Template;

/// A parameter with this name receives the project directory, if one is set.
pub const PROJECT_DIR_PARAM: &str = "project_dir";

/// A parameter with this name receives the session.
pub const SESSION_ID_PARAM: &str = "mcp_client_session_id";

/// The default of an absent argument.
pub(crate) enum ParamDefault {
    Value(Value),
    Template(Template),
}

/// The defaults of absent arguments, in the order of the parameters.
pub(crate) type ParamDefaults = Arc<[(String, ParamDefault)]>;

/// Generates the schema of a declared output, with its definitions.
pub(crate) fn output_schema(
    declare: impl FnOnce(&mut schemars::SchemaGenerator) -> Option<schemars::Schema>,
) -> Option<Schema> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = declare(&mut generator)?.to_value();
    add_definitions(&mut schema, &mut generator);
    Some(Schema::trusted(inline_root_ref(schema)))
}

/// Replaces a schema that is only a `$ref` by the definition it refers to: clients look for `type` at the root.
fn inline_root_ref(schema: Value) -> Value {
    let name = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => reference.strip_prefix("#/$defs/").map(str::to_owned),
        None => None,
    };
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let (Some(name), Some(definitions)) = (name, definitions) else {
        return schema;
    };
    let Some(Value::Object(mut root)) = definitions.get(&name).cloned() else {
        return schema;
    };
    let mut others = definitions.clone();
    let reference = Value::from(format!("#/$defs/{name}"));
    if !contains_ref(&Value::Object(others.clone()), &reference) {
        others.shift_remove(&name);
    }
    if !others.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(others));
    }
    Value::Object(root)
}

/// Returns true if a schema contains the reference anywhere.
fn contains_ref(schema: &Value, reference: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            keywords.get("$ref") == Some(reference)
                || keywords.values().any(|value| contains_ref(value, reference))
        }
        Value::Array(items) => items.iter().any(|item| contains_ref(item, reference)),
        _ => false,
    }
}

pub(crate) fn add_definitions(schema: &mut Value, generator: &mut schemars::SchemaGenerator) {
    let definitions = generator.take_definitions(true);
    if let (false, Some(schema)) = (definitions.is_empty(), schema.as_object_mut()) {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
}

/// Coerces a value to the type of one parameter of an input schema; `Err` is why it is rejected.
pub(crate) fn coerce_to_param(
    input: &Schema,
    parameter: &str,
    value: Value,
) -> Result<Value, String> {
    let schema = input.as_value().get("properties").and_then(|all| all.get(parameter));
    if schema.and_then(Value::as_object).is_some_and(|schema| is_plainly_valid(schema, &value)) {
        return Ok(value);
    }
    const SHARED_KEYWORDS: [&str; 5] = ["$schema", "$id", "$defs", "definitions", "properties"];
    let mut single = Map::new();
    if let Some(input) = input.as_value().as_object() {
        // A `$ref` of the parameter may point into these; the other keywords concern the other parameters.
        let shared = input.iter().filter(|(key, _)| SHARED_KEYWORDS.contains(&key.as_str()));
        single.extend(shared.map(|(key, value)| (key.clone(), value.clone())));
    }
    let single = Schema::trusted(Value::Object(single));
    let mut value = json!({ parameter: value });
    coerce(&mut value, &single);
    match single.violations(&value).first() {
        None => Ok(value.get_mut(parameter).map(Value::take).unwrap_or_default()),
        Some(violation) => Err(violation.message.clone()),
    }
}

/// Returns true if a scalar is certainly valid, so that no validator has to be compiled; false if only a validator can tell.
fn is_plainly_valid(schema: &Map<String, Value>, value: &Value) -> bool {
    schema.contains_key("type")
        && schema.iter().all(|(keyword, rule)| match keyword.as_str() {
            "type" => match rule.as_str() {
                Some("string") => value.is_string(),
                Some("boolean") => value.is_boolean(),
                // `5.0` would be converted.
                Some("integer") => value.is_i64() || value.is_u64(),
                Some("number") => value.is_number(),
                _ => false,
            },
            "enum" => rule.as_array().is_some_and(|values| values.contains(value)),
            "minimum" => value.as_i64().zip(rule.as_i64()).is_some_and(|(value, min)| value >= min),
            "maximum" => value.as_i64().zip(rule.as_i64()).is_some_and(|(value, max)| value <= max),
            "default" | "description" | "examples" | "title" => true,
            _ => false,
        })
}

/// Returns true if an input schema has a parameter with this name.
pub(crate) fn has_param(input: &Schema, parameter: &str) -> bool {
    let properties = input.as_value().get("properties");
    properties.is_some_and(|properties| properties.get(parameter).is_some())
}

/// Builds an input schema, parameter by parameter.
pub(crate) struct InputSchemaBuilder {
    tool: String,
    pub(crate) generator: schemars::SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<String>,
    defaults: Vec<(String, ParamDefault)>,
    definition_error: Option<DefineError>,
}

impl InputSchemaBuilder {
    pub(crate) fn boxed(tool: &ToolName) -> Box<Self> {
        Box::new(Self::new(tool.as_str()))
    }

    pub(crate) fn new(tool: &str) -> Self {
        Self {
            tool: tool.to_owned(),
            generator: SchemaSettings::draft2020_12().into_generator(),
            properties: Map::new(),
            required: Vec::new(),
            defaults: Vec::new(),
            definition_error: None,
        }
    }

    /// Adds a parameter defined by a macro, unless it is an extractor.
    pub(crate) fn add_param_spec(&mut self, param: &ParamSpec) {
        let Some(schema) = (param.schema)(&mut self.generator) else {
            return;
        };
        let default = match param.default {
            DefaultSpec::None => None,
            DefaultSpec::Text(text) => Some(Value::from(text)),
            DefaultSpec::Value(value) => match value() {
                Ok(value) => Some(value),
                Err(error) => {
                    return self
                        .record_error(param.name, format!("its default cannot be JSON: {error}"));
                }
            },
        };
        let optional = !param.required && (param.optional)();
        self.add_param(param.name, param.description, schema.to_value(), optional, default);
    }

    /// Adds a parameter, with its default if it has one.
    pub(crate) fn add_param(
        &mut self,
        name: &str,
        description: &str,
        schema: Value,
        optional: bool,
        default: Option<Value>,
    ) {
        if self.properties.contains_key(name) {
            return self.record_error(name, "is defined twice".to_owned());
        }
        let mut schema = match schema {
            Value::Object(schema) => schema,
            // `true` accepts anything, and so does an object without keywords.
            _ => Map::new(),
        };
        let mut description = description.to_owned();
        match default {
            None if optional => {}
            None => self.required.push(name.to_owned()),
            Some(default) => {
                match self.check_default(name, &schema, default) {
                    Ok(ParamDefault::Value(value)) => {
                        schema.insert("default".to_owned(), value.clone());
                        self.defaults.push((name.to_owned(), ParamDefault::Value(value)));
                    }
                    Ok(ParamDefault::Template(template)) => {
                        if !description.is_empty() {
                            description.push(' ');
                        }
                        // Writing to a `String` cannot fail.
                        let _ = write!(description, "Defaults to `{}`.", template.source());
                        self.defaults.push((name.to_owned(), ParamDefault::Template(template)));
                    }
                    Err(message) => return self.record_error(name, message),
                }
            }
        }
        if !description.is_empty() {
            schema.insert("description".to_owned(), Value::from(description));
        }
        self.properties.insert(name.to_owned(), Value::Object(schema));
    }

    /// Checks a default against the parameter's schema, or a template against the earlier parameters.
    fn check_default(
        &mut self,
        name: &str,
        schema: &Map<String, Value>,
        default: Value,
    ) -> Result<ParamDefault, String> {
        if let Some(text) = default.as_str() {
            let template = Template::parse(text);
            if template.has_placeholders() {
                let known =
                    |name: &str| self.properties.contains_key(name) || name == PROJECT_DIR_PARAM;
                let unknown =
                    template.placeholder_names().find(|name| !known(name)).map(str::to_owned);
                return match unknown {
                    None => Ok(ParamDefault::Template(template)),
                    Some(unknown) => Err(format!(
                        "its default names `{unknown}`, which is no earlier parameter; write `$${{` for a literal `${{`"
                    )),
                };
            }
        }
        let mut default = match default {
            Value::String(text) => Value::String(Template::parse(&text).expand(|_| None)),
            other => other,
        };
        let mut schema = Value::Object(schema.clone());
        let mut definitions = self.generator.clone();
        add_definitions(&mut schema, &mut definitions);
        let schema = Schema::trusted(schema);
        // A text default for a parameter of another type is converted, like the text of a template.
        coerce(&mut default, &schema);
        match schema.violations(&default).first() {
            None => Ok(ParamDefault::Value(default)),
            Some(violation) => Err(format!("default of `{name}`: {}", violation.message)),
        }
    }

    pub(crate) fn record_error(&mut self, parameter: &str, message: String) {
        let error = DefineError::parameter(&self.tool, parameter, message);
        self.definition_error.get_or_insert(error);
    }

    /// Returns one bit per parameter that must be present when typed arguments are deserialized.
    ///
    /// A default with placeholders is filled in before, on the slow path.
    pub(crate) fn required_mask(&self, params: &[ParamSpec]) -> u64 {
        let is_template = |name: &str| {
            let default = self.defaults.iter().find(|(known, _)| known == name);
            default.is_some_and(|(_, default)| matches!(default, ParamDefault::Template(_)))
        };
        let is_text = |param: &ParamSpec| matches!(param.default, DefaultSpec::Text(_));
        params.iter().enumerate().fold(0, |mask, (index, param)| {
            let required = self.required.iter().any(|name| name == param.name)
                || is_template(param.name)
                || is_text(param);
            mask | u64::from(required) << index
        })
    }

    /// Returns the schema, whether the types enforce it, the defaults, and the first error.
    pub(crate) fn finish(mut self) -> (Schema, bool, ParamDefaults, Option<DefineError>) {
        let mut input = json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        });
        add_definitions(&mut input, &mut self.generator);
        // Before `close_objects`: strict deserialization of arguments closes structs by itself.
        let enforced = is_enforced_by_type(&input);
        close_objects(&mut input);
        (Schema::trusted(input), enforced, self.defaults.into(), self.definition_error)
    }
}

/// Returns true if no parameter is an array, an object, or one of several values.
pub(crate) fn has_only_scalar_params(input: &Schema) -> bool {
    let is_scalar_type = |name: &Value| {
        ["string", "integer", "number", "boolean", "null"].iter().any(|scalar| name == scalar)
    };
    let is_scalar = |param: &Value| match (param.get("type"), param.get("enum")) {
        (Some(Value::Array(names)), None) => names.iter().all(is_scalar_type),
        (Some(name), None) => is_scalar_type(name),
        _ => false,
    };
    let params = input.as_value().get("properties").and_then(Value::as_object);
    params.is_none_or(|params| params.values().all(is_scalar))
}
