//! [`ToolBuilder`]: defines a tool from typed parameters, a type or a JSON Schema, and a closure.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{self, DeserializeOwned};
use serde_json::{Value, json};
use toolwright_schema::{Node, ReadError, Schema, SchemaError};

use crate::call::context::CallContext;
use crate::error::{DefineError, ToolError};
use crate::tool::approvers::Approvers;
use crate::tool::custom_format::{CustomToolFormat, text_param};
use crate::tool::definition::{Metadata, PreparedCall, StartedHandler, ToolHandler};
use crate::tool::extract::HandlerContext;
use crate::tool::input_schema::{InputSchemaBuilder, ParamDefaults, output_schema};
use crate::tool::param::{self, Param};
use crate::tool::policy::{
    ApprovalPolicy, ErrorPolicy, Hints, OnMalformed, Policy, StrictMode, UnknownArguments,
};
use crate::tool::{Tool, ToolParts, ToolSpec};

mod args;
mod into_output;
mod schema;
mod typed_input;

pub use args::Args;
pub use into_output::IntoToolOutput;
pub(super) use schema::with_examples;
use schema::{JSON_TYPES, SchemaDefaults, allow_null, is_json_type, require_object};
use typed_input::TypedInput;

/// A default with this text makes the parameter required, without a default.
const NO_DEFAULT_MARKER: &str = "___NOT_DEFINED___";
/// A default with this text makes the parameter optional, without a default.
const NULL_DEFAULT_MARKER: &str = "___NULL___";

/// The builder of a tool; `I` is the type that its handler receives.
///
/// The first error is kept and returned by [`run`](Self::run), [`run_async`](Self::run_async) or
/// [`run_blocking`](Self::run_blocking).
pub struct ToolBuilder<I = Args> {
    spec: ToolSpec,
    policy: Arc<Policy>,
    input_source: InputSource,
    input_examples: Vec<Value>,
    output: Option<Value>,
    definition_error: Option<DefineError>,
    input: PhantomData<fn() -> I>,
}

/// The source of the input schema.
enum InputSource {
    /// With the builder of their schema, once there is one with a type.
    Parameters(Vec<Parameter>, Option<Box<InputSchemaBuilder>>),
    /// The schema of the type that the handler receives.
    Type(Arc<TypedInput>),
    /// A schema that the user wrote.
    Schema(Schema),
}

/// What all tools of the builder have in common until an option changes it: a program may define thousands.
struct SharedDefaults {
    policy: Arc<Policy>,
    bundle: Arc<str>,
    input: Schema,
}

static SHARED_DEFAULTS: LazyLock<SharedDefaults> = LazyLock::new(|| SharedDefaults {
    policy: Arc::new(Policy::from(&Metadata::new("", "", ""))),
    bundle: "built".into(),
    input: Schema::trusted(json!({})),
});

/// A parameter; [`ToolBuilder::default`] may still change the last one.
struct Parameter {
    name: String,
    description: String,
    schema: Value,
    optional: bool,
    default: Option<Value>,
}

impl ToolBuilder {
    pub(crate) fn new(name: String, description: String) -> Self {
        let shared = &*SHARED_DEFAULTS;
        Self {
            spec: ToolSpec {
                name: name.into(),
                title: None,
                icon: None,
                description,
                input: shared.input.clone(),
                output: None,
                hints: Hints::default(),
                bundle: Arc::clone(&shared.bundle),
                tags: Vec::new(),
                questions: Vec::new(),
                custom_format: None,
            },
            policy: Arc::clone(&shared.policy),
            input_source: InputSource::Parameters(Vec::new(), None),
            input_examples: Vec::new(),
            output: None,
            definition_error: None,
            input: PhantomData,
        }
    }

