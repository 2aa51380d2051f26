//! Ollama's own `/api/chat`: messages in, lines of JSON with more of one message out.
//!
//! Neither the ids nor the numbers of calls can be relied on, so every call in a line is one of its own, and whole.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_chat::{ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Shape, ToolPlan};

use crate::framing::Framing;
use crate::protocol::{Protocol, ResponseParser};

mod content;
mod error;
mod request;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

/// Ollama's API.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ollama;

impl Protocol for Ollama {
    const NAME: &'static str = "ollama";

    fn dialect(&self) -> Dialect {
        Dialect::OLLAMA
    }

    fn tool_shape(&self) -> Shape {
        Shape::Ollama
    }

    fn path(&self, _: &str) -> String {
        "/api/chat".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> Map<String, Value> {
        request::request_body(request, tools, model)
    }

    // An answer's form is lowered only where nothing has to be lifted back.
    fn response_format_dialect(&self, _: &Schema) -> Option<Dialect> {
        None
    }

    fn framing(&self) -> Framing {
        Framing::JsonLines
    }

    fn parse_error(&self, status: u16, body: &str) -> ModelError {
        error::parse_error_body(status, body)
    }

    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser> {
        Box::new(stream::StreamParser::new(tools))
    }
}
