//! Parameters in, an input schema out: one parameter after the other.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use toolwright_schema::{Schema, close_objects, coerce, is_enforced_by_type};

use crate::error::DefineError;
use crate::tool::definition::{DefaultSpec, ParamSpec};
use crate::tool::template::Template;

/// A parameter of this name is filled in when a project directory is set.
pub const PROJECT_DIR_PARAM: &str = "project_dir";

/// A parameter of this name is filled in with the session.
pub const SESSION_ID_PARAM: &str = "mcp_client_session_id";

/// What an absent argument becomes.
pub(crate) enum ParamDefault {
    Value(Value),
    Template(Template),
}

/// Generates the schema of a declared output, with its definitions.
pub(crate) fn output_schema(
    declare: impl FnOnce(&mut schemars::SchemaGenerator) -> Option<schemars::Schema>,
) -> Option<Schema> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = declare(&mut generator)?.to_value();
    add_definitions(&mut schema, &mut generator);
    Some(Schema::trusted(inline_root_ref(schema)))
}

/// Puts a definition that the whole schema only refers to in the schema's own place: readers look at
/// the root for its `type`.
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

/// Tells whether a reference stands anywhere in a schema.
fn contains_ref(schema: &Value, reference: &Value) -> bool {
    match schema {
        Value::Object(keywords) => {
            keywords.get("$ref") == Some(reference)
                || keywords
                    .values()
                    .any(|value| contains_ref(value, reference))
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

/// Converts a value to what one parameter of an input schema takes; `Err` says why it cannot be.
pub(crate) fn coerce_to_param(
    input: &Schema,
    parameter: &str,
    value: Value,
) -> Result<Value, String> {
    const WHOLE: [&str; 5] = ["$schema", "$id", "$defs", "definitions", "properties"];
    let mut alone = Map::new();
    if let Some(input) = input.as_value().as_object() {
        // What it refers to may be anywhere in these; all else speaks of the other parameters.
        let kept = input
            .iter()
            .filter(|(key, _)| WHOLE.contains(&key.as_str()));
        alone.extend(kept.map(|(key, value)| (key.clone(), value.clone())));
    }
    let alone = Schema::trusted(Value::Object(alone));
    let mut value = json!({ parameter: value });
    coerce(&mut value, &alone);
    match alone.violations(&value).first() {
        None => Ok(value
            .get_mut(parameter)
            .map(Value::take)
            .unwrap_or_default()),
        Some(violation) => Err(violation.message.clone()),
    }
}

/// Tells whether an input schema publishes a parameter of this name.
pub(crate) fn has_param(input: &Schema, parameter: &str) -> bool {
    let properties = input.as_value().get("properties");
    properties.is_some_and(|properties| properties.get(parameter).is_some())
}

/// An input schema under construction, one parameter after the other.
pub(crate) struct InputSchemaBuilder {
    tool: String,
    pub(crate) generator: schemars::SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<String>,
    defaults: Vec<(String, ParamDefault)>,
    definition_error: Option<DefineError>,
}

impl InputSchemaBuilder {
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

    /// Publishes a macro-made parameter, unless it is an extractor.
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
        self.add_param(
            param.name,
            param.description,
            schema.to_value(),
            optional,
            default,
        );
    }

    /// Adds a parameter with what it is when it is not sent.
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
            // `true` takes anything, and so does an object without keywords.
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
                        self.defaults
                            .push((name.to_owned(), ParamDefault::Value(value)));
                    }
                    Ok(ParamDefault::Template(template)) => {
                        if !description.is_empty() {
                            description.push(' ');
                        }
                        // Writing to a `String` cannot fail.
                        let _ = write!(description, "Defaults to `{}`.", template.source());
                        self.defaults
                            .push((name.to_owned(), ParamDefault::Template(template)));
                    }
                    Err(message) => return self.record_error(name, message),
                }
            }
        }
        if !description.is_empty() {
            schema.insert("description".to_owned(), Value::from(description));
        }
        self.properties
            .insert(name.to_owned(), Value::Object(schema));
    }

    /// Checks a default against the parameter's own schema, or its placeholders against what is known.
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
                let unknown = template
                    .placeholder_names()
                    .find(|name| !known(name))
                    .map(str::to_owned);
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
        let mut alone = Value::Object(schema.clone());
        let mut definitions = self.generator.clone();
        add_definitions(&mut alone, &mut definitions);
        let alone = Schema::trusted(alone);
        // A text default of another type is converted, as the text of a template is.
        coerce(&mut default, &alone);
        match alone.violations(&default).first() {
            None => Ok(ParamDefault::Value(default)),
            Some(violation) => Err(format!("default of `{name}`: {}", violation.message)),
        }
    }

    pub(crate) fn record_error(&mut self, parameter: &str, message: String) {
        self.definition_error.get_or_insert(DefineError::Parameter {
            tool: self.tool.clone(),
            parameter: parameter.to_owned(),
            message,
        });
    }

    /// One bit per parameter that must be there when typed arguments are read.
    ///
    /// A default that depends on other arguments is filled in before, on the careful path.
    pub(crate) fn required_mask(&self, params: &[ParamSpec]) -> u64 {
        let late = |name: &str| {
            let default = self.defaults.iter().find(|(known, _)| known == name);
            default.is_some_and(|(_, default)| matches!(default, ParamDefault::Template(_)))
        };
        let texts = |param: &ParamSpec| matches!(param.default, DefaultSpec::Text(_));
        params.iter().enumerate().fold(0, |mask, (index, param)| {
            let must = self.required.iter().any(|name| name == param.name)
                || late(param.name)
                || texts(param);
            mask | u64::from(must) << index
        })
    }

    /// Returns the schema, whether types enforce it, the defaults, and the first mistake.
    pub(crate) fn finish(
        mut self,
    ) -> (
        Schema,
        bool,
        Vec<(String, ParamDefault)>,
        Option<DefineError>,
    ) {
        let mut input = json!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
            "additionalProperties": false,
        });
        add_definitions(&mut input, &mut self.generator);
        // Asked first: the strict reading of arguments closes structs by itself.
        let enforced = is_enforced_by_type(&input);
        close_objects(&mut input);
        (
            Schema::trusted(input),
            enforced,
            self.defaults,
            self.definition_error,
        )
    }
}
