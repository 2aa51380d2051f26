//! What the tool returned in, what the model may read out: encoded, redacted, cut to size.

use std::sync::Arc;

use serde_json::Value;

use super::arguments::argument_text;
use crate::content::Content;
use crate::context::CallContext;
use crate::options::Errors;
use crate::result::{Full, Outcome, Structured, ToolResult};
use crate::template::Template;
use crate::tool::Tool;

/// Makes a raw result fit to be sent.
pub(super) fn finish(
    mut result: ToolResult,
    tool: &Tool,
    arguments: Option<&Value>,
    cx: &CallContext<'_>,
    limit: usize,
) -> ToolResult {
    let options = &tool.0.options;
    if result.outcome == Outcome::Failed && options.errors == Errors::Generic {
        result.content = vec![Content::text("the tool failed")];
        result.structured = None;
    }
    if options.expand_result && !result.is_error() {
        expand(&mut result, arguments, cx);
    }
    if result.structured.is_none() && tool.0.spec.output.is_some() && !result.is_error() {
        result.structured = structured(&result.content);
    }
    let whole: usize = result.content.iter().map(Content::len).sum();
    let structured = result
        .structured
        .as_ref()
        .map_or(0, |json| json.as_str().len());
    if whole > limit || structured > limit {
        cut(&mut result, whole.max(structured), limit);
    }
    result
}

/// Fills placeholders in text with the arguments, because the tool's author asked for it.
fn expand(result: &mut ToolResult, arguments: Option<&Value>, cx: &CallContext<'_>) {
    let Some(Value::Object(arguments)) = arguments else {
        return;
    };
    for item in &mut result.content {
        if let Content::Text { text } = item {
            *text = Template::parse(text).expand(|name| argument_text(name, arguments, cx));
        }
    }
}

/// Reads the one text of a tool that declares an output but returned plain JSON text.
fn structured(content: &[Content]) -> Option<Structured> {
    match content {
        [Content::Text { text }] => {
            serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
            Some(Structured::from_serialized(text))
        }
        _ => None,
    }
}

/// Keeps the whole for the host, and leaves the model as much as fits.
#[cold]
fn cut(result: &mut ToolResult, whole: usize, limit: usize) {
    let full = Full {
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
            Content::Text { text } => {
                let end = text.floor_char_boundary(left);
                let (preview, _) = text.split_at(end);
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
    result.full = Some(Arc::new(full));
}
