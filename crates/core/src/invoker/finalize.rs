//! Prepares a result for the model: error policy, placeholders, structured content, size limit.

use std::sync::Arc;

use serde_json::Value;
use toolwright_schema::{InputLimits, Schema, Tape};

use crate::call::content::Content;
use crate::call::context::CallContext;
use crate::call::result::{Outcome, StructuredContent, ToolResult, UntruncatedOutput};
use crate::error::ErrorKind;
use crate::registry::RegisteredTool;
use crate::tool::policy::ErrorPolicy;

mod placeholders;

use placeholders::expand_placeholders;

/// Applies the error policy to a failure; fills in placeholders and structured content of a success.
pub(super) fn finalize(
    result: &mut ToolResult,
    tool: &RegisteredTool,
    arguments: Option<&Value>,
    cx: &CallContext<'_>,
) {
    if result.is_error() {
        let ran = matches!(result.outcome, Outcome::Failed | Outcome::TimedOut);
        match tool.policy.errors {
            ErrorPolicy::Generic if result.outcome == Outcome::Failed => hide_error(result),
            ErrorPolicy::End if ran => result.error = Some(ErrorKind::Fatal),
            _ => {}
        }
        return;
    }
    if result.structured.is_some() {
        return;
    }
    if tool.policy.expand_result {
        expand_placeholders(result, tool, arguments, cx);
    }
    if let Some(output) = &tool.tool.0.spec.output {
        result.structured = infer_structured(&result.content, output);
    }
}

/// Replaces the message by a generic one; the cause keeps it for the host.
#[cold]
fn hide_error(result: &mut ToolResult) {
    let message = HiddenMessage(result.text().into_owned());
    result.cause.get_or_insert_with(|| Arc::new(message));
    result.content = vec![Content::text("the tool failed")];
    result.structured = None;
}

/// The error message of a failed tool that the model must not read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct HiddenMessage(String);

/// Makes the structured content of a tool with an output schema that returned none: from JSON text, else
/// plain text, else a list of texts, whichever matches the schema.
fn infer_structured(content: &[Content], output: &Schema) -> Option<StructuredContent> {
    const UNLIMITED: InputLimits = InputLimits { bytes: usize::MAX, depth: usize::MAX };
    let is_valid = |value: &Value| output.is_valid(Tape::from_value(value).root_lenient());
    if let [Content::Text { text }] = content {
        let json = Tape::parse(text, &UNLIMITED);
        if json.is_ok_and(|tape| output.is_valid(tape.root_lenient())) {
            return Some(StructuredContent::from_json_text(text));
        }
        let plain = Value::from(text.as_str());
        if is_valid(&plain) {
            return Some(plain.into());
        }
    }
    let text = |item: &Content| match item {
        Content::Text { text } => Some(Value::from(text.as_str())),
        _ => None,
    };
    let texts: Option<Value> = content.iter().map(text).collect();
    texts.filter(is_valid).map(StructuredContent::from)
}

/// Truncates a result that is larger than `limit` bytes.
pub(super) fn enforce_output_limit(result: &mut ToolResult, limit: usize) {
    let content: usize = result.content.iter().map(Content::len).sum();
    let structured = result.structured.as_ref();
    let size = content.max(structured.map_or(0, |json| json.as_str().len()));
    if size > limit {
        truncate(result, size, limit);
    }
}

/// Moves the whole output to `untruncated` and leaves a preview in `content`.
#[cold]
fn truncate(result: &mut ToolResult, size: usize, limit: usize) {
    let untruncated = UntruncatedOutput {
        content: std::mem::take(&mut result.content),
        structured: result.structured.take(),
    };
    let mut remaining = limit;
    for item in &untruncated.content {
        match item {
            item if item.len() <= remaining => {
                remaining -= item.len();
                result.content.push(item.clone());
            }
            Content::Text { text } if remaining > 0 => {
                let (preview, _) = text.split_at(text.floor_char_boundary(remaining));
                result.content.push(Content::text(preview));
                remaining = 0;
            }
            // Part of an image is of no use.
            _ => {}
        }
    }
    let note = format!("[cut: {size} bytes are more than the {limit} that are sent]");
    result.content.push(Content::text(&*note));
    result.notes.push(note);
    result.untruncated = Some(Arc::new(untruncated));
}
