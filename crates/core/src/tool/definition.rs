//! The convention between `#[tool]`, `#[prompt]` and this crate: arguments are read into slots, slots become a call.
//!
//! Generated code implements [`Definition`] and [`ArgumentSlots`]; the work is done here.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::task::JoinHandle;
use toolwright_schema::{InputLimits, Node, ReadError, read_scalar_members};

use crate::call::context::{CallContext, InvokerContext};
use crate::error::ToolError;
use crate::tool::encode::ToolOutput;
use crate::tool::param::Param;
use crate::tool::policy::{
    ApprovalPolicy, ErrorPolicy, Hints, OnMalformed, StrictMode, UnknownArguments,
};
use crate::tool::prompt::Role;

/// Implemented by `#[tool]` and `#[prompt]` on an uninhabited type with the function's name.
pub trait Definition: 'static {
    /// The type of `self`; `()` for a free function.
    type Receiver: Send + Sync + 'static;
    /// One slot per parameter.
    type Args: ArgumentSlots;
    /// The keys of the attribute.
    const META: Metadata;

    /// Returns the output schema, if the return type declares one.
    fn output(generator: &mut SchemaGenerator) -> Option<Schema>;

    /// Fills in absent arguments and extractors, and starts the function.
    ///
    /// # Errors
    ///
    /// When an extractor fails.
    fn call(
        receiver: &Arc<Self::Receiver>,
        args: Self::Args,
        cx: &CallContext<'_>,
    ) -> Result<StartedHandler, ToolError>;
}

/// The keys of a `#[tool]` or `#[prompt]` attribute, as a constant.
#[derive(Clone, Copy, Debug)]
pub struct Metadata {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) title: Option<&'static str>,
    pub(crate) icon: Option<&'static str>,
    pub(crate) bundle: &'static str,
    pub(crate) tags: &'static [&'static str],
    pub(crate) questions: &'static [&'static str],
    pub(crate) examples: &'static [fn() -> Value],
    pub(crate) hints: Hints,
    pub(crate) approval: ApprovalPolicy,
    pub(crate) approvers: Option<&'static str>,
    pub(crate) strict: StrictMode,
    pub(crate) extra: UnknownArguments,
    pub(crate) errors: ErrorPolicy,
    pub(crate) on_malformed: OnMalformed,
    pub(crate) expand_result: bool,
    pub(crate) return_direct: bool,
    pub(crate) replayable: bool,
    pub(crate) pinned: bool,
    pub(crate) blocking: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) concurrency: Option<usize>,
    /// The role of a prompt's message; `None` for a tool.
    pub(crate) role: Option<Role>,
}

/// Defines one `const` setter per key, so that generated code names only the keys that the user wrote.
macro_rules! metadata_setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty => |$meta:ident, $value:ident| $set:expr;)*) => {
        impl Metadata {
            $($(#[$doc])*
            pub const fn $name(self, $value: $type) -> Self {
                let mut $meta = self;
                $set;
                $meta
            })*
        }
    };
}

impl Metadata {
    /// Makes the metadata of a definition without any key.
    pub const fn new(bundle: &'static str, name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            description,
            title: None,
            icon: None,
            bundle,
            tags: &[],
            questions: &[],
            examples: &[],
            hints: Hints::NONE,
            approval: ApprovalPolicy::Auto,
            approvers: None,
            strict: StrictMode::Auto,
            extra: UnknownArguments::Refuse,
            errors: ErrorPolicy::Message,
            on_malformed: OnMalformed::Retry,
            expand_result: false,
            return_direct: false,
            replayable: false,
            pinned: false,
            blocking: false,
            timeout: None,
            concurrency: None,
            role: None,
        }
    }
}

