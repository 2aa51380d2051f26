//! A tool's result in, the result of `tools/call` out.
//!
//! MCP marks a failure, and no more: whether trying again may help is in the words. One that ends the turn is an error of the
//! protocol, as in Toolwright's own server, so that no model reads it and goes on.
//!
//! Structured results that are not objects are wrapped as `{"result": …}`: revisions before 2026-07-28 want objects, and a
//! router has one definition for all revisions.

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::json;
use toolwright::{Content, ErrorKind, ToolResult};

/// Writes a result; `wraps` is true if the tool's output schema is wrapped.
pub(crate) fn to_call_tool_response(
    result: &ToolResult,
    wraps: bool,
) -> Result<CallToolResponse, ErrorData> {
    if result.error == Some(ErrorKind::Fatal) {
        return Err(ErrorData::internal_error(result.text().into_owned(), None));
    }
    let content = result.content.iter().map(|item| match item {
        Content::Text { text } => ContentBlock::text(text),
        // It is in MCP's own shape; content that rmcp does not know becomes text.
        item => serde_json::to_value(item)
            .and_then(serde_json::from_value)
            .unwrap_or_else(|_| ContentBlock::text(item.to_text())),
    });
    let mut answer = CallToolResult::success(content.collect());
    answer.is_error = Some(result.is_error());
    let structured = result.structured.as_ref().map(|it| it.to_value());
    answer.structured_content = structured.map(|value| match wraps || !value.is_object() {
        true => json!({ "result": value }),
        false => value,
    });
    Ok(answer.into())
}
