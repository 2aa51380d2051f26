//! Tools by hand: from typed parameters, a whole type, or a JSON Schema, to a closure.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::{self, DeserializeOwned};
use serde_json::{Value, json};
use toolwright_schema::{Node, ReadError, Schema, close_objects, is_enforced_by_type};

use crate::call::context::CallContext;
use crate::error::{DefineError, ToolError};
use crate::tool::definition::{Metadata, PreparedCall, StartedHandler, ToolHandler};
use crate::tool::extract::HandlerContext;
use crate::tool::input_schema::{InputSchemaBuilder, add_definitions, output_schema};
use crate::tool::param::{self, Param};
use crate::tool::policy::{
    ApprovalPolicy, ErrorPolicy, Hints, OnMalformed, Policy, StrictMode, UnknownArguments,
};
use crate::tool::{Tool, ToolParts, ToolSpec};

mod args;
mod into_output;
mod schema;

pub use args::Args;
pub use into_output::IntoToolOutput;
use schema::{JSON_TYPES, SchemaDefaults, allow_null, is_json_type, require_object};

/// A default of this text means: no default, the parameter is required.
const NO_DEFAULT_MARKER: &str = "___NOT_DEFINED___";
/// A default of this text means: optional, absent when not sent.
const NULL_DEFAULT_MARKER: &str = "___NULL___";

/// A tool under construction; `I` is what its handler receives.
///
/// Mistakes are kept until the handler is given, and told there.
pub struct ToolBuilder<I = Args> {
    spec: ToolSpec,
    policy: Policy,
    input_source: InputSource,
    output: Option<Value>,
    definition_error: Option<DefineError>,
    input: PhantomData<fn() -> I>,
}

/// Where the input schema comes from.
enum InputSource {
    Parameters(Vec<Parameter>, Box<InputSchemaBuilder>),
    WholeSchema { schema: Value, typed: bool },
}

/// A parameter that can still be given a default.
struct Parameter {
    name: String,
    description: String,
    schema: Value,
    optional: bool,
    default: Option<Value>,
}

impl ToolBuilder {
    pub(crate) fn new(name: String, description: String) -> Self {
        let input = Box::new(InputSchemaBuilder::new(&name));
        Self {
            spec: ToolSpec {
                name: name.into(),
                title: None,
                icon: None,
                description,
                input: Schema::trusted(json!({})),
                output: None,
                hints: Hints::default(),
                bundle: "built".into(),
            },
            policy: Policy::from(&Metadata::new("", "", "")),
            input_source: InputSource::Parameters(Vec::new(), input),
            output: None,
            definition_error: None,
            input: PhantomData,
        }
    }

    /// Adds a parameter of type `T`: required, unless `T` is an `Option` or a default follows.
    #[must_use]
    pub fn param<T: DeserializeOwned + JsonSchema + Send + 'static>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let schema = match &mut self.input_source {
            InputSource::Parameters(_, input) => T::schema(&mut input.generator),
            InputSource::WholeSchema { .. } => None,
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
            self.record_error(
                &name,
                format!("`{json_type}` is no JSON type; use {JSON_TYPES}"),
            );
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

    fn push_parameter(&mut self, parameter: Parameter) {
        match &mut self.input_source {
            InputSource::Parameters(params, _) => params.push(parameter),
            InputSource::WholeSchema { .. } => self.record_error(
                &parameter.name,
                "follows a whole schema: write it into the schema".to_owned(),
            ),
        }
    }

    /// A whole schema or type would make parameters given one by one vanish.
    fn reject_earlier_parameters(&mut self) {
        let first = match &self.input_source {
            InputSource::Parameters(params, _) => params.first().map(|param| param.name.clone()),
            InputSource::WholeSchema { .. } => None,
        };
        if let Some(name) = first {
            self.record_error(
                &name,
                "comes before a whole schema: write it into the schema".to_owned(),
            );
        }
    }