metadata_setters! {
    /// Sets the display name.
    title: &'static str => |meta, value| meta.title = Some(value);
    /// Sets the URL of an icon.
    icon: &'static str => |meta, value| meta.icon = Some(value);
    /// Sets keywords for tool search.
    tags: &'static [&'static str] => |meta, value| meta.tags = value;
    /// Sets questions that the tool answers, for tool search.
    questions: &'static [&'static str] => |meta, value| meta.questions = value;
    /// Sets examples of the arguments.
    examples: &'static [fn() -> Value] => |meta, value| meta.examples = value;
    /// Declares whether the tool only reads.
    read_only: bool => |meta, value| meta.hints.read_only = Some(value);
    /// Declares whether the tool may destroy something.
    destructive: bool => |meta, value| meta.hints.destructive = Some(value);
    /// Declares whether a second call with the same arguments has no further effect.
    idempotent: bool => |meta, value| meta.hints.idempotent = Some(value);
    /// Declares whether the tool reaches external systems.
    open_world: bool => |meta, value| meta.hints.open_world = Some(value);
    /// Sets when a call needs approval.
    approval: ApprovalPolicy => |meta, value| meta.approval = value;
    /// Sets who may decide about a call that needs approval.
    approvers: &'static str => |meta, value| meta.approvers = Some(value);
    /// Sets whether providers may enforce the schema while the model generates arguments.
    strict: StrictMode => |meta, value| meta.strict = value;
    /// Sets the handling of unknown arguments.
    extra: UnknownArguments => |meta, value| meta.extra = value;
    /// Sets the handling of errors.
    errors: ErrorPolicy => |meta, value| meta.errors = value;
    /// Sets the handling of arguments that are not JSON.
    on_malformed: OnMalformed => |meta, value| meta.on_malformed = value;
    /// Sets whether placeholders in a text result are filled in.
    expand_result: bool => |meta, value| meta.expand_result = value;
    /// Sets whether the result goes to the user directly, without another model step.
    return_direct: bool => |meta, value| meta.return_direct = value;
    /// Declares whether an interrupted call is run again from its beginning, with the recorded results of its child calls.
    replayable: bool => |meta, value| meta.replayable = value;
    /// Sets whether requests to a model contain the tool even if the model searches for the others.
    pinned: bool => |meta, value| meta.pinned = value;
    /// Sets whether the function blocks its thread.
    blocking: bool => |meta, value| meta.blocking = value;
    /// Sets the timeout, in milliseconds.
    timeout: u64 => |meta, value| meta.timeout = Some(Duration::from_millis(value));
    /// Sets the limit of concurrent calls.
    concurrency: usize => |meta, value| meta.concurrency = Some(value);
    /// Makes it a prompt: a text template whose placeholders are filled in, with the role of its message.
    role: Role => |meta, value| {
        meta.role = Some(value);
        meta.expand_result = true;
        meta.hints.read_only = Some(true);
    };
}

/// One parameter of a definition.
pub struct ParamSpec {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) default: DefaultSpec,
    pub(crate) required: bool,
    pub(crate) published: bool,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Option<Schema>,
    pub(crate) optional: fn() -> bool,
    pub(crate) check: ParamCheck,
}

/// Checks that an invoker has the state and settings that a parameter needs.
pub(crate) type ParamCheck = fn(&InvokerContext) -> Result<(), ToolError>;

/// The functions of a parameter's type.
pub struct ParamVtable {
    pub(crate) published: bool,
    pub(crate) schema: fn(&mut SchemaGenerator) -> Option<Schema>,
    pub(crate) optional: fn() -> bool,
    pub(crate) check: ParamCheck,
}

/// The default of a parameter.
#[derive(Clone, Copy)]
pub enum DefaultSpec {
    /// There is no default.
    None,
    /// The value as JSON.
    Value(fn() -> Result<Value, serde_json::Error>),
    /// A text that is converted to the parameter's type, after its placeholders are filled in.
    Text(&'static str),
}

impl ParamSpec {
    /// Makes the specification of a parameter.
    pub const fn new(
        vtable: ParamVtable,
        name: &'static str,
        description: &'static str,
        default: DefaultSpec,
        required: bool,
    ) -> Self {
        Self {
            name,
            description,
            default,
            required,
            published: vtable.published,
            schema: vtable.schema,
            optional: vtable.optional,
            check: vtable.check,
        }
    }
}

/// A type that a default may have: the model reads defaults as JSON.
#[diagnostic::on_unimplemented(
    message = "a default of type `{Self}` cannot be published",
    label = "cannot be shown to the model as JSON",
    note = "write `#[toolwright::tool_type]` on `{Self}`, or make the parameter an `Option` without a default"
)]
pub trait JsonDefault {
    /// Converts the default to JSON.
    ///
    /// # Errors
    ///
    /// When the value cannot be JSON.
    fn into_json(self) -> Result<Value, serde_json::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> JsonDefault for T {
    fn into_json(self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
}

/// A type that a field of `#[tool_type]` and `#[tool_type(input)]` may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a `#[tool_type]`",
    label = "has a type without `#[tool_type]`",
    note = "write `#[toolwright::tool_type]` on `{Self}`, or on the types of your own inside it",
    note = "or leave the field out: write `#[serde(skip)]` above it"
)]
pub trait InputField {}

#[diagnostic::do_not_recommend]
impl<T: Deserialize<'static> + JsonSchema> InputField for T {}

/// Rejects other types at compile time.
pub fn check_input_field<T: InputField>() {}

