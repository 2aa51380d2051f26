//! A result in, what adk's agent makes a function response of out.

use adk_core::{
    AdkError, ErrorCategory, ErrorComponent, MAX_INLINE_DATA_SIZE, Result, ToolContext,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use toolwright::{Content, ErrorKind, Outcome, RegisteredTool, ToolResult};

/// Returns what adk takes, and has the run end where the result wants it.
pub(crate) fn to_adk_response(
    result: &ToolResult,
    tool: &RegisteredTool,
    cx: &dyn ToolContext,
) -> Result<Value> {
    let mut actions = cx.actions();
    actions.skip_summarization |= tool.policy().return_direct && !result.is_error();
    actions.escalate |= result.error == Some(ErrorKind::Fatal);
    cx.set_actions(actions);
    let category = match (result.error, result.outcome) {
        (None, _) => return Ok(success_value(result)),
        (Some(ErrorKind::Retry), _) => ErrorCategory::InvalidInput,
        (_, Outcome::Denied) => ErrorCategory::Forbidden,
        (_, Outcome::Cancelled) => ErrorCategory::Cancelled,
        // adk takes it for one that may run again.
        (_, Outcome::TimedOut) if tool.spec().hints.is_repeatable() => ErrorCategory::Timeout,
        _ => ErrorCategory::Internal,
    };
    let (component, code) = (ErrorComponent::Tool, "toolwright.failed");
    Err(AdkError::new(component, category, code, result.to_text()))
}

fn success_value(result: &ToolResult) -> Value {
    let (mut images, mut words) = (Vec::new(), Vec::new());
    for item in &result.content {
        match image_value(item) {
            Some(image) => images.push(image),
            None => words.push(item.to_text()),
        }
    }
    let structured = result.structured.as_ref().map(|value| value.to_value());
    let response = structured.unwrap_or_else(|| words.join("\n").into());
    // An object with a list of that name is what adk takes for such an envelope.
    let mistaken = ["inline_data", "file_data"].map(|key| response.get(key).is_some());
    match images.is_empty() {
        true if mistaken.contains(&true) => response.to_string().into(),
        true => response,
        false => json!({"response": response, "inline_data": images}),
    }
}

/// Images are what adk's clients hand on to models; other content becomes text.
fn image_value(item: &Content) -> Option<Value> {
    let Content::Image { data, mime_type } = item else { return None };
    let data = STANDARD.decode(data).ok()?;
    let fits = data.len() <= MAX_INLINE_DATA_SIZE;
    fits.then(|| json!({"mime_type": mime_type, "data": data}))
}
