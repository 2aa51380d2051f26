//! [`Tool`]: a specification that the model sees and a handler that runs.

use std::fmt;
use std::sync::{Arc, OnceLock};

use data_encoding::HEXLOWER;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::Semaphore;
use toolwright_schema::{Schema, canonical_json, normalise};

use crate::call::ToolName;
use crate::error::DefineError;
use crate::tool::builder::{ToolBuilder, with_examples};
use crate::tool::custom_format::CustomToolFormat;
use crate::tool::definition::{
    ArgumentSlots as _, Definition, MacroHandler, ParamCheck, ToolHandler,
};
use crate::tool::input_schema::{
    InputSchemaBuilder, ParamDefaults, has_only_scalar_params, output_schema,
};
use crate::tool::policy::{Hints, Policy, StrictMode};

pub(crate) mod approvers;
pub(crate) mod builder;
pub(crate) mod custom_format;
pub(crate) mod definition;
pub(crate) mod encode;
pub(crate) mod extract;
pub(crate) mod input_schema;
pub(crate) mod param;
mod param_info;
pub(crate) mod policy;
pub(crate) mod prompt;
pub(crate) mod template;
pub(crate) mod tool_caller;

pub use param_info::ParamInfo;

/// A function that a model may call: defined once, cheap to clone, shared by every registry.
///
/// `#[tool]` makes one from a function; [`Tool::builder`] and [`Tool::from_schema`] make one by hand.
#[derive(Clone)]
pub struct Tool(pub(crate) Arc<ToolInner>);

pub(crate) struct ToolInner {
    pub(crate) spec: Arc<ToolSpec>,
    pub(crate) policy: Arc<Policy>,
    pub(crate) handler: Box<dyn ToolHandler>,
    /// The extractors' checks of the invoker's state and settings.
    pub(crate) checks: Vec<ParamCheck>,
    /// Whether deserializing the arguments into their types enforces the whole schema.
    pub(crate) types_enforce_schema: bool,
    /// Whether every call takes the slow path, which fills in defaults and keeps the arguments for placeholders.
    pub(crate) skip_fast_path: bool,
    /// Whether the handler receives the arguments as JSON.
    pub(crate) untyped: bool,
    /// The defaults of absent arguments, in the order of the parameters.
    pub(crate) defaults: ParamDefaults,
    pub(crate) permits: Arc<Semaphore>,
    /// The first error of the definition; a registry rejects such a tool.
    pub(crate) definition_error: Option<DefineError>,
    fingerprint: OnceLock<String>,
}

/// The part of a tool that the model sees, and the words that find it.
///
/// It serialises to the object that `toolwright tools list --json` prints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name in calls.
    pub name: ToolName,
    /// The display name, where it differs.
    pub title: Option<String>,
    /// The URL of an icon for people: `https:` or `data:`.
    pub icon: Option<String>,
    /// What the tool does and when to use it.
    pub description: String,
    /// The schema of the arguments.
    pub input: Schema,
    /// The schema of the structured result, if there is one.
    pub output: Option<Schema>,
    /// The declared effects.
    pub hints: Hints,
    /// The name of its bundle.
    pub bundle: Arc<str>,
    /// Keywords for tool search; neither serialised nor part of the fingerprint.
    pub tags: Vec<String>,
    /// Questions that the tool answers, for tool search; neither serialised nor part of the fingerprint.
    pub questions: Vec<String>,
    /// The format of the text that is the only argument, if it is a custom tool.
    pub custom_format: Option<CustomToolFormat>,
}

impl ToolSpec {
    /// Returns the name for people: the title, else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(self.name.as_str())
    }

    /// Returns the parameters in the order of the definition.
    pub fn params(&self) -> Vec<ParamInfo> {
        param_info::list_params(self.input.as_value())
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let len = 7 + usize::from(self.custom_format.is_some());
        let mut fields = serializer.serialize_struct("ToolSpec", len)?;
        fields.serialize_field("name", &self.name)?;
        fields.serialize_field("title", self.display_name())?;
        fields.serialize_field("description", &self.description)?;
        fields.serialize_field("inputSchema", &self.input)?;
        fields.serialize_field("outputSchema", &self.output)?;
        fields.serialize_field("annotations", &self.hints)?;
        fields.serialize_field("bundle", &self.bundle)?;
        if let Some(format) = &self.custom_format {
            fields.serialize_field("customFormat", format)?;
        }
        fields.end()
    }
}