/// A type that a field of `#[tool_type(output)]` may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a `#[tool_type]`",
    label = "has a type without `#[tool_type]`",
    note = "write `#[toolwright::tool_type]` on `{Self}`, or on the types of your own inside it",
    note = "or leave the field out: write `#[serde(skip)]` above it"
)]
pub trait OutputField {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + JsonSchema> OutputField for T {}

/// Rejects other types at compile time.
pub fn check_output_field<T: OutputField>() {}

impl fmt::Debug for ParamSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParamSpec").field("name", &self.name).finish_non_exhaustive()
    }
}

/// One optional value per parameter, filled from JSON one key at a time.
pub trait ArgumentSlots: Default + Send + 'static {
    /// The parameters, in the order of the definition.
    const PARAMS: &'static [ParamSpec];

    /// Reads the value of the parameter at `index`.
    ///
    /// # Errors
    ///
    /// When the value is not of the parameter's type.
    fn read<'de, A: MapAccess<'de>>(&mut self, index: usize, map: &mut A) -> Result<(), A::Error>;
}

/// Reads one slot; rejects an argument that is sent twice.
///
/// # Errors
///
/// When the value is not of type `T`.
pub(crate) fn read_slot<'de, T: Param, A: MapAccess<'de>>(
    slot: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    struct Seed<T>(PhantomData<T>);
    impl<'de, T: Param> DeserializeSeed<'de> for Seed<T> {
        type Value = T;
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
            T::from_json(deserializer)
        }
    }
    if slot.is_some() {
        return Err(de::Error::custom("sent twice"));
    }
    *slot = Some(map.next_value_seed(Seed(PhantomData))?);
    Ok(())
}

/// Returns the argument, else its default, else the value of the extractor.
///
/// # Errors
///
/// When the argument is missing or the extractor fails.
pub(crate) fn take_slot<T: Param>(
    slot: Option<T>,
    name: &str,
    default: Option<fn() -> T>,
    cx: &CallContext<'_>,
) -> Result<T, ToolError> {
    match (slot, default) {
        (Some(value), _) => Ok(value),
        (None, Some(default)) => Ok(default()),
        (None, None) if T::PUBLISHED => T::from_call(cx)
            .map_err(|error| ToolError::retry(format!("/{name}: {}", error.message()))),
        (None, None) => T::from_call(cx),
    }
}

/// A function that was started.
pub enum StartedHandler {
    /// It has returned.
    Done(Result<ToolOutput, ToolError>),
    /// It is a future, not polled yet.
    Pending(BoxFuture<'static, Result<ToolOutput, ToolError>>),
}

impl StartedHandler {
    /// Boxes the future of an async function.
    ///
    /// The future must be `Send`, because the runtime may move it between threads.
    pub fn from_future<F>(a_tool_future_must_be_send: F) -> Self
    where
        F: Future<Output = Result<ToolOutput, ToolError>> + Send + 'static,
    {
        Self::Pending(Box::pin(a_tool_future_must_be_send))
    }

    /// Runs a blocking function on a thread of tokio's blocking pool.
    ///
    /// The thread holds the call's concurrency permit until it ends, even when the call was cancelled.
    pub fn spawn_blocking<F>(cx: &CallContext<'_>, function: F) -> Self
    where
        F: FnOnce() -> Result<ToolOutput, ToolError> + Send + 'static,
    {
        let permit = cx.run.blocking_permit.take();
        let mut thread = AbortOnDrop(tokio::task::spawn_blocking(move || {
            let _permit = permit;
            function()
        }));
        Self::from_future(async move {
            match (&mut thread.0).await {
                Ok(returned) => returned,
                Err(error) => match error.try_into_panic() {
                    Ok(panic) => std::panic::resume_unwind(panic),
                    Err(error) => Err(ToolError::from(error)),
                },
            }
        })
    }
}

/// A blocking function that never starts if the call is dropped while it waits for a thread.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A call whose arguments are read and validated.
pub(crate) trait PreparedCall: Send {
    fn run(self: Box<Self>, cx: &CallContext<'_>) -> Result<StartedHandler, ToolError>;
}

/// Deserializes the arguments of one tool and starts its function.
pub(crate) trait ToolHandler: Send + Sync {
    /// Reads the arguments that were sent and those that the view has bound.
    ///
    /// A handler that reads only one object rejects `bound`; the slow path merges the two before.
    fn prepare(
        &self,
        sent: Node<'_>,
        bound: Option<Node<'_>>,
    ) -> Result<Box<dyn PreparedCall>, ReadError>;

