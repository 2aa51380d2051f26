//! Ollama's own `/api/chat`, which streams lines of JSON.
//!
//! Ids and indexes of calls are not reliable, so every call in a line is a complete call of its own.

use std::sync::Arc;

use toolwright_chat::{ModelError, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;

use crate::excerpt::unreadable;
use crate::framing::Framing;
use crate::protocol::json::JsonObject;
use crate::protocol::{Protocol, ResponseParser};

mod content;
mod error;
mod request;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

/// The path of the list of models.
pub(crate) const MODEL_LIST_PATH: &str = "/api/tags";

/// The names in the response to [`MODEL_LIST_PATH`].
pub(crate) fn parse_model_list(body: &str) -> Result<Vec<String>, ModelError> {
    let list: wire::ModelList = serde_json::from_str(body)
        .map_err(|source| unreadable("the list of models cannot be read", body, source))?;
    Ok(list.models.into_iter().map(|model| model.name).collect())
}

/// The key under which the API's raw JSON is stored with an item.
const NAME: &str = "ollama";

/// Ollama's API.
#[derive(Debug)]
pub(crate) struct Ollama;

impl Protocol for Ollama {
    fn dialect(&self) -> Dialect {
        Dialect::OLLAMA
    }

    fn path(&self, _: &str, _: bool) -> String {
        "/api/chat".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
        request::request_body(request, tools, model)
    }

    // The schema is lowered only if the output needs no lifting.
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
