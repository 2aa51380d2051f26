//! OpenAI's Chat Completions, and the vendors that imitate it.
//!
//! The vendors differ in details, which are rows of [`Quirks`]. A response is one message: its items are the message's fields,
//! and the raw JSON of an item is the field as it is replayed. The protocol has no hosted tools.

use std::sync::Arc;

use toolwright_chat::{ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Shape, ToolPlan};

use self::quirks::ResponseFormatSupport;
use crate::protocol::custom_call;
use crate::protocol::json::JsonObject;
use crate::protocol::response_format::strict_if_lossless;
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

/// The key under which the API's raw JSON is stored with an item.
const NAME: &str = "openai_chat";

/// Chat Completions, as one vendor implements it.
#[derive(Debug)]
pub(crate) struct OpenAiChat {
    /// The vendor's name, compared with that of a replayed step's model.
    pub(crate) vendor: &'static str,
    /// The vendor's deviations.
    pub(crate) quirks: Quirks,
}

impl Protocol for OpenAiChat {
    fn dialect(&self) -> Dialect {
        self.quirks.dialect
    }

    fn tool_shape(&self) -> Shape {
        Shape::OpenAiChat
    }

    fn path(&self, _: &str, _: bool) -> String {
        "/chat/completions".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
        request::request_body(self, request, tools, model)
    }

    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect> {
        match self.quirks.response_format {
            ResponseFormatSupport::JsonSchema => strict_if_lossless(schema, self.quirks.dialect),
            ResponseFormatSupport::JsonObject => None,
        }
    }

    fn supports_custom_tools(&self, model: &str) -> bool {
        self.quirks.has_custom_tools && custom_call::is_supported(model)
    }

    fn parse_error(&self, status: u16, body: &str) -> ModelError {
        error::parse_error_body(status, body)
    }

    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser> {
        Box::new(stream::StreamParser::new(tools))
    }
}