    /// Adds a parameter of type `T`: required, unless `T` is an `Option` or [`default`](Self::default) follows.
    #[must_use]
    pub fn param<T: DeserializeOwned + JsonSchema + Send + 'static>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let schema = match &mut self.input_source {
            InputSource::Parameters(_, input) => {
                let input = input.get_or_insert_with(|| InputSchemaBuilder::boxed(&self.spec.name));
                T::schema(&mut input.generator)
            }
            InputSource::Type(_) | InputSource::Schema(_) => None,
        };
        self.push_parameter(Parameter {
            name: name.into(),
            description: description.into(),
            schema: schema.map_or(Value::Bool(true), schemars::Schema::to_value),
            optional: param::is_optional::<T>(),
            default: None,
        });
        self
    }

    /// Adds a parameter by the name of its JSON type: `string`, `integer`, `number`, `boolean`,
    /// `array` or `object`.
    #[must_use]
    pub fn param_of_type(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        json_type: &str,
        required: bool,
    ) -> Self {
        let name = name.into();
        if !is_json_type(json_type) {
            self.record_error(&name, format!("`{json_type}` is no JSON type; use {JSON_TYPES}"));
        }
        self.push_parameter(Parameter {
            name,
            description: description.into(),
            schema: json!({ "type": json_type }),
            optional: !required,
            default: None,
        });
        self
    }

    /// Makes it a custom tool: its only argument is a text, in the parameter `name`, which newer models of OpenAI write without
    /// JSON around it.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{CustomToolFormat, Tool, ToolError};
    ///
    /// let run_query = Tool::builder("run_query", "Runs a query in SQL.")
    ///     .custom_input("sql", CustomToolFormat::Text)
    ///     .run(|args, _| Ok::<_, ToolError>(format!("ran {}", args.get::<String>("sql")?)))?;
    /// assert_eq!(run_query.params()[0].name, "sql");
    /// # Ok::<(), toolwright::DefineError>(())
    /// ```
    #[must_use]
    pub fn custom_input(mut self, name: impl Into<String>, format: CustomToolFormat) -> Self {
        self.push_parameter(Parameter {
            name: name.into(),
            description: format.description(),
            schema: json!({"type": "string"}),
            optional: false,
            default: None,
        });
        self.spec.custom_format = Some(format);
        self
    }

    fn push_parameter(&mut self, parameter: Parameter) {
        match &mut self.input_source {
            InputSource::Parameters(params, _) => params.push(parameter),
            InputSource::Type(_) | InputSource::Schema(_) => self.record_error(
                &parameter.name,
                "follows a whole schema: write it into the schema".to_owned(),
            ),
        }
    }

    /// Records an error if there are parameters already: a whole schema would replace them.
    fn reject_earlier_parameters(&mut self) {
        let first = match &self.input_source {
            InputSource::Parameters(params, _) => params.first().map(|param| param.name.clone()),
            InputSource::Type(_) | InputSource::Schema(_) => None,
        };
        if let Some(name) = first {
            self.record_error(
                &name,
                "comes before a whole schema: write it into the schema".to_owned(),
            );
        }
    }

    /// Sets the default of the last parameter; the model sees it.
    ///
    /// A text may use `${earlier_parameter}` and `${project_dir}`; if one of them has no value and
    /// no fallback (`${name:-fallback}`) in a call, the argument is required. The texts
    /// `___NOT_DEFINED___` and `___NULL___` mean "required" and "optional, absent or `null`".
    #[must_use]
    pub fn default(mut self, default: impl Serialize) -> Self {
        let default = serde_json::to_value(default);
        let last = match &mut self.input_source {
            InputSource::Parameters(params, _) => params.last_mut(),
            InputSource::Type(_) | InputSource::Schema(_) => None,
        };
        match (last, default) {
            (Some(last), Ok(default)) => match default.as_str() {
                Some(NO_DEFAULT_MARKER) => (last.optional, last.default) = (false, None),
                Some(NULL_DEFAULT_MARKER) => {
                    (last.optional, last.default) = (true, None);
                    allow_null(&mut last.schema);
                }
                _ => last.default = Some(default),
            },
            (Some(last), Err(error)) => {
                let name = last.name.clone();
                self.record_error(&name, format!("its default cannot be JSON: {error}"));
            }
            (None, _) => self.record_error("default", "follows no parameter".to_owned()),
        }
        self
    }

    /// Deserializes all arguments into one type, whose fields are the parameters.
    ///
    /// The schema of a type is generated once per process, and all tools with this input share it.
    #[must_use]
    pub fn input<T: DeserializeOwned + JsonSchema + Send + 'static>(mut self) -> ToolBuilder<T> {
        self.reject_earlier_parameters();
        ToolBuilder {
            spec: self.spec,
            policy: self.policy,
            input_source: InputSource::Type(TypedInput::of::<T>()),
            input_examples: self.input_examples,
            output: self.output,
            definition_error: self.definition_error,
            input: PhantomData,
        }
    }

    /// Sets the JSON Schema of the arguments.
    ///
    /// # Errors
    ///
    /// When it is not a valid schema of an object.
    pub fn schema(self, schema: Value) -> Result<Self, DefineError> {
        self.checked_schema(Schema::check(schema))
    }

    /// Sets the JSON Schema of the arguments, as text.
    ///
    /// # Errors
    ///
    /// When it is not a valid schema of an object; such a text never counts as an empty schema.
    pub fn schema_text(self, text: &str) -> Result<Self, DefineError> {
        self.checked_schema(Schema::parse(text))
    }

    fn checked_schema(mut self, schema: Result<Schema, SchemaError>) -> Result<Self, DefineError> {
        self.reject_earlier_parameters();
        let tool = || self.spec.name.to_string();
        let schema =
            schema.map_err(|source| DefineError::Schema { tool: tool(), part: "input", source })?;
        require_object(schema.as_value(), tool)?;
        self.input_source = InputSource::Schema(schema);
        Ok(self)
    }
}

