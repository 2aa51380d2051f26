//! [`Layer`]: middleware around the calls of tools.
//!
//! Layers run in one fixed order, independent of the order in which they are added: audit, trace, authorise,
//! rate limit, outer, (parse … approve), cache, retry, inner, timeout, concurrency, run. Trace, timeout and
//! concurrency surround every call and are plain futures; the others are [`Layer`]s. So the time that an
//! approval takes does not count towards the timeout, a retry needs no second approval, and a cache hit
//! bypasses neither authorisation nor approval.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::ToolCall;
use crate::call::context::{CallScope, Caller};
use crate::call::result::ToolResult;
use crate::shared_state::SharedState;
use crate::tool::{Tool, ToolSpec};

mod authorise;
mod cache;
pub(crate) mod concurrency;
mod rate_limit;
mod retry;
pub(crate) mod timeout;
#[cfg(feature = "tower")]
mod tower;
pub(crate) mod trace;

pub use authorise::Authorise;
pub use cache::Cache;
pub use rate_limit::RateLimit;
pub use retry::Retry;
#[cfg(feature = "tower")]
pub use tower::{Tower, TowerCall, TowerNext};

/// Middleware around the calls of a tool.
///
/// # Examples
///
/// ```
/// use toolwright::{BoxFuture, Invocation, Layer, Next, ToolResult};
///
/// /// Logs each call.
/// struct LogCalls;
///
/// impl Layer for LogCalls {
///     fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
///         Box::pin(async move {
///             eprintln!("calling {}", call.tool().name);
///             next.run().await
///         })
///     }
/// }
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Returns its position among the layers; [`LayerPosition::Inner`] by default.
    fn position(&self) -> LayerPosition {
        LayerPosition::Inner
    }

    /// Returns true if the caller may see the tool in listings.
    fn is_visible(&self, _tool: &ToolSpec, _caller: &Caller) -> bool {
        true
    }

    /// Runs the call with `next`, or returns a result without running it.
    ///
    /// # Cancellation
    ///
    /// The future is dropped when the call is cancelled, times out or is dropped.
    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult>;
}

/// The position of a layer, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LayerPosition {
    /// Outermost, when only the name of the tool is known: checks who may call it.
    Authorise,
    /// Before the arguments are parsed: limits the number of calls.
    RateLimit,
    /// Before the arguments are parsed: for layers of the application.
    Outer,
    /// After approval: returns stored results.
    Cache,
    /// After approval: runs a failed call again.
    Retry,
    /// Around the run itself, within each retry: for layers of the application.
    Inner,
}

impl LayerPosition {
    /// Returns true if layers with this position run before the arguments are parsed.
    pub(crate) fn is_outer(self) -> bool {
        self <= Self::Outer
    }
}

/// The call that a layer handles.
#[derive(Clone, Copy)]
pub struct Invocation<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) spec: &'a ToolSpec,
    pub(crate) tool: &'a Tool,
    pub(crate) scope: &'a CallScope,
    pub(crate) arguments: Option<&'a Value>,
    pub(crate) shared_state: Option<&'a Arc<dyn SharedState>>,
}

impl<'a> Invocation<'a> {
    /// Returns the call as the model sent it.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// Returns the specification of the tool.
    pub fn tool(&self) -> &'a ToolSpec {
        self.spec
    }

    /// Returns the [fingerprint](Tool::fingerprint) of the tool.
    pub fn fingerprint(&self) -> &'a str {
        self.tool.fingerprint()
    }

    /// Returns the user or program that the call is made for.
    pub fn caller(&self) -> &'a Caller {
        &self.scope.caller
    }

    /// Returns the state that all nodes share, if the invoker [has one](crate::InvokerBuilder::shared_state).
    pub fn shared_state(&self) -> Option<&'a Arc<dyn SharedState>> {
        self.shared_state
    }

    /// Returns the arguments as the tool receives them; `None` before they are parsed.
    pub fn arguments(&self) -> Option<&'a Value> {
        self.arguments
    }
}

/// The inner layers and the tool; running it again runs the tool again.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    call: Invocation<'a>,
    innermost: &'a InnermostCall<'a>,
}

/// The call inside the last layer.
pub(crate) type InnermostCall<'a> = dyn Fn() -> BoxFuture<'a, ToolResult> + Send + Sync + 'a;

impl<'a> Next<'a> {
    pub(crate) fn new(
        layers: &'a [Arc<dyn Layer>],
        call: Invocation<'a>,
        innermost: &'a InnermostCall<'a>,
    ) -> Self {
        Self { layers, call, innermost }
    }

    /// Runs the inner layers and the tool.
    pub fn run(self) -> BoxFuture<'a, ToolResult> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.handle(self.call, Self { layers, ..self }),
            None => (self.innermost)(),
        }
    }
}
