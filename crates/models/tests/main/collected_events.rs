//! The events of a response, collected for assertions.

use serde_json::Value;
use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, ModelId, Step, StopReason, Usage};
use toolwright_core::ToolCall;

/// The events of one response.
#[derive(Debug)]
pub(crate) struct CollectedEvents {
    pub(crate) model: ModelId,
    pub(crate) events: Vec<ModelEvent>,
    pub(crate) error: Option<ModelError>,
}

impl CollectedEvents {
    pub(crate) fn items(&self) -> Vec<&Item> {
        let items = self.events.iter().filter_map(|event| match event {
            ModelEvent::Item(item) => Some(item),
            _ => None,
        });
        items.collect()
    }

    pub(crate) fn kinds(&self) -> Vec<&ItemKind> {
        self.items().into_iter().map(|item| &item.kind).collect()
    }

    /// The items without raw JSON and without white space in arguments.
    pub(crate) fn normalized_kinds(&self) -> Vec<ItemKind> {
        let kinds = self.kinds().into_iter().cloned();
        kinds
            .map(|mut kind| {
                if let ItemKind::Call { call } = &mut kind
                    && let Ok(value) = serde_json::from_str::<Value>(call.arguments.as_str())
                {
                    call.arguments = value.to_string().into();
                }
                kind
            })
            .collect()
    }

    pub(crate) fn calls(&self) -> Vec<ToolCall> {
        self.step().calls().cloned().collect()
    }

    /// The deltas of text.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let texts = self.events.iter().filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    pub(crate) fn finished(&self) -> (StopReason, Usage) {
        assert!(self.error.is_none(), "{:?}", self.error);
        match self.events.last() {
            Some(ModelEvent::Finished { stop, usage }) => (stop.clone(), *usage),
            other => panic!("the last event is {other:?}"),
        }
    }

    pub(crate) fn step(&self) -> Step {
        let items = self.items().into_iter().cloned().collect();
        let (stop, usage) = self.finished();
        Step::new(self.model.clone(), items, stop, usage)
    }

    /// Everything but the request, to compare.
    pub(crate) fn comparable(&self) -> String {
        let events = self.events.iter().skip(1);
        let error = self.error.as_ref().map(|error| (error.kind, &error.message));
        format!("{:#?}\n{error:?}", events.collect::<Vec<_>>())
    }

    pub(crate) fn sent_body(&self) -> Value {
        match &self.events[0] {
            ModelEvent::RequestSent(body) => serde_json::from_str(body).unwrap(),
            other => panic!("the first event is {other:?}"),
        }
    }
}
