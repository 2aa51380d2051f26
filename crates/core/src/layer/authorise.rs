//! [`Authorise`]: restricts who may see and call a tool.

use futures::future::BoxFuture;

use super::{Invocation, Layer, LayerPosition, Next};
use crate::call::context::Caller;
use crate::call::result::{Outcome, ToolResult};
use crate::error::ErrorKind;
use crate::tool::ToolSpec;

/// Lets a caller see and call only the tools that a predicate allows.
///
/// # Examples
///
/// ```
/// use toolwright::{Authorise, Registry};
///
/// let registry = Registry::new();
/// let view = registry.all().layer(Authorise::new(|caller, tool| {
///     caller.name() == Some("ada") || tool.hints.read_only == Some(true)
/// }));
/// ```
pub struct Authorise<F>(F);

impl<F: Fn(&Caller, &ToolSpec) -> bool + Send + Sync + 'static> Authorise<F> {
    /// Runs `allow` for every listing and every call.
    pub fn new(allow: F) -> Self {
        Self(allow)
    }
}

impl<F: Fn(&Caller, &ToolSpec) -> bool + Send + Sync + 'static> Layer for Authorise<F> {
    fn position(&self) -> LayerPosition {
        LayerPosition::Authorise
    }

    fn is_visible(&self, tool: &ToolSpec, caller: &Caller) -> bool {
        (self.0)(caller, tool)
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        if (self.0)(call.caller(), call.tool()) {
            return next.run();
        }
        let message = format!("you may not call `{}`", call.tool().name);
        let denied = ToolResult::from_outcome(Outcome::Denied, ErrorKind::Failed, message);
        Box::pin(std::future::ready(denied))
    }
}
