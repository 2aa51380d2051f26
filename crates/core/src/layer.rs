//! What can be put around calls: the next stage in, a result out.
//!
//! Layers stand in one fixed order, whatever order they are added in: audit, trace, authorise, rate
//! limit, outer, (parse … approve), cache, retry, inner, timeout, concurrency, run. Trace, timeout and
//! concurrency stand around every call and so are plain futures; the others are [`Layer`]s. So waiting for approval
//! spends no timeout, a retry asks no second approval, and a cache hit bypasses neither
//! authorisation nor approval.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::Value;

use crate::call::ToolCall;
use crate::call::context::{CallScope, Caller};
use crate::call::result::ToolResult;
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

/// Something around the calls of a tool.
///
/// # Examples
///
/// ```
/// use futures::future::BoxFuture;
/// use toolwright::{Invocation, Layer, Next, ToolResult};
///
/// /// Says what is called.
/// struct Announce;
///
/// impl Layer for Announce {
///     fn around<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
///         Box::pin(async move {
///             eprintln!("calling {}", call.tool().name);
///             next.run().await
///         })
///     }
/// }
/// ```
pub trait Layer: Send + Sync + 'static {
    /// Says where it stands.
    fn position(&self) -> LayerPosition {
        LayerPosition::Inner
    }

    /// Tells whether a caller may see the tool in a list.
    fn is_visible(&self, _tool: &ToolSpec, _caller: &Caller) -> bool {
        true
    }

    /// Runs the call through `next`, or answers it without.
    ///
    /// # Cancellation
    ///
    /// The future is dropped when nobody waits for the call any more.
    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult>;
}

/// Where a layer stands, outermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LayerPosition {
    /// Before anything is known of the call but its name: who may call at all.
    Authorise,
    /// Before the arguments are read: how often.
    RateLimit,
    /// Before the arguments are read: yours.
    Outer,
    /// After approval: results that are known already.
    Cache,
    /// After approval: once more, if it failed.
    Retry,
    /// Around the run itself, within each retry: yours.
    Inner,
}

impl LayerPosition {
    /// Tells whether layers here run before the arguments are read.
    pub(crate) fn is_outer(self) -> bool {
        self <= Self::Outer
    }
}

/// The call that a layer stands around.
#[derive(Clone, Copy)]
pub struct Invocation<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) spec: &'a ToolSpec,
    pub(crate) tool: &'a Tool,
    pub(crate) scope: &'a CallScope,
    pub(crate) arguments: Option<&'a Value>,
}

impl<'a> Invocation<'a> {
    /// Returns the call as the model made it.
    pub fn call(&self) -> &'a ToolCall {
        self.call
    }

    /// Returns what the model sees of the tool.
    pub fn tool(&self) -> &'a ToolSpec {
        self.spec
    }

    /// Returns the digest of what the model sees of the tool.
    pub fn fingerprint(&self) -> &'a str {
        self.tool.fingerprint()
    }

    /// Returns on whose behalf the call is made.
    pub fn caller(&self) -> &'a Caller {
        &self.scope.caller
    }

    /// Returns the arguments as the tool receives them; `None` before they are read.
    pub fn arguments(&self) -> Option<&'a Value> {
        self.arguments
    }
}

/// The rest of the way; running it again runs the tool again.
#[derive(Clone, Copy)]
pub struct Next<'a> {
    layers: &'a [Arc<dyn Layer>],
    call: Invocation<'a>,
    innermost: &'a InnermostCall<'a>,
}

/// What stands behind the last layer.
pub(crate) type InnermostCall<'a> = dyn Fn() -> BoxFuture<'a, ToolResult> + Send + Sync + 'a;

impl<'a> Next<'a> {
    pub(crate) fn new(
        layers: &'a [Arc<dyn Layer>],
        call: Invocation<'a>,
        end: &'a InnermostCall<'a>,
    ) -> Self {
        Self {
            layers,
            call,
            innermost: end,
        }
    }

    /// Runs the rest of the way.
    pub fn run(self) -> BoxFuture<'a, ToolResult> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.handle(self.call, Self { layers, ..self }),
            None => (self.innermost)(),
        }
    }
}
