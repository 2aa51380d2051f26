//! Wraps exported tools as rig's `DynamicTool`s; the caller in a run's `ToolContext` is passed to them.

use rig::message::ToolName;
use rig::tool::{ContextValue, DynamicTool, ToolContext, ToolContextError, ToolExecutionError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright::{
    Bridge, BridgeError, CallScope, Caller, ExportedTool, ExportedTools, ToolCall,
    ToolName as CalledName,
};

use crate::result::to_tool_output;

/// On whose behalf a run calls tools: a slot of rig's `ToolContext`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallerName(pub String);

impl ContextValue for CallerName {
    const KEY: &'static str = "toolwright.caller";
}

/// Which session a run's calls belong to: a slot of rig's `ToolContext`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionName(pub String);

impl ContextValue for SessionName {
    const KEY: &'static str = "toolwright.session";
}

/// Makes rig's tools of an invoker's, for `AgentBuilder::dynamic_tools`.
///
/// # Errors
///
/// When the tools cannot be listed, or one of them cannot be offered.
pub fn tools(bridge: impl Into<Bridge>) -> Result<Vec<DynamicTool>, BridgeError> {
    let offer = bridge.into().export()?;
    let tools = offer.tools().iter().map(|tool| to_dynamic_tool(&offer, tool));
    tools.collect()
}

fn to_dynamic_tool(offer: &ExportedTools, tool: &ExportedTool) -> Result<DynamicTool, BridgeError> {
    let name = ToolName::new(&*tool.name);
    let name = name.map_err(|error| BridgeError::rejected(&tool.name, error))?;
    let known = (offer.clone(), CalledName::from(&*tool.name));
    let run = move |context: &ToolContext, arguments: Value| {
        let (offer, name) = known.clone();
        // Whose call it is must not be guessed: a slot that cannot be read is a failure.
        let scope = call_scope(&offer, context).map_err(ToolExecutionError::from_error);
        let call = ToolCall::new(name, arguments);
        async move { to_tool_output(&offer.invoke_in(&scope?, call).await) }
    };
    Ok(DynamicTool::new_with_context(
        name,
        &*tool.description,
        tool.schema.clone(),
        move |context, arguments| Box::pin(run(context, arguments)),
    ))
}

/// Sets the caller and session from the run's context.
fn call_scope(offer: &ExportedTools, context: &ToolContext) -> Result<CallScope, ToolContextError> {
    let mut scope = offer.scope();
    if let Some(CallerName(name)) = context.get()? {
        scope = scope.caller(Caller::new(name));
    }
    if let Some(SessionName(name)) = context.get()? {
        scope = scope.session(name);
    }
    Ok(scope)
}
