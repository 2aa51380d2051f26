//! What the tool returned in, what the model may read out: encoded, redacted, cut to size.

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

/// Makes what a tool returned fit to be read.
pub(super) fn finalize(
    mut result: ToolResult,
    entry: &RegisteredTool,
    arguments: Option<&Value>,
    cx: &CallContext<'_>,
) -> ToolResult {
    let tool = &entry.tool.0;
    if result.is_error() {
        let ran = matches!(result.outcome, Outcome::Failed | Outcome::TimedOut);
        match entry.policy.errors {
            ErrorPolicy::Generic if result.outcome == Outcome::Failed => hide_error(&mut result),
            ErrorPolicy::End if ran => result.error = Some(ErrorKind::Fatal),
            _ => {}
        }
        return result;
    }
    if result.structured.is_some() {
        return result;
    }
    if entry.policy.expand_result {
        expand_placeholders(&mut result, entry, arguments, cx);
    }
    if let Some(output) = &tool.spec.output {
        result.structured = infer_structured(&result.content, output);
    }
    result
}

/// Keeps what went wrong for the host alone.
#[cold]
fn hide_error(result: &mut ToolResult) {
    let said = HiddenMessage(result.text().into_owned());
    result.cause.get_or_insert_with(|| Arc::new(said));
    result.content = vec![Content::text("the tool failed")];
    result.structured = None;
}

/// What a failed tool would have told the model.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct HiddenMessage(String);

/// Finds the structured form of content that its tool declares an output for, but did not give one:
/// JSON text, else plain text, else a list of texts.
fn infer_structured(content: &[Content], output: &Schema) -> Option<StructuredContent> {
    const ANY: InputLimits = InputLimits {
        bytes: usize::MAX,
        depth: usize::MAX,
    };
    let fits = |value: &Value| output.is_valid(Tape::from_value(value).root_lenient());
    if let [Content::Text { text }] = content {
        let json = Tape::parse(text, &ANY);
        if json.is_ok_and(|tape| output.is_valid(tape.root_lenient())) {
            return Some(StructuredContent::from_json_text(text));
        }
        let plain = Value::from(text.as_str());
        if fits(&plain) {
            return Some(plain.into());
        }
    }
    let text = |item: &Content| match item {
        Content::Text { text } => Some(Value::from(text.as_str())),
        _ => None,
    };
    let texts: Option<Value> = content.iter().map(text).collect();
    texts.filter(fits).map(StructuredContent::from)
}

/// Cuts a result that is too large to send.
pub(super) fn enforce_output_limit(result: &mut ToolResult, limit: usize) {
    let content: usize = result.content.iter().map(Content::len).sum();
    let structured = result.structured.as_ref();
    let whole = content.max(structured.map_or(0, |json| json.as_str().len()));
    if whole > limit {
        truncate(result, whole, limit);
    }
}

/// Keeps the whole for the host, and leaves the model as much as fits.
#[cold]
fn truncate(result: &mut ToolResult, whole: usize, limit: usize) {
    let full = UntruncatedOutput {
        content: std::mem::take(&mut result.content),
        structured: result.structured.take(),
    };
    let mut left = limit;
    for item in &full.content {
        match item {
            item if item.len() <= left => {
                left -= item.len();
                result.content.push(item.clone());
            }
            Content::Text { text } if left > 0 => {
                let (preview, _) = text.split_at(text.floor_char_boundary(left));
                result.content.push(Content::text(preview));
                left = 0;
            }
            // Half a picture is none.
            _ => {}
        }
    }
    let note = format!("[cut: {whole} bytes are more than the {limit} that are sent]");
    result.content.push(Content::text(&*note));
    result.notes.push(note);
    result.untruncated = Some(Arc::new(full));
}