    /// Gives the parameter added last a default, which is published.
    ///
    /// A text may use `${earlier_parameter}` and `${project_dir}`; where one of them has no value and
    /// no fallback (`${name:-fallback}`), the parameter has to be sent. The texts
    /// `___NOT_DEFINED___` and `___NULL___` mean "required" and "optional, absent or `null`".
    #[must_use]
    pub fn default(mut self, default: impl Serialize) -> Self {
        let default = serde_json::to_value(default);
        let last = match &mut self.input_source {
            InputSource::Parameters(params, _) => params.last_mut(),
            InputSource::WholeSchema { .. } => None,
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

    /// Takes all arguments as one type; its fields are the parameters.
    #[must_use]
    pub fn input<T: DeserializeOwned + JsonSchema + Send + 'static>(mut self) -> ToolBuilder<T> {
        self.reject_earlier_parameters();
        let mut generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
        let mut schema = T::json_schema(&mut generator).to_value();
        add_definitions(&mut schema, &mut generator);
        if let Some(schema) = schema.as_object_mut() {
            // What the type says about itself is for programmers; the tool has words of its own.
            schema.shift_remove("title");
            schema.shift_remove("description");
        }
        ToolBuilder {
            spec: self.spec,
            policy: self.policy,
            input_source: InputSource::WholeSchema {
                schema,
                typed: true,
            },
            output: self.output,
            definition_error: self.definition_error,
            input: PhantomData,
        }
    }

    /// Takes a whole JSON Schema for the arguments.
    ///
    /// # Errors
    ///
    /// When it is no valid schema of an object.
    pub fn schema(mut self, schema: Value) -> Result<Self, DefineError> {
        self.reject_earlier_parameters();
        let tool = || self.spec.name.to_string();
        let checked = Schema::check(schema).map_err(|source| DefineError::Schema {
            tool: tool(),
            part: "input",
            source,
        })?;
        require_object(checked.as_value(), tool)?;
        self.input_source = InputSource::WholeSchema {
            schema: checked.as_value().clone(),
            typed: false,
        };
        Ok(self)
    }

    /// Takes the text of a whole JSON Schema for the arguments.
    ///
    /// # Errors
    ///
    /// When it is no valid schema of an object: it is never taken for an empty one.
    pub fn schema_text(self, text: &str) -> Result<Self, DefineError> {
        match Schema::parse(text) {
            Ok(schema) => self.schema(schema.as_value().clone()),
            Err(source) => Err(DefineError::Schema {
                tool: self.spec.name.to_string(),
                part: "input",
                source,
            }),
        }
    }
}

/// Writes one setter per option.
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
    /// Sets the name people read.
    title(title: impl Into<String>) => |tool| tool.spec.title = Some(title.into());
    /// Sets the address of a picture that people know the tool by: `https:` or `data:`.
    icon(address: impl Into<String>) => |tool| tool.spec.icon = Some(address.into());
    /// Names the bundle the tool belongs to.
    bundle(bundle: impl Into<Arc<str>>) => |tool| tool.spec.bundle = bundle.into();
    /// Declares whether the tool only reads.
    read_only(yes: bool) => |tool| tool.spec.hints.read_only = Some(yes);
    /// Declares whether the tool may destroy something.
    destructive(yes: bool) => |tool| tool.spec.hints.destructive = Some(yes);
    /// Declares whether calling twice is the same as calling once.
    idempotent(yes: bool) => |tool| tool.spec.hints.idempotent = Some(yes);
    /// Declares whether the tool reaches beyond this system.
    open_world(yes: bool) => |tool| tool.spec.hints.open_world = Some(yes);
    /// Sets who has to be asked before a call runs.
    approval(approval: ApprovalPolicy) => |tool| tool.policy.approval = approval;
    /// Sets whether providers may hold the model to the schema.
    strict(strict: StrictMode) => |tool| tool.policy.strict = strict;
    /// Sets what becomes of unknown arguments.
    extra(extra: UnknownArguments) => |tool| tool.policy.unknown_arguments = extra;
    /// Sets what the model reads of an error.
    errors(errors: ErrorPolicy) => |tool| tool.policy.errors = errors;
    /// Sets what becomes of arguments that are not JSON.
    on_malformed(malformed: OnMalformed) => |tool| tool.policy.on_malformed = malformed;
    /// Sets whether the author's placeholders in a text result are filled in.
    ///
    /// Text that came with the arguments stays as it was sent. Text that the tool reads elsewhere, such as
    /// a file or a page, cannot be told from the author's: a tool that returns any should not expand.
    expand_result(yes: bool) => |tool| tool.policy.expand_result = yes;
    /// Sets whether the result answers the person without another model step.
    return_direct(yes: bool) => |tool| tool.policy.return_direct = yes;
    /// Sets how long a call may take.
    timeout(timeout: Duration) => |tool| tool.policy.timeout = Some(timeout);
    /// Sets how many calls may run at once.
    concurrency(most: usize) => |tool| tool.policy.concurrency = most;
    /// Says whether other software defines and runs the tool.
    ///
    /// Such a tool may lack a description. It receives what was sent and nothing of ours: neither the project directory
    /// nor the session, nor the defaults that its schema publishes, which are its own to fill in.
    imported(yes: bool) => |tool| tool.policy.imported = yes;
    /// Declares the structured output by a whole JSON Schema.
    output_schema(schema: Value) => |tool| tool.output = Some(schema);
}

