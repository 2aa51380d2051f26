//! OpenAI's Chat Completions and all that imitate it: ModelRequest in, one JSON body out; chunks in, ModelEvents out.
//!
//! The vendors that speak it differ in small things, and each is a row of [`Quirks`]. An answer is one message here: its items
//! are the message's fields, and the raw part of an item is the field as it goes back. Nothing is hosted in this protocol.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_chat::{ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Shape, ToolPlan};

use crate::protocol::{Protocol, ResponseParser};

mod error;
mod merge_delta;
mod quirks;
mod request;
mod stream;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use self::quirks::Quirks;

/// Chat Completions, as one vendor speaks it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenAiChat {
    /// The vendor, as steps name who made them.
    pub(crate) vendor: &'static str,
    /// The dialect of the vendor's schemas.
    pub(crate) dialect: Dialect,
    /// In what the vendor differs.
    pub(crate) quirks: Quirks,
}

impl Protocol for OpenAiChat {
    const NAME: &'static str = "openai_chat";

    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn tool_shape(&self) -> Shape {
        Shape::OpenAiChat
    }

    fn path(&self, _: &str) -> String {
        "/chat/completions".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> Map<String, Value> {
        request::request_body(self, request, tools, model)
    }

    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect> {
        request::response_format_dialect(self, schema)
    }

    fn parse_error(&self, status: u16, body: &str) -> ModelError {
        error::parse_error_body(status, body)
    }

    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser> {
        Box::new(stream::StreamParser::new(tools))
    }
}
