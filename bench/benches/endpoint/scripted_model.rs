//! The answer that all servers send, and a model that returns it.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use toolwright::chat::{
    Item, Model, ModelEvent, ModelId, ModelRequest, ModelStream, StopReason, Usage,
};

pub(crate) const DELTA_COUNT: usize = 500;

/// The deltas of the answer. All are different, so that a lost or duplicate one is detected.
pub(crate) fn deltas() -> Vec<String> {
    (0..DELTA_COUNT).map(delta).collect()
}

pub(crate) fn delta(number: usize) -> String {
    format!("word {number:03} ")
}

pub(crate) fn full_text() -> String {
    deltas().concat()
}

/// Returns the answer, with a pause before each delta. Each is made when it is sent, so that the memory of a stream is that of
/// the server and not that of the script.
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
        let text_events = stream::iter(0..DELTA_COUNT).then(move |number| async move {
            if !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            ModelEvent::Text(delta(number))
        });
        let item = stream::once(async { ModelEvent::Item(Item::text(full_text())) });
        let finished = ModelEvent::Finished { stop: StopReason::End, usage: Usage::new(10, 500) };
        let end = item.chain(stream::iter([finished]));
        text_events.chain(end).map(Ok).boxed()
    }
}
