//! The built-in extractors: parameters with values from the call's context, hidden from the model.

use std::any::type_name;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use crate::call::context::{
    CallContext, CallEvent, CallScope, Caller, EventListener, InvokerContext, SessionId,
    find_extension,
};
use crate::call::{CallId, ToolName};
use crate::config::Config;
use crate::error::ToolError;
use crate::invoker::Invoker;
use crate::tool::param::Param;
use crate::tool::tool_caller::ToolCaller;

/// A value shared by all calls, set with [`InvokerBuilder::state`](crate::InvokerBuilder::state).
///
/// It dereferences to the value. A parameter `State(shop): State<Shop>` names the value itself, whose own `.0` is then `shop.0`.
///
/// # Examples
///
/// ```
/// # use toolwright::{Invoker, Registry, json};
/// use toolwright::{State, tool};
///
/// struct Shop {
///     stock: u32,
/// }
///
/// struct Greeting(&'static str);
///
/// /// Says what is in stock.
/// #[tool(read_only)]
/// fn count_books(shop: State<Shop>, State(greeting): State<Greeting>) -> String {
///     format!("{} There are {} books.", greeting.0, shop.stock)
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let invoker = Invoker::builder(&Registry::of(count_books::tool())?);
/// let invoker = invoker.state(Shop { stock: 12 }).state(Greeting("Hello.")).build()?;
/// # assert_eq!(invoker.call("count_books", json!({})).await.text(), "Hello. There are 12 books.");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct State<T>(pub Arc<T>);

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Send + Sync + 'static> Param for State<T> {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        match cx.invoker_context().state() {
            Some(state) => Ok(Self(state)),
            None => Err(missing_state::<T>()),
        }
    }

    fn check(context: &InvokerContext) -> Result<(), ToolError> {
        match context.knows_state::<T>() {
            true => Ok(()),
            false => Err(missing_state::<T>()),
        }
    }
}

fn missing_state<T>() -> ToolError {
    let name = type_name::<T>();
    ToolError::fatal(format!(
        "it needs state of type `{name}`: write `.state(…)` with a value of this type on `app!()` or `Invoker::builder`, or \
         `.state_with(…)` on `app!()` with an async function that opens it"
    ))
}

/// The project directory that tools work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectDir(pub PathBuf);

impl Param for ProjectDir {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        cx.project_dir().map(Self).ok_or_else(missing_project_dir)
    }

    fn check(context: &InvokerContext) -> Result<(), ToolError> {
        match context.project_dir() {
            Some(_) => Ok(()),
            None => Err(missing_project_dir()),
        }
    }
}

fn missing_project_dir() -> ToolError {
    ToolError::fatal(
        "it needs a project directory: pass `--project-dir DIR`, or give it to the invoker with `.project_dir(…)`",
    )
}

impl Param for SessionId {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(cx.session())
    }
}

impl Param for Caller {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(cx.caller().clone())
    }
}

/// The cancellation of a call.
///
/// The future of an async tool is dropped when its call is cancelled; a blocking tool has to check this.
#[derive(Clone, Debug)]
pub struct Cancel(CancellationToken);

impl Cancel {
    /// Returns true if the call was cancelled, timed out or dropped.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Waits until the call is cancelled, times out or is dropped.
    pub fn cancelled(&self) -> WaitForCancellationFuture<'_> {
        self.0.cancelled()
    }
}

impl Param for Cancel {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(Self(cx.cancellation_token()))
    }
}

/// Reports the progress of a tool to the listeners of the [`CallScope`](crate::CallScope).
#[derive(Clone)]
pub struct Progress {
    call_id: CallId,
    listener: Option<EventListener>,
}

impl Progress {
    /// Reports that `done` of `total` is done, with a message about the current step.
    pub fn report(&self, done: f64, total: f64, message: impl Into<String>) {
        self.forward(Some(done), Some(total), Some(message.into()));
    }

    /// Reports the current step of a tool that cannot count.
    pub fn report_message(&self, message: impl Into<String>) {
        self.forward(None, None, Some(message.into()));
    }

    /// Reports the progress of other software, which may lack any of the three.
    pub fn forward(&self, done: Option<f64>, total: Option<f64>, message: Option<String>) {
        if let Some(listener) = &self.listener {
            listener(CallEvent::Progress { call_id: self.call_id.clone(), done, total, message });
        }
    }
}

impl Param for Progress {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(Self { call_id: cx.call_id().clone(), listener: cx.scope.listener.clone() })
    }
}

/// The id of the call and the name of its tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallInfo {
    /// The call's id.
    pub id: CallId,
    /// The tool's name as the model sent it.
    pub tool: ToolName,
}

impl Param for CallInfo {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(Self { id: cx.call_id().clone(), tool: cx.tool_name().clone() })
    }
}

/// An extractor that may fail.
///
/// `Option<T>` cannot be one: it is an optional argument.
#[derive(Clone, Debug)]
pub struct Maybe<T>(pub Option<T>);

impl<T: Param> Param for Maybe<T> {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(Self(T::from_call(cx).ok()))
    }
}

/// The values of all extractors: the second argument of a builder's handler.
#[derive(Clone)]
pub struct HandlerContext {
    invoker_context: Arc<InvokerContext>,
    invoker: Invoker,
    scope: CallScope,
    session: SessionId,
    info: CallInfo,
    cancel: Cancel,
    progress: Progress,
}

impl HandlerContext {
    /// Returns the state of type `T`.
    ///
    /// # Errors
    ///
    /// When the invoker has none.
    pub fn state<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, ToolError> {
        self.invoker_context.state().ok_or_else(missing_state::<T>)
    }

    /// Returns the project directory, if one was set.
    pub fn project_dir(&self) -> Option<&Path> {
        self.invoker_context.project_dir()
    }

    /// Returns the settings; empty unless the invoker was built with some.
    pub fn config(&self) -> &Config {
        self.invoker_context.config()
    }

    /// Returns the user or program that the call is made for.
    pub fn caller(&self) -> &Caller {
        &self.scope.caller
    }

    /// Returns the session the call belongs to.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the id of the call and the name of its tool.
    pub fn info(&self) -> &CallInfo {
        &self.info
    }

    /// Returns the cancellation of the call.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns the progress reporter.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns the way to call other tools.
    pub fn tools(&self) -> ToolCaller {
        let scope = self.scope.clone().cancel_on(self.cancel.0.clone());
        ToolCaller::new(&self.info.id, &self.invoker, scope)
    }

    /// Returns true if the call has started before, in a run that was interrupted: what it did is not known. Only a
    /// [replayable](crate::Policy::replayable) tool runs again, or one that may run twice.
    pub fn is_repeated(&self) -> bool {
        self.scope.is_repeated
    }

    /// Returns the scope's extension of type `T`: the last, if it has several.
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        find_extension(&self.scope.extensions)
    }
}

impl Param for HandlerContext {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Ok(Self {
            invoker_context: Arc::clone(cx.invoker_context),
            invoker: cx.invoker.clone(),
            scope: cx.scope.clone(),
            session: Param::from_call(cx)?,
            info: Param::from_call(cx)?,
            cancel: Param::from_call(cx)?,
            progress: Param::from_call(cx)?,
        })
    }
}
