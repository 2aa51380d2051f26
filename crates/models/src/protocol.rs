//! What every wire protocol has to say: how a request is written, and how its answer is read.

pub(crate) mod anthropic;
pub(crate) mod gemini;
pub(crate) mod ollama;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

mod call_assembler;
mod call_identifiers;
pub(crate) mod json;
pub(crate) mod vendor_errors;

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_chat::{HostedTool, ModelError, ModelEvent, ModelRequest};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::{Shape, ToolPlan};

use crate::framing::Framing;

/// A wire protocol.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// The name that raw items are kept under.
    const NAME: &'static str;

    /// The dialect that tools are lowered to.
    fn dialect(&self) -> Dialect;

    /// The shape in which tools are defined.
    fn tool_shape(&self) -> Shape;

    /// Where the request goes, below the base address.
    fn path(&self, model: &str) -> String;

    /// Where a request for an answer in one piece goes.
    fn non_streaming_path(&self, model: &str) -> String {
        self.path(model)
    }

    /// What is sent; `tools` is planned already, and written with [`Plan::text`].
    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> Map<String, Value>;

    /// Turns what asks for a stream into what asks for an answer in one piece.
    fn disable_streaming(&self, body: &mut Map<String, Value>) {
        body.insert("stream".to_owned(), false.into());
        body.shift_remove("stream_options");
    }

    /// The dialect that the form of an answer is written in; none where it goes out as it is.
    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect>;

    /// Whether the vendor runs this hosted tool itself.
    fn supports_hosted_tool(&self, _: &HostedTool) -> bool {
        false
    }

    /// Headers that depend on what is asked.
    fn headers(&self, _: &ModelRequest) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// How the frames of an answer follow each other.
    fn framing(&self) -> Framing {
        Framing::ServerSentEvents
    }

    /// Reads the body of a refusal.
    fn parse_error(&self, status: u16, body: &str) -> ModelError;

    /// Reads the answer to a request that carried these tools.
    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser>;
}

/// Reads one answer, frame by frame.
///
/// Whatever comes, a reader never panics; what it does not know it keeps or skips.
pub(crate) trait ResponseParser: Send {
    /// One frame: the name of the event, where the protocol has names, and its JSON.
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError>;

    /// The whole answer as one JSON value; [`Reader::end`] comes after it all the same.
    fn parse_complete_body(&mut self, json: &str) -> Result<Vec<ModelEvent>, ModelError> {
        self.parse_frame("", json)
    }

    /// Nothing more comes: what is still open, or that the answer is cut off.
    fn end_of_stream(&mut self) -> Result<Vec<ModelEvent>, ModelError>;
}