impl<I> ToolBuilder<I> {
    fn policy_mut(&mut self) -> &mut Policy {
        Arc::make_mut(&mut self.policy)
    }
}

/// Defines one setter per option.
macro_rules! builder_setters {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty) => |$builder:ident| $set:expr;)*) => {
        impl<I> ToolBuilder<I> {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(self, $value: $type) -> Self {
                let mut $builder = self;
                $set;
                $builder
            })*
        }
    };
}

builder_setters! {
    /// Sets the display name.
    title(title: impl Into<String>) => |tool| tool.spec.title = Some(title.into());
    /// Sets the URL of an icon for people: `https:` or `data:`.
    icon(url: impl Into<String>) => |tool| tool.spec.icon = Some(url.into());
    /// Sets the name of the bundle.
    bundle(bundle: impl Into<Arc<str>>) => |tool| tool.spec.bundle = bundle.into();
    /// Adds a keyword that tool search finds the tool by; no model sees it.
    tag(tag: impl Into<String>) => |tool| tool.spec.tags.push(tag.into());
    /// Adds a question that the tool answers, which tool search finds it by; no model sees it.
    question(question: impl Into<String>) => |tool| tool.spec.questions.push(question.into());
    /// Declares whether the tool only reads.
    read_only(yes: bool) => |tool| tool.spec.hints.read_only = Some(yes);
    /// Declares whether the tool may destroy something.
    destructive(yes: bool) => |tool| tool.spec.hints.destructive = Some(yes);
    /// Declares whether a second call with the same arguments has no further effect.
    idempotent(yes: bool) => |tool| tool.spec.hints.idempotent = Some(yes);
    /// Declares whether the tool reaches external systems.
    open_world(yes: bool) => |tool| tool.spec.hints.open_world = Some(yes);
    /// Sets when a call needs approval.
    approval(approval: ApprovalPolicy) => |tool| tool.policy_mut().approval = approval;
    /// Sets who may decide about a call that needs approval; by default, the owner.
    approvers(approvers: Approvers) => |tool| tool.policy_mut().approvers = approvers;
    /// Sets whether providers may enforce the schema while the model generates arguments.
    strict(strict: StrictMode) => |tool| tool.policy_mut().strict = strict;
    /// Sets the handling of unknown arguments.
    unknown_arguments(handling: UnknownArguments) => |tool| tool.policy_mut().unknown_arguments = handling;
    /// Sets the handling of errors.
    errors(errors: ErrorPolicy) => |tool| tool.policy_mut().errors = errors;
    /// Sets the handling of arguments that are not JSON.
    on_malformed(handling: OnMalformed) => |tool| tool.policy_mut().on_malformed = handling;
    /// Sets whether placeholders in a text result are filled in.
    ///
    /// Placeholders in copies of the arguments stay as they are. Text that the tool reads from elsewhere, such
    /// as a file or a page, cannot be distinguished from its own: a tool that returns any should not expand.
    expand_result(yes: bool) => |tool| tool.policy_mut().expand_result = yes;
    /// Sets whether the result goes to the user directly, without another model step.
    return_direct(yes: bool) => |tool| tool.policy_mut().return_direct = yes;
    /// Declares whether an interrupted call is run again from its beginning, with the recorded results of its child calls.
    ///
    /// All effects of such a tool are in its [child calls](crate::ToolCaller), and it makes the same ones for the same results.
    replayable(yes: bool) => |tool| tool.policy_mut().replayable = yes;
    /// Sets whether only other tools call it, with their [`ToolCaller`](crate::ToolCaller): see [`Policy::internal`].
    internal(yes: bool) => |tool| tool.policy_mut().internal = yes;
    /// Sets whether requests to a model contain the tool even if the model searches for the others.
    pinned(yes: bool) => |tool| tool.policy_mut().pinned = yes;
    /// Sets who may call the tool in Anthropic's API, as `["code_execution_20260120"]`: see [`Policy::allowed_callers`].
    allowed_callers(callers: impl IntoIterator<Item = impl Into<String>>) =>
        |tool| tool.policy_mut().allowed_callers = callers.into_iter().map(Into::into).collect();
    /// Sets the time limit of a call.
    timeout(timeout: Duration) => |tool| tool.policy_mut().timeout = Some(timeout);
    /// Sets the limit of concurrent calls.
    concurrency(limit: usize) => |tool| tool.policy_mut().concurrency = limit;
    /// Sets whether other software defines and runs the tool.
    ///
    /// Such a tool may lack a description. It receives only the arguments that were sent: neither the project
    /// directory nor the session, nor the defaults of its schema, which it fills in itself.
    imported(yes: bool) => |tool| tool.policy_mut().imported = yes;
    /// Sets the JSON Schema of the structured output.
    output_schema(schema: Value) => |tool| tool.output = Some(schema);
}

