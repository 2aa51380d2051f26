//! A [`ToolResult`] in, the result of `tools/call` out.

use toolwright_core::ToolResult;

use super::content;
use crate::server::Revision;

/// Writes the result; `needs_wrapper` returns true if the tool's output schema is not that of an object, `suffix` is the last
/// fields of every result.
pub(crate) fn write_tool_result(
    body: &mut Vec<u8>,
    result: &ToolResult,
    needs_wrapper: impl FnOnce() -> bool,
    revision: Revision,
    suffix: &str,
) {
    body.extend_from_slice(br#"{"content":["#);
    for (index, item) in result.content.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        content::write_content(body, item, revision);
    }
    body.push(b']');
    if let Some(structured) =
        result.structured.as_ref().filter(|_| revision.has_structured_content())
    {
        let text = structured.as_str();
        let wrap = revision.requires_object_output()
            && (!text.trim_start().starts_with('{') || needs_wrapper());
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
    body.extend_from_slice(suffix.as_bytes());
    body.push(b'}');
}
