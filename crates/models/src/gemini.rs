//! Gemini's `streamGenerateContent`: contents made of parts in, chunks of more parts out.
//!
//! Every part may carry a signature of what the model thought, and wants it back at the same place. So one part is one item, and
//! only plain text that goes on from chunk to chunk is put together.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_chat::{HostedTool, ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Plan, Shape};

use crate::protocol::{Protocol, Reader};

mod content;
mod error;
mod item;
mod request;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

/// The Gemini API.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gemini;

impl Protocol for Gemini {
    const NAME: &'static str = "gemini";

    fn dialect(&self) -> Dialect {
        Dialect::GEMINI
    }

    fn shape(&self) -> Shape {
        Shape::Gemini
    }

    fn path(&self, model: &str) -> String {
        format!("{}:streamGenerateContent?alt=sse", resource(model))
    }

    fn whole_path(&self, model: &str) -> String {
        format!("{}:generateContent", resource(model))
    }

    fn body(&self, request: &ModelRequest, tools: &Plan, model: &str) -> Map<String, Value> {
        request::body(request, tools, model)
    }

    // The path alone says it here.
    fn unstream(&self, _: &mut Map<String, Value>) {}

    fn answer_dialect(&self, schema: &Schema) -> Option<Dialect> {
        request::answer_dialect(schema)
    }

    fn hosts(&self, hosted: &HostedTool) -> bool {
        matches!(hosted, HostedTool::WebSearch(_))
    }

    fn error(&self, status: u16, body: &str) -> ModelError {
        error::error(status, body)
    }

    fn reader(&self, tools: Arc<Plan>) -> Box<dyn Reader> {
        Box::new(stream::Answer::new(tools))
    }
}

/// Where a model is; a name may say its collection itself.
fn resource(model: &str) -> String {
    let named = ["models/", "tunedModels/"]
        .iter()
        .any(|name| model.starts_with(name));
    let collection = if named { "" } else { "models/" };
    format!("/v1beta/{collection}{}", escaped(model))
}

/// A model's name as part of an address, which it cannot leave.
fn escaped(model: &str) -> String {
    let mut out = String::with_capacity(model.len());
    let steps = model.split('/');
    for step in steps.filter(|step| !matches!(*step, "" | "." | "..")) {
        if !out.is_empty() {
            out.push('/');
        }
        for byte in step.bytes() {
            match byte {
                b'-' | b'.' | b'_' | b'~' | b'@' => out.push(char::from(byte)),
                _ if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
                _ => out.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    out
}

/// What a model can do, as far as it decides how a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Generation {
    /// Thinks within a budget of tokens.
    Budget,
    /// Thinks on a level, refuses calls without a signature, and sees pictures in results.
    Level,
    /// Neither is known of it.
    Plain,
}

impl Generation {
    fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        match name.strip_prefix("gemini-") {
            Some(version) if version.starts_with("2.5") => Self::Budget,
            Some(version) if version.starts_with(['1', '2']) => Self::Plain,
            Some(_) => Self::Level,
            None => Self::Plain,
        }
    }
}