impl<I: DeserializeOwned + Send + 'static> ToolBuilder<I> {
    /// Adds an example of the arguments, to the `examples` of the input schema; it must satisfy the schema.
    ///
    /// Models of Anthropic get the first five as `input_examples`: they show what the schema cannot say, such as a date format
    /// or which optional parameters go together.
    #[must_use]
    pub fn input_example(mut self, example: impl Serialize) -> Self {
        match serde_json::to_value(example) {
            Ok(example) => self.input_examples.push(example),
            Err(error) => self.record_error("input_example", format!("cannot be JSON: {error}")),
        }
        self
    }

    /// Sets the type of the structured output.
    #[must_use]
    pub fn output<T: JsonSchema>(mut self) -> Self {
        let schema = output_schema(|generator| Some(generator.subschema_for::<T>()));
        self.output = schema.map(|schema| schema.as_value().clone());
        self
    }

    /// Sets the JSON type of the structured output; `string` means none.
    #[must_use]
    pub fn output_of_type(mut self, json_type: &str) -> Self {
        if !is_json_type(json_type) {
            self.record_error("output", format!("`{json_type}` is no JSON type; use {JSON_TYPES}"));
            return self;
        }
        self.output = (json_type != "string").then(|| json!({ "type": json_type }));
        self
    }

    /// Ends the definition with a function that does not block.
    ///
    /// # Errors
    ///
    /// When the definition is not valid.
    pub fn run<F, R>(self, handler: F) -> Result<Tool, DefineError>
    where
        F: Fn(I, HandlerContext) -> R + Send + Sync + 'static,
        R: IntoToolOutput,
    {
        self.finish(move |input, cx| {
            Ok(StartedHandler::Done(
                handler(input, HandlerContext::from_call(cx)?).into_tool_output(cx.encoders()),
            ))
        })
    }

    /// Ends the definition with an async function.
    ///
    /// # Errors
    ///
    /// When the definition is not valid.
    pub fn run_async<F, R>(self, handler: F) -> Result<Tool, DefineError>
    where
        F: Fn(I, HandlerContext) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolOutput> + Send + 'static,
    {
        self.finish(move |input, cx| {
            let encoders = cx.encoders().clone();
            let future = handler(input, HandlerContext::from_call(cx)?);
            Ok(StartedHandler::from_future(async move { future.await.into_tool_output(&encoders) }))
        })
    }

    /// Ends the definition with a function that blocks its thread.
    ///
    /// # Errors
    ///
    /// When the definition is not valid.
    pub fn run_blocking<F, R>(mut self, handler: F) -> Result<Tool, DefineError>
    where
        F: Fn(I, HandlerContext) -> R + Send + Sync + 'static,
        R: IntoToolOutput,
    {
        self.policy_mut().blocking = true;
        let handler = Arc::new(handler);
        self.finish(move |input, cx| {
            let (handler, encoders) = (Arc::clone(&handler), cx.encoders().clone());
            let context = HandlerContext::from_call(cx)?;
            Ok(StartedHandler::spawn_blocking(cx, move || {
                handler(input, context).into_tool_output(&encoders)
            }))
        })
    }

    fn record_error(&mut self, parameter: &str, message: String) {
        let error = DefineError::parameter(&self.spec.name, parameter, message);
        self.definition_error.get_or_insert(error);
    }

    fn finish<H>(mut self, handler: H) -> Result<Tool, DefineError>
    where
        H: Fn(I, &CallContext<'_>) -> Result<StartedHandler, ToolError> + Send + Sync + 'static,
    {
        if let Some(output) = self.output.take() {
            let checked = Schema::check(output).map_err(|source| DefineError::Schema {
                tool: self.spec.name.to_string(),
                part: "output",
                source,
            })?;
            self.spec.output = Some(checked);
        }
        let typed = matches!(self.input_source, InputSource::Type(_));
        let tool = || self.spec.name.to_string();
        let imported = self.policy.imported;
        let (input, types_enforce_schema, defaults, definition_error) = match self.input_source {
            InputSource::Parameters(params, input) => {
                let mut input = input.unwrap_or_else(|| InputSchemaBuilder::boxed(&self.spec.name));
                for param in params {
                    let (name, description) = (&param.name, &param.description);
                    input.add_param(name, description, param.schema, param.optional, param.default);
                }
                // `Args` accepts any JSON: only a typed input enforces its schema.
                let (schema, _, defaults, definition_error) = input.finish();
                (schema, false, defaults, definition_error)
            }
            InputSource::Type(input) => {
                require_object(input.schema.as_value(), tool)?;
                let defaults = match imported {
                    true => ParamDefaults::default(),
                    false => Arc::clone(&input.defaults),
                };
                (input.schema.clone(), input.types_enforce_schema, defaults, None)
            }
            InputSource::Schema(schema) => {
                let SchemaDefaults { defaults, invalid } = match imported {
                    true => SchemaDefaults::default(),
                    false => SchemaDefaults::of_schema(&schema),
                };
                let definition_error = invalid.map(|(parameter, message)| {
                    DefineError::parameter(&self.spec.name, &parameter, message)
                });
                (schema, false, defaults.into(), definition_error)
            }
        };
        self.spec.input = match std::mem::take(&mut self.input_examples) {
            examples if examples.is_empty() => input,
            examples => {
                let invalid =
                    |message| DefineError::parameter(&self.spec.name, "input_example", message);
                with_examples(&input, examples).map_err(invalid)?
            }
        };
        if self.spec.custom_format.is_some() && text_param(&self.spec.input).is_none() {
            let message = "is the only parameter of its tool: leave the others out".to_owned();
            return Err(DefineError::parameter(&self.spec.name, "custom_input", message));
        }
        // A type of the user's fills in its own defaults when it is deserialized.
        let skip_fast_path = self.policy.expand_result || (!typed && !defaults.is_empty());
        let tool = Tool::assemble(ToolParts {
            spec: self.spec,
            policy: self.policy,
            handler: Box::new(ClosureHandler(Arc::new(handler), PhantomData)),
            checks: Vec::new(),
            types_enforce_schema,
            skip_fast_path,
            untyped: !typed,
            defaults,
            definition_error: self.definition_error.or(definition_error),
        });
        match &tool.0.definition_error {
            Some(error) => Err(error.clone()),
            None => Ok(tool),
        }
    }
}

/// The handler of a tool defined by the builder.
struct ClosureHandler<I, H>(Arc<H>, PhantomData<fn() -> I>);

struct PreparedClosureCall<I, H> {
    handler: Arc<H>,
    input: I,
}

impl<I, H> ToolHandler for ClosureHandler<I, H>
where
    I: DeserializeOwned + Send + 'static,
    H: Fn(I, &CallContext<'_>) -> Result<StartedHandler, ToolError> + Send + Sync + 'static,
{
    fn prepare(
        &self,
        sent: Node<'_>,
        bound: Option<Node<'_>>,
    ) -> Result<Box<dyn PreparedCall>, ReadError> {
        if bound.is_some() {
            return Err(de::Error::custom("read from one object only"));
        }
        let input = I::deserialize(sent)?;
        Ok(Box::new(PreparedClosureCall { handler: Arc::clone(&self.0), input }))
    }
}

impl<I, H> PreparedCall for PreparedClosureCall<I, H>
where
    I: Send,
    H: Fn(I, &CallContext<'_>) -> Result<StartedHandler, ToolError> + Send + Sync,
{
    fn run(self: Box<Self>, cx: &CallContext<'_>) -> Result<StartedHandler, ToolError> {
        (self.handler)(self.input, cx)
    }
}
