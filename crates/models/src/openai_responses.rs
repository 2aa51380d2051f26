//! OpenAI's Responses: input items out, one request per step with nothing kept at the vendor; output items in, each whole.
//!
//! `store` is off, so that a conversation lives here and nowhere else. What the model needs to hear again, its encrypted
//! reasoning included, therefore travels with each request, item by item as it came.

mod error;
mod input;
mod item;
mod open;
mod request;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_chat::{HostedTool, ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Plan, Shape};

use crate::protocol::{Protocol, Reader};

/// The Responses protocol, as OpenAI speaks it and others after it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenAiResponses;

impl Protocol for OpenAiResponses {
    const NAME: &'static str = "openai_responses";

    fn dialect(&self) -> Dialect {
        Dialect::OPENAI
    }

    fn shape(&self) -> Shape {
        Shape::OpenAiResponses
    }

    fn path(&self, _: &str) -> String {
        "/responses".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &Plan, model: &str) -> Map<String, Value> {
        request::body(request, tools, model)
    }

    fn answer_dialect(&self, schema: &Schema) -> Option<Dialect> {
        request::answer_dialect(schema)
    }

    fn hosts(&self, hosted: &HostedTool) -> bool {
        matches!(hosted, HostedTool::WebSearch(_) | HostedTool::Mcp(_))
    }

    fn error(&self, status: u16, body: &str) -> ModelError {
        error::error(status, body)
    }

    fn reader(&self, tools: Arc<Plan>) -> Box<dyn Reader> {
        Box::new(stream::Answer::new(tools))
    }
}
