//! The answer that every server tells, and a model that says it.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use toolwright::chat::{
    Item, Model, ModelEvent, ModelId, ModelRequest, ModelStream, StopReason, Usage,
};

/// How many pieces the answer comes in.
pub(crate) const DELTA_COUNT: usize = 500;

/// The pieces, each of another text: a lost one, or one that comes twice, is seen.
pub(crate) fn deltas() -> Vec<String> {
    let piece = |number| format!("word {number:03} ");
    (0..DELTA_COUNT).map(piece).collect()
}

pub(crate) fn full_text() -> String {
    deltas().concat()
}

/// Says the answer, with a pause before each piece.
pub(crate) struct ScriptedModel {
    pub(crate) id: ModelId,
    pub(crate) pace: Duration,
}

impl Model for ScriptedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        let pace = self.pace;
        let said = stream::iter(deltas()).then(move |piece| async move {
            if !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            ModelEvent::Text(piece)
        });
        let finished = ModelEvent::Finished {
            stop: StopReason::End,
            usage: Usage::new(10, 500),
        };
        let end = [ModelEvent::Item(Item::text(full_text())), finished];
        said.chain(stream::iter(end)).map(Ok).boxed()
    }
}
