//! Rig's tools as ours.

use rig::completion::ToolDefinition;
use rig::tool::{DynamicTool, RegisteredTool, ToolContext, tool_definition};
use serde_json::Value;
use toolwright::{Args, DefineError, HandlerContext, Tool, ToolResult};

use crate::result::from_rig_result;
use crate::tools::{CallerName, SessionName};

/// Makes a tool of a dynamic one of rig's.
///
/// # Errors
///
/// When its name or schema is none.
pub fn from_rig(tool: DynamicTool) -> Result<Tool, DefineError> {
    import_tool(tool.definition(), RegisteredTool::from_dynamic(tool))
}

/// Makes a tool of a typed one of rig's: a `#[rig_tool]` function, or a type that implements `Tool`.
///
/// # Errors
///
/// When its name or schema is none.
pub fn from_rig_tool(tool: impl rig::tool::Tool + 'static) -> Result<Tool, DefineError> {
    import_tool(tool_definition(&tool), RegisteredTool::from_tool(tool))
}

fn import_tool(shown: ToolDefinition, tool: RegisteredTool) -> Result<Tool, DefineError> {
    let builder = Tool::import(shown.name.as_str(), shown.description, shown.parameters)?;
    builder.run_async(move |arguments: Args, cx: HandlerContext| {
        let tool = tool.clone();
        async move { run_rig_tool(&tool, arguments, &cx).await.map_err(|error| error.to_string()) }
    })
}

async fn run_rig_tool(
    tool: &RegisteredTool,
    arguments: Args,
    cx: &HandlerContext,
) -> Result<ToolResult, rig::tool::ToolContextError> {
    let mut context = ToolContext::new();
    context.insert(SessionName(cx.session().to_string()))?;
    if let Some(name) = cx.caller().name() {
        context.insert(CallerName(name.to_owned()))?;
    }
    let arguments = Value::Object(arguments.into_map()).to_string();
    Ok(from_rig_result(&tool.execute(arguments, &mut context).await))
}