/// Reads what a node of the same installation serialised; the schemas were checked there.
impl<'de> Deserialize<'de> for ToolSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            name: ToolName,
            title: String,
            description: String,
            input_schema: Value,
            output_schema: Option<Value>,
            annotations: Hints,
            bundle: Arc<str>,
            #[serde(default)]
            custom_format: Option<CustomToolFormat>,
        }
        let fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            title: Some(fields.title).filter(|title| title != fields.name.as_str()),
            name: fields.name,
            icon: None,
            description: fields.description,
            input: Schema::trusted(fields.input_schema),
            output: fields.output_schema.map(Schema::trusted),
            hints: fields.annotations,
            bundle: fields.bundle,
            tags: Vec::new(),
            questions: Vec::new(),
            custom_format: fields.custom_format,
        })
    }
}

impl Tool {
    /// Starts the definition of a tool without a macro.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::Tool;
    ///
    /// let area = Tool::builder("calculate_area", "Area of a rectangle.")
    ///     .param::<f64>("width", "In metres.")
    ///     .param::<f64>("height", "In metres.")
    ///     .output_of_type("number")
    ///     .run(|args, _| Ok::<_, toolwright::ToolError>(args.get::<f64>("width")? * args.get::<f64>("height")?))?;
    /// assert_eq!(area.params()[0].name, "width");
    /// # Ok::<(), toolwright::DefineError>(())
    /// ```
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> ToolBuilder {
        ToolBuilder::new(name.into(), description.into())
    }

    /// Starts a definition from the text of a whole JSON Schema.
    ///
    /// # Errors
    ///
    /// When the text is not a valid schema of an object; such a text never counts as an empty schema.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::Tool;
    ///
    /// let broken = Tool::from_schema("f", "Does f.", r#"{"type": "objekt"}"#);
    /// assert!(broken.is_err());
    /// ```
    pub fn from_schema(
        name: impl Into<String>,
        description: impl Into<String>,
        schema: &str,
    ) -> Result<ToolBuilder, DefineError> {
        Self::builder(name, description).schema_text(schema)
    }

    /// Starts the definition of a tool that other software defines and runs. Its schema is repaired where possible.
    ///
    /// # Errors
    ///
    /// When the schema is not valid and cannot be repaired.
    pub fn import(
        name: impl Into<String>,
        description: impl Into<String>,
        mut schema: Value,
    ) -> Result<ToolBuilder, DefineError> {
        let name = name.into();
        normalise(&mut schema).map_err(|source| DefineError::Schema {
            tool: name.clone(),
            part: "input",
            source,
        })?;
        Self::builder(name, description).imported(true).schema(schema)
    }

    /// Makes the tool of a macro's definition; errors in it are reported by [`Registry::add`](crate::Registry::add).
    #[doc(hidden)]
    pub fn from_definition<D: Definition>(receiver: Arc<D::Receiver>) -> Self {
        let params = D::Args::PARAMS;
        let mut input = InputSchemaBuilder::new(D::META.name);
        for param in params {
            input.add_param_spec(param);
        }
        let required_mask = input.required_mask(params);
        let output = output_schema(|generator| D::output(generator));
        let (mut schema, types_enforce_schema, defaults, mut definition_error) = input.finish();
        if !D::META.examples.is_empty() {
            let examples = D::META.examples.iter().map(|example| example()).collect();
            match with_examples(&schema, examples) {
                Ok(with_examples) => schema = with_examples,
                Err(message) => {
                    let error = DefineError::parameter(D::META.name, "examples", message);
                    definition_error.get_or_insert(error);
                }
            }
        }
        let reads_scalars = types_enforce_schema && has_only_scalar_params(&schema);
        Self::assemble(ToolParts {
            spec: ToolSpec {
                name: D::META.name.into(),
                title: D::META.title.map(str::to_owned),
                icon: D::META.icon.map(str::to_owned),
                description: D::META.description.to_owned(),
                input: schema,
                output,
                hints: D::META.hints,
                bundle: D::META.bundle.into(),
                tags: to_strings(D::META.tags),
                questions: to_strings(D::META.questions),
                custom_format: None,
            },
            policy: Arc::new(Policy::from(&D::META)),
            handler: Box::new(MacroHandler::<D> { receiver, required_mask, reads_scalars }),
            checks: params.iter().map(|param| param.check).collect(),
            types_enforce_schema,
            skip_fast_path: D::META.expand_result,
            untyped: false,
            defaults,
            definition_error,
        })
    }

