//! A model that tries every tool.

use toolwright_core::ToolCall;
use toolwright_core::schema::Sampler;

use super::ModelReply;
use crate::model::item::Item;
use crate::model::{Message, Model, ModelId, ModelRequest, ModelStream};

/// A model that calls every tool once, with arguments made up from its schema, and then says so.
///
/// A smoke test for a whole bundle: whatever a schema admits, its tool has to cope with.
#[derive(Clone, Debug)]
pub struct SampleModel {
    id: ModelId,
    seed: u64,
}

impl SampleModel {
    /// Makes a model whose arguments depend on the seed, and on nothing else.
    pub fn new(seed: u64) -> Self {
        Self {
            id: ModelId::new("sample", ""),
            seed,
        }
    }
}

impl Model for SampleModel {
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
            let made_up = Sampler::new(&tool.spec().input, self.seed).valid();
            let arguments = made_up.unwrap_or_else(|| serde_json::json!({}));
            let call = ToolCall::new(&tool.spec().name, arguments);
            Item::call(call.with_id(format!("sample_{at}")))
        });
        ModelReply::from_items(calls.collect()).into_stream()
    }
}
