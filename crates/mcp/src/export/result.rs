//! A tool's result in, the result of `tools/call` out.

use toolwright_core::ToolResult;

use super::content;
use crate::server::Revision;

/// Writes the result; `declares_other` tells whether the tool's output schema is not of an object, `tail` is what every result of the revision ends with.
pub(crate) fn write_tool_result(
    body: &mut Vec<u8>,
    result: &ToolResult,
    declares_other: impl FnOnce() -> bool,
    revision: Revision,
    tail: &str,
) {
    body.extend_from_slice(br#"{"content":["#);
    for (index, item) in result.content.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        content::write_content(body, item, revision);
    }
    body.push(b']');
    if let Some(structured) = result
        .structured
        .as_ref()
        .filter(|_| revision.has_structured_content())
    {
        let text = structured.as_str();
        let wrap = revision.requires_object_output()
            && (!text.trim_start().starts_with('{') || declares_other());
        body.extend_from_slice(br#","structuredContent":"#);
        if wrap {
            body.extend_from_slice(br#"{"result":"#);
        }
        body.extend_from_slice(text.as_bytes());
        if wrap {
            body.push(b'}');
        }
    }
    if result.is_error() {
        body.extend_from_slice(br#","isError":true"#);
    }
    body.extend_from_slice(tail.as_bytes());
    body.push(b'}');
}