    pub(crate) fn assemble(parts: ToolParts) -> Self {
        let name = parts.spec.name.as_str();
        let definition_error = if !ToolName::is_valid(name) {
            Some(DefineError::Name { name: name.to_owned() })
        } else if parts.spec.description.trim().is_empty() && !parts.policy.imported {
            Some(DefineError::Description { tool: name.to_owned() })
        } else {
            parts.definition_error
        };
        Self(Arc::new(ToolInner {
            spec: Arc::new(parts.spec),
            permits: Arc::new(concurrency_semaphore(parts.policy.concurrency)),
            policy: parts.policy,
            handler: parts.handler,
            checks: parts.checks,
            types_enforce_schema: parts.types_enforce_schema,
            skip_fast_path: parts.skip_fast_path,
            untyped: parts.untyped,
            defaults: parts.defaults,
            definition_error,
            fingerprint: OnceLock::new(),
        }))
    }

    /// Returns the part that the model sees.
    pub fn spec(&self) -> &ToolSpec {
        &self.0.spec
    }

    /// Returns the name in calls.
    pub fn name(&self) -> &ToolName {
        &self.0.spec.name
    }

    /// Returns the parameters in the order of the definition.
    pub fn params(&self) -> Vec<ParamInfo> {
        self.0.spec.params()
    }

    /// Returns true if a call needs approval before it runs.
    pub fn needs_approval(&self) -> bool {
        self.0.policy.approval.is_needed(&self.0.spec.hints)
    }

    /// Returns true if only other tools call the tool.
    pub fn is_internal(&self) -> bool {
        self.0.policy.internal
    }

    /// Returns true if other software defines and runs the tool.
    pub fn is_imported(&self) -> bool {
        self.0.policy.imported
    }

    /// Returns whether providers may enforce the schema while the model generates arguments.
    pub fn strict(&self) -> StrictMode {
        self.0.policy.strict
    }

    /// Returns true if the result goes to the user directly, without another model step.
    pub fn returns_direct(&self) -> bool {
        self.0.policy.return_direct
    }

    /// Returns the SHA-256 of the specification, in hexadecimal; it changes with anything that the model sees.
    pub fn fingerprint(&self) -> &str {
        self.0.fingerprint.get_or_init(|| {
            let spec = serde_json::to_value(&*self.0.spec).unwrap_or_default();
            HEXLOWER.encode(&Sha256::digest(canonical_json(&spec)))
        })
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.name()).finish()
    }
}

/// The arguments of [`Tool::assemble`].
pub(crate) struct ToolParts {
    pub(crate) spec: ToolSpec,
    pub(crate) policy: Arc<Policy>,
    pub(crate) handler: Box<dyn ToolHandler>,
    pub(crate) checks: Vec<ParamCheck>,
    pub(crate) types_enforce_schema: bool,
    pub(crate) skip_fast_path: bool,
    pub(crate) untyped: bool,
    pub(crate) defaults: ParamDefaults,
    pub(crate) definition_error: Option<DefineError>,
}

fn to_strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Makes a semaphore with one permit per concurrent call, clamped to what tokio supports.
pub(crate) fn concurrency_semaphore(limit: usize) -> Semaphore {
    Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS))
}
