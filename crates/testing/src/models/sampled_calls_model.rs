//! [`SampledCallsModel`]: a model that tries every tool.

use toolwright_chat::{Item, Message, Model, ModelId, ModelRequest, ModelStream};
use toolwright_core::ToolCall;

use super::ModelReply;
use crate::Sampler;

/// A model that calls every tool once, with arguments generated from its schema, and then replies with the number of calls.
///
/// A smoke test for a bundle of tools: a tool has to handle all arguments that its schema allows.
#[derive(Clone, Debug)]
pub struct SampledCallsModel {
    id: ModelId,
    seed: u64,
}

impl SampledCallsModel {
    /// Creates a model; the same seed gives the same arguments.
    pub fn new(seed: u64) -> Self {
        Self { id: ModelId::new("sample", ""), seed }
    }
}

impl Model for SampledCallsModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        if let Some(Message::Results(results)) = request.messages.last() {
            let failed = results.iter().filter(|result| result.is_error()).count();
            let text = format!("{} tools called, {failed} failed.", results.len());
            return ModelReply::text(text).into_stream();
        }
        let calls = request.tools.iter().enumerate().map(|(at, tool)| {
            let sample = Sampler::new(&tool.spec().input, self.seed).valid();
            let arguments = sample.unwrap_or_else(|| serde_json::json!({}));
            let call = ToolCall::new(&tool.spec().name, arguments);
            Item::call(call.with_id(format!("sample_{at}")))
        });
        ModelReply::from_items(calls.collect()).into_stream()
    }
}
