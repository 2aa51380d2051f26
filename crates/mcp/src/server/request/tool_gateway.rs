//! Serves any number of tools as two: `search_tools`, which finds tools, and `call_tool`, which calls one by its name.

use std::future::ready;
use std::sync::Arc;

use toolwright_core::schema::Dialect;
use toolwright_core::{
    BoxFuture, CallScope, Caller, Invoker, RegisteredTool, RegistryError, ToolCall, ToolResult,
};
use toolwright_search::{CatalogCache, Gateway, ToolQuery};

use crate::server::{McpBuildError, Request, RpcError};

/// The two tools of a server, and the indexes of the tools behind them.
pub(crate) struct ToolGateway {
    gateway: Gateway,
    /// Lists the two tools; calls of them have an invoker of their own.
    listing: Invoker,
    catalogs: Arc<CatalogCache>,
}

/// A call of a request.
pub(crate) enum GatewayCall {
    /// A call of this tool, which the request may have named in the arguments of `call_tool`.
    Tool(ToolCall),
    /// A call of one of the two tools, with their invoker.
    Gateway(Invoker, ToolCall),
}

impl ToolGateway {
    /// Makes the two tools, if they are wanted, with names that no tool of the invoker has.
    pub(crate) fn new(wanted: bool, tools: &Invoker) -> Result<Option<Self>, McpBuildError> {
        if !wanted {
            return Ok(None);
        }
        let snapshot = tools.snapshot().map_err(toolwright_core::InvokerError::from)?;
        let gateway = Gateway::new(|name| snapshot.find(name).is_some());
        let listing = gateway.invoker(
            tools,
            |_| Box::pin(ready(ToolResult::success(""))),
            Gateway::unknown_tool,
        )?;
        Ok(Some(Self { gateway, listing, catalogs: Arc::default() }))
    }

    /// Returns the tools that a list contains: the two, and the pinned ones of those that the caller may see.
    pub(crate) fn listed_tools(
        &self,
        visible: Vec<RegisteredTool>,
        scope: &CallScope,
    ) -> Result<Vec<RegisteredTool>, RegistryError> {
        let pinned = visible.into_iter().filter(|tool| tool.policy().pinned);
        Ok(self.listing.list(scope)?.into_iter().chain(pinned).collect())
    }

    /// Returns the invoker of a call of the two tools, for the caller's view of the tools.
    fn invoker(&self, tools: &Invoker, caller: &Caller) -> Result<Invoker, RpcError> {
        let visible: Arc<[RegisteredTool]> = tools.list(&scope_of(caller))?.into();
        let catalogs = Arc::clone(&self.catalogs);
        let search = move |query: ToolQuery| -> BoxFuture<'static, ToolResult> {
            let (visible, catalogs) = (Arc::clone(&visible), Arc::clone(&catalogs));
            Box::pin(async move { catalogs.answer(&visible, &query, Dialect::MCP).await })
        };
        let invoker = self.gateway.invoker(tools, search, Gateway::unknown_tool);
        invoker.map_err(|error| RpcError::internal(error.to_string()))
    }
}

impl Request {
    /// Converts a call of `call_tool` to a call of the tool that it names, so that it is authorised, approved, limited and
    /// audited as one.
    pub(crate) fn resolve_gateway_call(&self, call: ToolCall) -> Result<GatewayCall, RpcError> {
        let Some(served) = &self.server.0.gateway else {
            return Ok(GatewayCall::Tool(call));
        };
        let (tools, caller) = (self.tools().invoker(), &self.context.caller);
        match served.gateway.named_call(&call) {
            Some(named) => {
                let name = named.tool.as_str();
                // As for any call, the error names the scope that is missing.
                self.check_named_scope(|all| all.find(name).map(RegisteredTool::spec))?;
                let (gateway, scope) = (&served.gateway, scope_of(caller));
                if let Some(named) = gateway.resolve_call(&call, tools, &scope, Dialect::MCP)? {
                    return Ok(GatewayCall::Tool(named));
                }
            }
            None if served.gateway.contains(call.name.as_str()) => {}
            None => return Ok(GatewayCall::Tool(call)),
        }
        Ok(GatewayCall::Gateway(served.invoker(tools, caller)?, call))
    }
}

fn scope_of(caller: &Caller) -> CallScope {
    CallScope::new().caller(caller.clone())
}
