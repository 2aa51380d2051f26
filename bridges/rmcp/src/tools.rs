//! An invoker's tools as routes of rmcp's; a request of its client in, a call out.

use std::sync::Arc;

use http::request::Parts;
use rmcp::handler::server::tool::{ToolCallContext, ToolRoute, ToolRouter};
use rmcp::model::{CallToolResponse, ProgressNotificationParam, Tool};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, Receiver};
use toolwright::wire::{needs_result_wrapper, wrap_output_schema};
use toolwright::{
    Bridge, BridgeError, CallEvent, CallScope, Caller, ExportedTool, ExportedTools, Hints, ToolCall,
};

use crate::approve::{ClientApprover, supports_elicitation_during_call};
use crate::result;

/// Adds an invoker's tools to the router of a server, next to the server's own.
///
/// `ToolRouter + ToolRouter` would let one of two tools with the same name vanish; this does not.
///
/// # Errors
///
/// When a name is taken by a tool of the server's own, or the tools cannot be offered.
///
/// # Examples
///
/// ```
/// use rmcp::handler::server::tool::ToolRouter;
/// use toolwright::{Invoker, Registry, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// struct Desk {
///     tools: ToolRouter<Self>,
/// }
///
/// let registry = Registry::new();
/// registry.add(add::tool())?;
/// let invoker = Invoker::new(&registry)?;
/// // Where the server has tools of its own: `Self::tool_router()`, which `#[tool_router]` makes.
/// let desk = Desk { tools: toolwright_rmcp::tools(ToolRouter::new(), &invoker)? };
/// assert!(desk.tools.has_route("add"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn tools<S: Send + Sync + 'static>(
    mut own: ToolRouter<S>,
    bridge: impl Into<Bridge>,
) -> Result<ToolRouter<S>, BridgeError> {
    let offer = bridge.into().export()?;
    for tool in offer.tools() {
        if own.map.contains_key(tool.name.as_str()) {
            let reason = "the server has a tool of this name";
            return Err(BridgeError::rejected(&tool.name, reason));
        }
        let offer = offer.clone();
        let wraps = tool.registered_tool.spec().output.as_ref().is_some_and(needs_result_wrapper);
        own.add_route(ToolRoute::new_dyn(to_rmcp_tool(tool)?, move |cx| {
            Box::pin(call_tool(offer.clone(), wraps, cx))
        }));
    }
    Ok(own)
}

/// Converts a tool to MCP's definition of one.
fn to_rmcp_tool(tool: &ExportedTool) -> Result<Tool, BridgeError> {
    let spec = tool.registered_tool.spec();
    let definition = json!({
        "name": tool.name,
        "title": spec.title,
        "description": tool.description,
        "inputSchema": tool.schema,
        "outputSchema": spec.output.as_ref().map(wrap_output_schema),
        "annotations": (spec.hints != Hints::default()).then_some(spec.hints),
        "icons": spec.icon.as_ref().map(|icon| json!([{ "src": icon }])),
    });
    serde_json::from_value(definition).map_err(|error| BridgeError::rejected(&tool.name, error))
}

async fn call_tool<S>(
    offer: ExportedTools,
    wraps: bool,
    mut cx: ToolCallContext<'_, S>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = Value::Object(cx.arguments.take().unwrap_or_default());
    let request = &cx.request_context;
    // What is more than a slow client has time for is dropped.
    let (sender, events) = mpsc::channel(64);
    // Weak, because a tool may keep what it reports with for longer than its call.
    let listener = sender.downgrade();
    let scope = call_scope(offer.scope(), request).on_event(move |event| {
        if let Some(sender) = listener.upgrade() {
            let _ = sender.try_send(event);
        }
    });
    let call = offer.lift_in(&scope, ToolCall::new(&*cx.name, arguments));
    let mut invoker = offer.invoker().clone();
    if !invoker.has_approver()
        && let Some(pending) = invoker.pending_call(&scope, &call)
    {
        match ClientApprover::from_request(&cx, &pending.request()) {
            Ok(person) => invoker = invoker.with_approver(person),
            Err(question) => return Ok((*question).into()),
        }
    }
    let running = async {
        let result = invoker.invoke_in(&scope, &call).await;
        drop(sender);
        result
    };
    let (result, ()) = tokio::join!(running, forward_progress(request, events));
    result::to_call_tool_response(&result, wraps)
}

/// Adds the caller and session of the request and of the layers around the server to the scope.
fn call_scope(mut scope: CallScope, request: &RequestContext<RoleServer>) -> CallScope {
    let parts = request.extensions.get::<Parts>();
    let caller = request.extensions.get::<Caller>();
    if let Some(caller) = caller.or_else(|| parts?.extensions.get()) {
        scope = scope.caller(caller.clone());
    }
    // Without sessions, the header is anybody's word.
    let parts = parts.filter(|_| supports_elicitation_during_call(request));
    if let Some(session) = parts.and_then(|it| it.headers.get("mcp-session-id")?.to_str().ok()) {
        scope = scope.session(session);
    }
    scope.cancel_on(request.ct.clone()).extension(Arc::new(request.peer.clone()))
}

/// Sends the client every progress event in order; MCP wants each number to be greater than the last.
async fn forward_progress(request: &RequestContext<RoleServer>, mut events: Receiver<CallEvent>) {
    let mut last = -1.0;
    while let Some(event) = events.recv().await {
        if let CallEvent::Progress { done, total, message, .. } = event
            && let Some(token) = request.meta.get_progress_token()
            && let next = done.unwrap_or(last + 1.0)
            && (next > last && next.is_finite())
        {
            last = next;
            let mut step = ProgressNotificationParam::new(token, next);
            (step.total, step.message) = (total, message);
            let _ = request.peer.notify_progress(step).await;
        }
    }
}
