//! What every wire protocol has to say: how a request is written, and how its answer is read.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolwright_chat::{ModelError, ModelEvent, ModelRequest};
use toolwright_core::schema::Dialect;
use toolwright_core::wire::{Plan, Shape};

use crate::sse::Framing;

/// A wire protocol.
pub(crate) trait Protocol: Send + Sync + 'static {
    /// The name that raw items are kept under.
    const NAME: &'static str;

    /// The dialect that tools are lowered to.
    fn dialect(&self) -> Dialect;

    /// The shape in which tools are defined.
    fn shape(&self) -> Shape;

    /// Where the request goes, below the base address.
    fn path(&self, model: &str) -> String;

    /// What is sent; `tools` is planned already, and written with [`Plan::text`].
    fn body(&self, request: &ModelRequest, tools: &Plan, model: &str) -> Map<String, Value>;

    /// Headers that depend on what is asked.
    fn headers(&self, _: &ModelRequest) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// How the frames of an answer follow each other.
    fn framing(&self) -> Framing {
        Framing::Events
    }

    /// Reads the body of a refusal.
    fn error(&self, status: u16, body: &str) -> ModelError;

    /// Reads the answer to a request that carried these tools.
    fn reader(&self, tools: Arc<Plan>) -> Box<dyn Reader>;
}

/// Reads one answer, frame by frame.
///
/// Whatever comes, a reader never panics; what it does not know it keeps or skips.
pub(crate) trait Reader: Send {
    /// One frame: the name of the event, where the protocol has names, and its JSON.
    fn frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError>;

    /// Nothing more comes: what is still open, or that the answer is cut off.
    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError>;
}
