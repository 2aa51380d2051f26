//! One of swiftide's tools in, a tool for a registry out.

use std::sync::Arc;

use serde_json::{Value, json};
use swiftide_core::AgentContext;
use swiftide_core::chat_completion::errors::ToolError as SwiftideError;
use swiftide_core::chat_completion::{ToolCall, ToolOutput};
use toolwright::schemars::Schema;
use toolwright::{Args, DefineError, ErrorKind, Outcome, Tool, ToolError, ToolResult};

/// Takes a tool of swiftide's into Toolwright, to run in `context`: the agent's own, a `DefaultContext`, or `()`.
///
/// Choose with care: `()` has no executor, and approves every tool that asks for feedback.
///
/// # Errors
///
/// When its name or schema is none.
pub fn from_swiftide(
    tool: impl Into<Box<dyn swiftide_core::Tool>>,
    context: impl AgentContext + 'static,
) -> Result<Tool, DefineError> {
    let tool: Arc<dyn swiftide_core::Tool> = Arc::from(tool.into());
    let context = Arc::new(context);
    let spec = tool.tool_spec();
    let schema = spec.parameters_schema.map(Schema::to_value);
    let schema = schema.unwrap_or_else(|| json!({"type": "object"}));
    Tool::import(spec.name, spec.description, schema)?.run_async(move |args: Args, cx| {
        let (tool, context) = (Arc::clone(&tool), Arc::clone(&context));
        async move {
            let call = ToolCall::builder()
                .id(cx.info().id.as_str())
                .name(tool.name())
                .args(Value::Object(args.into_map()).to_string())
                .build()?;
            from_tool_output(tool.invoke(&*context, &call).await)
        }
    })
}

/// Reads what swiftide's agent would do next, and what its model would read.
fn from_tool_output(output: Result<ToolOutput, SwiftideError>) -> Result<ToolResult, ToolError> {
    match output {
        Ok(ToolOutput::Text(text)) => Ok(ToolResult::success(text)),
        Ok(ToolOutput::Stop(value)) => Ok(ToolResult::success(value_to_text(value, "done"))),
        Ok(ToolOutput::AgentFailed(value)) => {
            Err(ToolError::fatal(value_to_text(value, "it failed")))
        }
        Ok(ToolOutput::FeedbackRequired(_)) => Ok(ToolResult::from_outcome(
            Outcome::Denied,
            ErrorKind::Failed,
            "the call was denied: it needs feedback, and there is nobody to ask",
        )),
        Ok(other) => Err(ToolError::failed(other.content().unwrap_or("it failed"))),
        // swiftide sends any error to its model, and counts them.
        Err(error) => Err(ToolError::retry(error.to_string())),
    }
}

fn value_to_text(value: Option<Value>, otherwise: &str) -> String {
    match value {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => otherwise.to_owned(),
    }
}
