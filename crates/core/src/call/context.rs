//! The context of a call: the invoker's state and settings, the caller, the session and the event listener.

use std::any::{Any, TypeId};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

use futures::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use crate::call::result::ToolResult;
use crate::call::{Arguments, CallId, ToolCall, ToolName, shared_text};
use crate::config::Config;
use crate::invoker::Invoker;
use crate::invoker::approval::ApprovalToken;
use crate::shared_state::SharedState;
use crate::tool::encode::Encoders;

/// The state, project directory and settings of an invoker; the same for all its calls.
#[derive(Clone, Default)]
pub struct InvokerContext {
    pub(crate) state: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// The types of [`InvokerBuilder::declare_state`](crate::InvokerBuilder::declare_state).
    pub(crate) declared_state: HashSet<TypeId>,
    pub(crate) project_dir: Option<Arc<Path>>,
    pub(crate) config: Config,
    pub(crate) shared_state: Option<Arc<dyn SharedState>>,
}

impl InvokerContext {
    /// Returns the state of type `T`, if the invoker has one.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.state.get(&TypeId::of::<T>())?.clone().downcast().ok()
    }

    /// Returns true if the invoker has state of type `T`, or declares it.
    pub(crate) fn knows_state<T: Send + Sync + 'static>(&self) -> bool {
        let id = TypeId::of::<T>();
        self.state.contains_key(&id) || self.declared_state.contains(&id)
    }

    /// Returns the project directory, if one was set.
    pub fn project_dir(&self) -> Option<&Path> {
        self.project_dir.as_deref()
    }

    /// Returns the settings; empty unless the invoker was built with some.
    pub fn config(&self) -> &Config {
        &self.config
    }
}

impl fmt::Debug for InvokerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InvokerContext")
            .field("state", &self.state.len())
            .field("project_dir", &self.project_dir)
            .finish()
    }
}

/// The caller, the session and the event listener of calls.
///
/// # Examples
///
/// ```
/// use toolwright::{CallEvent, Caller, CallScope};
///
/// let scope = CallScope::new()
///     .caller(Caller::new("ada"))
///     .session("conversation-7")
///     .on_event(|event: CallEvent| eprintln!("{event:?}"));
/// ```
#[derive(Clone, Default)]
pub struct CallScope {
    pub(crate) caller: Caller,
    pub(crate) session: Option<SessionId>,
    pub(crate) cancel: Option<CancellationToken>,
    pub(crate) listener: Option<EventListener>,
    pub(crate) approval_tokens: Vec<ApprovalToken>,
    /// Values that extractors look up by type.
    pub(crate) extensions: Vec<Arc<dyn Any + Send + Sync>>,
    pub(crate) child_calls: Option<ChildCallHandler>,
    /// The number of calls that the calls of this scope are made inside of.
    pub(crate) depth: usize,
    /// True if a tool makes the calls.
    pub(crate) is_child: bool,
    /// True if the call has started before, and its outcome is not known.
    pub(crate) is_repeated: bool,
}

/// Runs the calls that a tool makes.
pub(crate) type ChildCallHandler =
    Arc<dyn Fn(ToolName, Arguments, bool) -> BoxFuture<'static, ToolResult> + Send + Sync>;

/// The maximum number of calls that a call may be inside of.
pub const MAX_CALL_DEPTH: usize = 8;

/// The result of a call that is inside of more.
pub const TOO_DEEP: &str = "the call did not run: it is inside of more than 8 other calls";

/// Receives the events of a call, on the thread that the tool runs on.
pub(crate) type EventListener = Arc<dyn Fn(CallEvent) + Send + Sync>;

impl CallScope {
    /// Makes a scope with an anonymous caller and without session or listener.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the caller.
    #[must_use]
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }

    /// Sets the session or conversation that the calls belong to.
    #[must_use]
    pub fn session(mut self, session: impl Into<SessionId>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Cancels the calls when the token is cancelled.
    #[must_use]
    pub fn cancel_on(mut self, token: CancellationToken) -> Self {
        self.cancel = Some(token);
        self
    }

    /// Adds an approval that was given before. It is valid for one call of exactly what was approved.
    #[must_use]
    pub fn approval_token(mut self, token: ApprovalToken) -> Self {
        self.approval_tokens.push(token);
        self
    }

    /// Adds a value that extractors look up by its type, for example the connection of the client.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.extensions.push(value);
        self
    }

    /// Runs the calls that a tool makes with its [`ToolCaller`](crate::ToolCaller) by `handler`, which numbers, records and
    /// limits them. Without one, the invoker runs them in the same scope.
    ///
    /// The last argument is true for [`call_before_effect`](crate::ToolCaller::call_before_effect).
    #[must_use]
    pub fn child_calls(
        mut self,
        handler: impl Fn(ToolName, Arguments, bool) -> BoxFuture<'static, ToolResult>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.child_calls = Some(Arc::new(handler));
        self
    }

    /// Makes the scope one of calls that a tool makes, for a [handler of child calls](Self::child_calls): they find
    /// [internal](crate::Policy::internal) tools, too.
    #[must_use]
    pub fn inside_call(mut self) -> Self {
        self.is_child = true;
        self
    }

    /// Says that the call has started before, in a run of its [replayable](crate::Policy::replayable) tool that was interrupted.
    #[must_use]
    pub fn repeated(mut self, yes: bool) -> Self {
        self.is_repeated = yes;
        self
    }

    /// Passes every event of the calls to `listener`, after the listeners that were set before.
    #[must_use]
    pub fn on_event(mut self, listener: impl Fn(CallEvent) + Send + Sync + 'static) -> Self {
        self.listener = Some(match self.listener.take() {
            None => Arc::new(listener),
            Some(first) => Arc::new(move |event: CallEvent| {
                first(event.clone());
                listener(event);
            }),
        });
        self
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        let token = self.cancel.as_ref();
        token.is_some_and(CancellationToken::is_cancelled)
    }
}

