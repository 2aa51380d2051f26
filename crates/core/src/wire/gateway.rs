//! [`ExportGateway`]: a few tools that a bridge exports in place of all, and the conversion of their calls.

use std::fmt;
use std::sync::Arc;

use toolwright_schema::Dialect;

use crate::call::ToolCall;
use crate::call::context::CallScope;
use crate::invoker::Invoker;
use crate::tool::Tool;
use crate::wire::bridge::BridgeError;

/// Exports a few tools in place of all, for [`Bridge::gateway`](crate::Bridge::gateway).
///
/// `toolwright::search` implements it with two tools: one searches the others, one calls them.
pub trait ExportGateway: fmt::Debug + Send + Sync + 'static {
    /// Makes the tools of the gateway to an invoker's tools, for a model of this dialect; `None` if the tools themselves are
    /// exported. No tool of the invoker has one of their names.
    ///
    /// # Errors
    ///
    /// When the tools cannot be listed, or those of the gateway cannot be made.
    fn open(
        &self,
        tools: &Invoker,
        scope: &CallScope,
        dialect: Dialect,
    ) -> Result<Option<GatewayTools>, BridgeError>;
}

/// Converts a call of a gateway's tool to a call of the tool that it names.
type Resolver = Arc<dyn Fn(&CallScope, ToolCall) -> ToolCall + Send + Sync>;

/// The tools of an [`ExportGateway`], and the conversion of their calls.
#[derive(Clone)]
pub struct GatewayTools {
    tools: Vec<Tool>,
    resolve: Resolver,
}

impl GatewayTools {
    /// Makes them of tools, and a function that gets each call with its scope.
    ///
    /// A call that it converts runs as any call of that tool: validated, approved, limited and audited. One that it returns
    /// unchanged runs as it is.
    pub fn new(
        tools: Vec<Tool>,
        resolve: impl Fn(&CallScope, ToolCall) -> ToolCall + Send + Sync + 'static,
    ) -> Self {
        Self { tools, resolve: Arc::new(resolve) }
    }

    pub(crate) fn tools(&self) -> &[Tool] {
        &self.tools
    }

    pub(crate) fn resolve(&self, scope: &CallScope, call: ToolCall) -> ToolCall {
        (self.resolve)(scope, call)
    }
}

impl fmt::Debug for GatewayTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayTools").field("tools", &self.tools).finish_non_exhaustive()
    }
}
