//! [`SearchGateway`]: two tools in place of all, for the frameworks that a [`Bridge`](toolwright_core::Bridge) exports tools to.

use std::sync::Arc;

use toolwright_core::schema::Dialect;
use toolwright_core::{
    BoxFuture, BridgeError, CallScope, ExportGateway, GatewayTools, Invoker, RegistryError,
    ToolCall, ToolError, ToolResult,
};

use crate::catalog::CatalogCache;
use crate::gateway::{Gateway, ToolQuery};

/// Exports `search_tools`, `call_tool` and the pinned tools to a framework, in place of all tools.
///
/// A search ranks the tools that the caller of the search may use. A call of `call_tool` runs as a call of the tool that it names:
/// validated against its schema, authorised, approved by its policy, limited and audited.
///
/// # Examples
///
/// ```
/// use toolwright::search::SearchGateway;
/// use toolwright::{Bridge, Invoker, Registry, ToolCall, tool};
///
/// /// Returns the weather in a city.
/// #[tool(read_only)]
/// fn get_weather(city: String) -> String {
///     format!("It rains in {city}.")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::of(get_weather::tool())?;
/// let bridge = Bridge::new(&Invoker::new(&registry)?).gateway(SearchGateway::new());
///
/// // A bridge crate does this:
/// let exported = bridge.export()?;
/// let found = exported.invoke(ToolCall::new("search_tools", r#"{"query": "rain"}"#)).await;
/// assert!(found.text().contains("get_weather"));
/// let call = r#"{"name": "get_weather", "arguments": {"city": "Oslo"}}"#;
/// let result = exported.invoke(ToolCall::new("call_tool", call)).await;
/// assert_eq!(result.text(), "It rains in Oslo.");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct SearchGateway {
    max_tools: usize,
}

impl SearchGateway {
    /// Exports the two tools, however many there are behind them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Exports the two tools beyond this number of tools, and all tools up to it.
    pub fn beyond(max_tools: usize) -> Self {
        Self { max_tools }
    }
}

impl ExportGateway for SearchGateway {
    fn open(
        &self,
        tools: &Invoker,
        scope: &CallScope,
        dialect: Dialect,
    ) -> Result<Option<GatewayTools>, BridgeError> {
        if tools.list(scope)?.len() <= self.max_tools {
            return Ok(None);
        }
        let snapshot = tools.snapshot()?;
        let gateway = Gateway::new(|name| snapshot.find(name).is_some());
        let (searched, catalogs) = (tools.clone(), Arc::new(CatalogCache::default()));
        let search = move |query: ToolQuery| -> BoxFuture<'static, ToolResult> {
            let visible = searched.list(&CallScope::new().caller(query.caller.clone()));
            let catalogs = Arc::clone(&catalogs);
            Box::pin(async move {
                match visible {
                    Ok(visible) => catalogs.answer(&visible.into(), &query, dialect).await,
                    Err(error) => ToolError::from(error).into(),
                }
            })
        };
        let own = gateway.tools(search, Gateway::unknown_tool).map_err(RegistryError::from)?;
        let called = tools.clone();
        let resolve = move |scope: &CallScope, call: ToolCall| {
            // If the tools cannot be listed, the call has that error, too.
            let resolved = gateway.resolve_call(&call, &called, scope, dialect);
            resolved.ok().flatten().unwrap_or(call)
        };
        Ok(Some(GatewayTools::new(own, resolve)))
    }
}