impl fmt::Debug for CallScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallScope")
            .field("caller", &self.caller)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

/// An event between a call and its result.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallEvent {
    /// The tool reports its progress.
    Progress {
        /// The id of the call.
        call_id: CallId,
        /// The amount of work done, in a unit of the tool's choice.
        done: Option<f64>,
        /// The total amount of work, in the same unit.
        total: Option<f64>,
        /// A message about the current step.
        message: Option<String>,
    },
    /// The tool has a preliminary result; the last one becomes the call's result.
    Update {
        /// The id of the call.
        call_id: CallId,
        /// The result so far.
        result: ToolResult,
    },
}

/// The user or program that a call is made for.
///
/// As a parameter of a tool it is filled in from the [`CallScope`]; the model never sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    name: Option<Arc<str>>,
}

impl Caller {
    /// Makes a caller with a name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()) }
    }

    /// Returns the name, unless the caller is anonymous.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

shared_text! {
    /// The session a call belongs to: an MCP session, else a conversation, else this process.
    ///
    /// As a parameter of a tool it is filled in from the [`CallScope`]; the model never sees it.
    SessionId
}

impl SessionId {
    /// Returns the session of calls without one of their own: the same for the whole process.
    pub fn process_default() -> Self {
        static PROCESS: LazyLock<SessionId> =
            LazyLock::new(|| SessionId::from(format!("process-{}", std::process::id())));
        PROCESS.clone()
    }
}

/// A call in progress, as extractors see it.
pub struct CallContext<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) invoker: &'a Invoker,
    pub(crate) invoker_context: &'a Arc<InvokerContext>,
    pub(crate) scope: &'a CallScope,
    pub(crate) encoders: &'a Encoders,
    pub(crate) run: &'a RunState,
}

/// The cancellation token and the concurrency permit of one run of a tool; each retry has its own.
#[derive(Default)]
pub(crate) struct RunState {
    pub(crate) cancel: LazyCancellationToken,
    pub(crate) blocking_permit: BlockingPermit,
}

impl CallContext<'_> {
    /// Returns the call's id.
    pub fn call_id(&self) -> &CallId {
        &self.call.id
    }

    /// Returns the tool's name as the model sent it.
    pub fn tool_name(&self) -> &ToolName {
        &self.call.name
    }

    /// Returns the invoker's state and settings.
    pub fn invoker_context(&self) -> &InvokerContext {
        self.invoker_context
    }

    /// Returns the user or program that the call is made for.
    pub fn caller(&self) -> &Caller {
        &self.scope.caller
    }

    /// Returns the session the call belongs to.
    pub fn session(&self) -> SessionId {
        self.scope.session.clone().unwrap_or_else(SessionId::process_default)
    }

    /// Returns the scope's extension of type `T`: the last, if it has several.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        find_extension(&self.scope.extensions)
    }

    /// Returns the encoders for the tool's return value.
    #[doc(hidden)]
    pub fn encoders(&self) -> &Encoders {
        self.encoders
    }

    pub(crate) fn project_dir(&self) -> Option<PathBuf> {
        self.invoker_context.project_dir().map(Path::to_path_buf)
    }

    /// Returns the token that is cancelled when the call is cancelled, times out or is dropped.
    pub(crate) fn cancellation_token(&self) -> CancellationToken {
        self.run.cancel.token(self.scope)
    }
}

/// Finds the last value of type `T`.
pub(crate) fn find_extension<T: Send + Sync + 'static>(
    extensions: &[Arc<dyn Any + Send + Sync>],
) -> Option<Arc<T>> {
    let last = extensions.iter().rev().find(|value| value.is::<T>())?;
    Arc::clone(last).downcast().ok()
}

/// The call's cancellation token, created when the tool first uses it.
#[derive(Default)]
pub(crate) struct LazyCancellationToken(OnceLock<CancellationToken>);

impl LazyCancellationToken {
    fn token(&self, scope: &CallScope) -> CancellationToken {
        let make = || match &scope.cancel {
            Some(parent) => parent.child_token(),
            None => CancellationToken::new(),
        };
        self.0.get_or_init(make).clone()
    }

    /// Cancels the token, if there is one: the tool may still run on a blocking thread.
    pub(crate) fn cancel(&self) {
        if let Some(token) = self.0.get() {
            token.cancel();
        }
    }
}

/// A concurrency permit that a blocking tool moves to its thread, so that it is held until the thread ends.
#[derive(Default)]
pub(crate) struct BlockingPermit(Mutex<Option<OwnedSemaphorePermit>>);

impl BlockingPermit {
    pub(crate) fn put(&self, permit: OwnedSemaphorePermit) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(permit);
    }

    /// Returns the permit to the first call, which moves it to the thread of the tool.
    pub(crate) fn take(&self) -> Option<OwnedSemaphorePermit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
