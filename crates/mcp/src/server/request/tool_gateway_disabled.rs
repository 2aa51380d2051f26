//! Takes the place of `tool_gateway` without the feature `search`: all tools are listed, and called by their own names.

use toolwright_core::{CallScope, Invoker, RegisteredTool, RegistryError, ToolCall};

use crate::server::{McpBuildError, Request, RpcError};

/// Has no value: a server without the feature has no gateway.
pub(crate) enum ToolGateway {}

/// A call of a request.
pub(crate) enum GatewayCall {
    /// A call of this tool.
    Tool(ToolCall),
    /// Never made.
    #[expect(dead_code, reason = "there is no gateway")]
    Gateway(Invoker, ToolCall),
}

impl ToolGateway {
    /// Makes none.
    pub(crate) fn new(_: bool, _: &Invoker) -> Result<Option<Self>, McpBuildError> {
        Ok(None)
    }

    pub(crate) fn listed_tools(
        &self,
        _: Vec<RegisteredTool>,
        _: &CallScope,
    ) -> Result<Vec<RegisteredTool>, RegistryError> {
        match *self {}
    }
}

impl Request {
    /// Returns the call as it is.
    pub(crate) fn resolve_gateway_call(&self, call: ToolCall) -> Result<GatewayCall, RpcError> {
        Ok(GatewayCall::Tool(call))
    }
}
