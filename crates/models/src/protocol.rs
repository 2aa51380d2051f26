//! The wire protocols: each writes a request as JSON and parses the frames of its response.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod ollama;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

mod call_assembler;
mod call_identifiers;
mod custom_call;
mod item_builder;
pub(crate) mod json;
mod response_format;
mod results;
mod search_results;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;
use toolwright_chat::{
    HostedTool, Item, ItemKind, ModelError, ModelEvent, ModelRequest, ToolDeferral,
};
use toolwright_core::ToolName;
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Shape, ToolPlan};

use self::json::JsonObject;
use crate::framing::Framing;

/// A wire protocol.
pub(crate) trait Protocol: fmt::Debug + Send + Sync {
    /// The dialect that tools are lowered to.
    fn dialect(&self) -> Dialect;

    /// The JSON shape of a tool definition.
    fn tool_shape(&self) -> Shape {
        Shape::for_dialect(self.dialect())
    }

    /// The path of the endpoint below the base URL.
    fn path(&self, model: &str, streaming: bool) -> String;

    /// The JSON body of a streaming request; `tools` holds the tool definitions.
    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject;

    /// Turns the body of a streaming request into that of a non-streaming one.
    fn disable_streaming(&self, body: &mut JsonObject) {
        body.insert("stream".to_owned(), false.into());
        body.shift_remove("stream_options");
    }

    /// The dialect that the schema of a response format is lowered to; `None` if it is sent unchanged.
    ///
    /// Structured output is lifted from the same dialect.
    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect>;

    /// How the API loads the tools that a search has found, for a model; `None` if it loads none.
    fn tool_deferral(&self, _model: &str) -> Option<ToolDeferral> {
        None
    }

    /// Returns true if a model calls custom tools; for others they are functions with one parameter.
    fn supports_custom_tools(&self, _model: &str) -> bool {
        false
    }

    /// Returns true if the vendor runs this hosted tool itself.
    fn supports_hosted_tool(&self, _: &HostedTool) -> bool {
        false
    }

    /// A header that every request needs.
    fn constant_header(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Headers that depend on the request.
    fn headers(&self, _: &ModelRequest) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// How a streamed response is split into frames.
    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    /// Parses the body of an error response.
    fn parse_error(&self, status: u16, body: &str) -> ModelError;

    /// Returns a parser for the response to a request with these tools.
    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser>;
}

/// Parses one response, frame by frame.
///
/// A parser never panics, whatever it receives; unknown items are kept as raw JSON, unknown frames skipped.
pub(crate) trait ResponseParser: Send {
    /// Parses one frame: the event's name, empty if the protocol has none, and its JSON.
    ///
    /// Its events are added to [`Self::events`], whose buffer serves all frames.
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<(), ModelError>;

    /// Parses a complete response of one JSON value; the caller calls [`Self::end_of_stream`] afterwards, as for a stream.
    fn parse_complete_body(&mut self, json: &str) -> Result<(), ModelError> {
        self.parse_frame("", json)
    }

    /// Adds the remaining events, or returns an error if the response is cut off.
    fn end_of_stream(&mut self) -> Result<(), ModelError>;

    /// The events that were parsed and not taken yet.
    fn events(&mut self) -> &mut Vec<ModelEvent>;
}

/// An item with the provider's JSON, which is replayed verbatim in later requests.
fn item_with_raw(protocol: &str, kind: ItemKind, raw: &(impl Serialize + ?Sized)) -> Item {
    let item = Item::new(kind);
    match to_raw_value(raw) {
        Ok(raw) => item.with_raw(protocol, raw),
        Err(_) => item,
    }
}

/// Parses the JSON of an item that this protocol received; `None` if another protocol did.
fn raw_fields<T: DeserializeOwned>(protocol: &str, item: &Item) -> Option<T> {
    serde_json::from_str(item.raw_json(protocol)?.get()).ok()
}

/// The name of a tool by its name on the wire; an unknown name is returned unchanged.
fn tool_name(tools: &ToolPlan, wire_name: &str) -> ToolName {
    let mut tools = tools.tools().iter();
    let tool = tools.find(|tool| tool.wire_name == wire_name);
    tool.map_or(wire_name, |tool| tool.name.as_str()).into()
}
