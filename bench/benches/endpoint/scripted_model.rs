//! The answer that all servers send, and a model that returns it.

use std::sync::LazyLock;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream;
use toolwright::chat::{
    Item, Model, ModelEvent, ModelId, ModelRequest, ModelStream, StopReason, Usage,
};

pub(crate) const DELTA_COUNT: usize = 500;

/// The deltas of the answer, and all of them together. They are written once: what a script costs would count as the server's.
static ANSWER: LazyLock<(Vec<String>, String)> = LazyLock::new(|| {
    // All are different, so that a lost or duplicate one is detected.
    let deltas: Vec<String> = (0..DELTA_COUNT).map(|number| format!("word {number:03} ")).collect();
    let text = deltas.concat();
    (deltas, text)
});

pub(crate) fn deltas() -> &'static [String] {
    &ANSWER.0
}

pub(crate) fn full_text() -> &'static str {
    &ANSWER.1
}

/// Returns the answer, with a pause before each delta.
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
        let text_events = stream::iter(deltas()).then(move |delta| async move {
            if !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            ModelEvent::Text(delta.clone())
        });
        let item = stream::once(async { ModelEvent::Item(Item::text(full_text())) });
        let finished = ModelEvent::Finished { stop: StopReason::End, usage: Usage::new(10, 500) };
        let end = item.chain(stream::iter([finished]));
        text_events.chain(end).map(Ok).boxed()
    }
}
