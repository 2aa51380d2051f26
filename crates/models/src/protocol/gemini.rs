//! Gemini's `streamGenerateContent`.
//!
//! Messages and responses consist of parts. A part may have a signature of the model's reasoning, and must be replayed with it
//! at the same position. So one part is one item; only plain text that continues from chunk to chunk is joined.

use std::sync::Arc;

use toolwright_chat::{HostedTool, ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;

use crate::protocol::json::JsonObject;
use crate::protocol::{Protocol, ResponseParser};

mod content;
mod error;
mod item;
mod request;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

/// The key under which the API's raw JSON is stored with an item.
const NAME: &str = "gemini";

/// The Gemini API.
#[derive(Debug)]
pub(crate) struct Gemini;

impl Protocol for Gemini {
    fn dialect(&self) -> Dialect {
        Dialect::GEMINI
    }

    fn path(&self, model: &str, streaming: bool) -> String {
        let method = if streaming { "streamGenerateContent?alt=sse" } else { "generateContent" };
        format!("{}:{method}", model_path(model))
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
        request::request_body(request, tools, model)
    }

    // Only the path decides.
    fn disable_streaming(&self, _: &mut JsonObject) {}

    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect> {
        schema.lower(Dialect::GEMINI).ok()?;
        Some(Dialect::GEMINI)
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        matches!(hosted, HostedTool::WebSearch(_))
    }

    fn parse_error(&self, status: u16, body: &str) -> ModelError {
        error::parse_error_body(status, body)
    }

    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser> {
        Box::new(stream::StreamParser::new(tools))
    }
}

/// The path of a model, whose name may include its collection.
fn model_path(model: &str) -> String {
    let has_collection = ["models/", "tunedModels/"].iter().any(|name| model.starts_with(name));
    let collection = if has_collection { "" } else { "models/" };
    format!("/v1beta/{collection}{}", escape_path(model))
}

/// Escapes a model's name, so that it cannot change the rest of the path.
fn escape_path(model: &str) -> String {
    let mut out = String::with_capacity(model.len());
    let segments = model.split('/');
    for segment in segments.filter(|segment| !matches!(*segment, "" | "." | "..")) {
        if !out.is_empty() {
            out.push('/');
        }
        for byte in segment.bytes() {
            match byte {
                b'-' | b'.' | b'_' | b'~' | b'@' => out.push(char::from(byte)),
                _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
                _ => out.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    out
}

/// The features of a model that decide how a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ModelGeneration {
    /// Has a `thinkingBudget` in tokens.
    ThinkingBudget,
    /// Has a `thinkingLevel`, rejects calls without a signature, and accepts images in results.
    ThinkingLevel,
    /// Has neither, or is unknown.
    WithoutThinking,
}

impl ModelGeneration {
    fn for_model(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        match name.strip_prefix("gemini-") {
            Some(version) if version.starts_with("2.5") => Self::ThinkingBudget,
            Some(version) if version.starts_with(['1', '2']) => Self::WithoutThinking,
            Some(_) => Self::ThinkingLevel,
            None => Self::WithoutThinking,
        }
    }
}