impl<I: DeserializeOwned + Send + 'static> ToolBuilder<I> {
    /// Declares the structured output by its type.
    #[must_use]
    pub fn output<T: JsonSchema>(mut self) -> Self {
        let schema = output_schema(|generator| Some(generator.subschema_for::<T>()));
        self.output = schema.map(|schema| schema.as_value().clone());
        self
    }

    /// Declares the structured output by the name of its JSON type; `string` declares none.
    #[must_use]
    pub fn output_of_type(mut self, json_type: &str) -> Self {
        if !is_json_type(json_type) {
            self.record_error(
                "output",
                format!("`{json_type}` is no JSON type; use {JSON_TYPES}"),
            );
            return self;
        }
        self.output = (json_type != "string").then(|| json!({ "type": json_type }));
        self
    }

    /// Ends the definition with a function that does not block.
    ///
    /// # Errors
    ///
    /// When anything in the definition is wrong.
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
    /// When anything in the definition is wrong.
    pub fn run_async<F, R>(self, handler: F) -> Result<Tool, DefineError>
    where
        F: Fn(I, HandlerContext) -> R + Send + Sync + 'static,
        R: Future<Output: IntoToolOutput> + Send + 'static,
    {
        self.finish(move |input, cx| {
            let encoders = cx.encoders().clone();
            let future = handler(input, HandlerContext::from_call(cx)?);
            Ok(StartedHandler::from_future(async move {
                future.await.into_tool_output(&encoders)
            }))
        })
    }

    /// Ends the definition with a function that blocks its thread.
    ///
    /// # Errors
    ///
    /// When anything in the definition is wrong.
    pub fn run_blocking<F, R>(mut self, handler: F) -> Result<Tool, DefineError>
    where
        F: Fn(I, HandlerContext) -> R + Send + Sync + 'static,
        R: IntoToolOutput,
    {
        self.policy.blocking = true;
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
        self.definition_error.get_or_insert(DefineError::Parameter {
            tool: self.spec.name.to_string(),
            parameter: parameter.to_owned(),
            message,
        });
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
        let typed = matches!(
            self.input_source,
            InputSource::WholeSchema { typed: true, .. }
        );
        let (input, enforced, defaults, defect) = match self.input_source {
            InputSource::Parameters(params, mut input) => {
                for param in params {
                    let (name, description) = (&param.name, &param.description);
                    input.add_param(
                        name,
                        description,
                        param.schema,
                        param.optional,
                        param.default,
                    );
                }
                input.finish()
            }
            InputSource::WholeSchema { mut schema, typed } => {
                require_object(&schema, || self.spec.name.to_string())?;
                let enforced = is_enforced_by_type(&schema);
                if typed {
                    close_objects(&mut schema);
                }
                let schema = Schema::trusted(schema);
                let SchemaDefaults {
                    defaults,
                    invalid: unfit,
                } = match self.policy.imported {
                    true => SchemaDefaults::default(),
                    false => SchemaDefaults::of_schema(&schema),
                };
                let defect = unfit.filter(|_| !typed).map(|(parameter, message)| {
                    let tool = self.spec.name.to_string();
                    DefineError::Parameter {
                        tool,
                        parameter,
                        message,
                    }
                });
                (schema, enforced, defaults, defect)
            }
        };
        self.spec.input = input;
        // Only a type of the user's fills in its own defaults.
        let careful = self.policy.expand_result || (!typed && !defaults.is_empty());
        let tool = Tool::assemble(ToolParts {
            spec: self.spec,
            policy: self.policy,
            handler: Box::new(ClosureHandler(Arc::new(handler), PhantomData)),
            checks: Vec::new(),
            // `Args` takes anything: only a typed input can enforce its own schema.
            types_enforce_schema: enforced && typed,
            skip_fast_path: careful,
            untyped: !typed,
            defaults,
            definition_error: self.definition_error.or(defect),
        });
        match &tool.0.definition_error {
            Some(defect) => Err(defect.clone()),
            None => Ok(tool),
        }
    }
}

/// A tool made from a closure.
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
        Ok(Box::new(PreparedClosureCall {
            handler: Arc::clone(&self.0),
            input,
        }))
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