    /// Reads as [`prepare`](Self::prepare) does, and starts the function at once.
    fn start(
        &self,
        sent: Node<'_>,
        bound: Option<Node<'_>>,
        cx: &CallContext<'_>,
    ) -> Result<Result<StartedHandler, ToolError>, ReadError> {
        Ok(self.prepare(sent, bound)?.run(cx))
    }

    /// Reads arguments that are scalars straight from their text, and starts the function at once; `None` if they have to be
    /// parsed into a tape.
    fn start_from_text(
        &self,
        _sent: &str,
        _limits: &InputLimits,
        _cx: &CallContext<'_>,
    ) -> Option<Result<StartedHandler, ToolError>> {
        None
    }
}

/// The handler of a tool defined by a macro.
pub(crate) struct MacroHandler<D: Definition> {
    pub(crate) receiver: Arc<D::Receiver>,
    pub(crate) required_mask: u64,
    /// Whether all parameters are scalars, and their types enforce the schema.
    pub(crate) reads_scalars: bool,
}

impl<D: Definition> MacroHandler<D> {
    fn fill_slots(&self, sent: Node<'_>, bound: Option<Node<'_>>) -> Result<D::Args, ReadError> {
        let mut visitor = SlotVisitor::<D::Args>::default();
        // As a struct, because a strict map does not accept field names as keys.
        sent.deserialize_struct("", &[], &mut visitor)?;
        if let Some(bound) = bound {
            bound.deserialize_struct("", &[], &mut visitor)?;
        }
        let missing = self.missing_mask(&visitor);
        if missing == 0 {
            return Ok(visitor.slots);
        }
        let first = D::Args::PARAMS.get(missing.trailing_zeros() as usize);
        let first = first.map_or("", |param| param.name);
        Err(de::Error::missing_field(first))
    }

    fn missing_mask(&self, visitor: &SlotVisitor<D::Args>) -> u64 {
        self.required_mask & !visitor.seen
    }
}

impl<D: Definition> ToolHandler for MacroHandler<D> {
    fn prepare(
        &self,
        sent: Node<'_>,
        bound: Option<Node<'_>>,
    ) -> Result<Box<dyn PreparedCall>, ReadError> {
        Ok(Box::new(PreparedMacroCall::<D> {
            receiver: self.receiver.clone(),
            args: self.fill_slots(sent, bound)?,
        }))
    }

    fn start(
        &self,
        sent: Node<'_>,
        bound: Option<Node<'_>>,
        cx: &CallContext<'_>,
    ) -> Result<Result<StartedHandler, ToolError>, ReadError> {
        Ok(D::call(&self.receiver, self.fill_slots(sent, bound)?, cx))
    }

    fn start_from_text(
        &self,
        sent: &str,
        limits: &InputLimits,
        cx: &CallContext<'_>,
    ) -> Option<Result<StartedHandler, ToolError>> {
        if !self.reads_scalars {
            return None;
        }
        let mut visitor = SlotVisitor::<D::Args>::default();
        read_scalar_members(sent, limits, &mut visitor)?;
        (self.missing_mask(&visitor) == 0).then(|| D::call(&self.receiver, visitor.slots, cx))
    }
}

struct PreparedMacroCall<D: Definition> {
    receiver: Arc<D::Receiver>,
    args: D::Args,
}

impl<D: Definition> PreparedCall for PreparedMacroCall<D> {
    fn run(self: Box<Self>, cx: &CallContext<'_>) -> Result<StartedHandler, ToolError> {
        D::call(&self.receiver, self.args, cx)
    }
}

/// Reads an object into slots, key by key.
struct SlotVisitor<S> {
    slots: S,
    /// One bit per parameter; `#[tool]` rejects more than 64.
    seen: u64,
}

impl<S: ArgumentSlots> Default for SlotVisitor<S> {
    fn default() -> Self {
        Self { slots: S::default(), seen: 0 }
    }
}

impl<'de, S: ArgumentSlots> Visitor<'de> for &mut SlotVisitor<S> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(index) = map.next_key_seed(ParamNameSeed(S::PARAMS))? {
            self.slots.read(index, &mut map)?;
            self.seen |= 1 << index;
        }
        Ok(())
    }
}

/// Finds the index of the parameter with the key's name.
struct ParamNameSeed(&'static [ParamSpec]);

impl<'de> DeserializeSeed<'de> for ParamNameSeed {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for ParamNameSeed {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a parameter's name")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<usize, E> {
        let known = |param: &ParamSpec| param.published && param.name == key;
        self.0
            .iter()
            .position(known)
            .ok_or_else(|| E::custom(format_args!("unknown argument `{key}`")))
    }
}
