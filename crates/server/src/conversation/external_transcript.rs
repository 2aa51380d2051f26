//! Converts the events of a turn that a handler or an agent outside this crate answered into journal entries.

use std::sync::Arc;

use toolwright_chat::{
    CallMetadata, ChatEvent, EntryBody, Item, ModelId, Step, StopReason, TurnEnd, Usage,
};
use toolwright_core::{CallId, ErrorKind, Outcome, ToolName, ToolResult};

/// The transcript of a turn that no [`Chat`](toolwright_chat::Chat) of this server ran.
#[derive(Default)]
pub(crate) struct ExternalTranscript {
    entries: Vec<EntryBody>,
    model: Option<ModelId>,
    /// The text of the current step.
    text: String,
    calls: Vec<toolwright_core::ToolCall>,
    /// Calls without a result so far.
    open_calls: Vec<(CallId, ToolName)>,
    full_text: String,
    end: Option<TurnEnd>,
}

impl ExternalTranscript {
    /// Adds an event.
    pub(crate) fn on_event(&mut self, event: &ChatEvent) {
        match event {
            ChatEvent::TurnStarted { model, .. } | ChatEvent::Fallback { model, .. } => {
                self.model = Some(model.clone())
            }
            ChatEvent::Text { delta } => {
                self.text.push_str(delta);
                self.full_text.push_str(delta);
            }
            ChatEvent::Call { call } => self.calls.push(call.clone()),
            ChatEvent::Step { stop, usage, cost } => self.finish_step(stop.clone(), *usage, *cost),
            ChatEvent::Result { result, .. } => {
                if !self.calls.is_empty() {
                    self.finish_step(StopReason::Calls, Usage::default(), None);
                }
                let known = self.open_calls.iter().position(|(call, _)| *call == result.call_id);
                if let Some(at) = known {
                    self.open_calls.remove(at);
                    let result = result.clone();
                    self.entries.push(EntryBody::CallFinished { result });
                }
            }
            ChatEvent::TurnEnded { end, .. } => self.end(end.clone()),
            _ => {}
        }
    }

    /// Sets the end of the turn.
    pub(crate) fn end(&mut self, end: TurnEnd) {
        self.end = Some(end);
    }

    fn finish_step(&mut self, stop: StopReason, usage: Usage, cost: Option<f64>) {
        let mut items = Vec::new();
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            items.push(Item::text(text));
        }
        let calls = std::mem::take(&mut self.calls);
        let metadata = calls.iter().map(|call| {
            let digest = format!("{}\n{}", call.name, call.arguments);
            CallMetadata::new(call.id.clone(), call.name.clone(), digest)
        });
        let metadata: Vec<CallMetadata> = metadata.collect();
        self.close_open_calls();
        self.open_calls = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        items.extend(calls.into_iter().map(Item::call));
        if items.is_empty() {
            return;
        }
        let model = self.model.clone();
        let model = model.unwrap_or_else(|| ModelId::new("endpoint", ""));
        self.entries.push(EntryBody::Step {
            step: Arc::new(Step::new(model, items, stop, usage)),
            calls: metadata,
            cost,
        });
    }

    /// Ends calls without a result as [`Outcome::OutcomeUnknown`].
    fn close_open_calls(&mut self) {
        for (call, tool) in self.open_calls.drain(..) {
            let message = "the agent sent no result of the call";
            let result =
                ToolResult::from_outcome(Outcome::OutcomeUnknown, ErrorKind::Failed, message);
            let result = result.for_call(call, tool);
            self.entries.push(EntryBody::CallFinished { result });
        }
    }

    /// The text of all steps.
    pub(crate) fn full_text(&self) -> &str {
        &self.full_text
    }

    /// Returns true if there were no events.
    pub(crate) fn is_empty(&self) -> bool {
        self.full_text.is_empty()
            && self.entries.is_empty()
            && self.calls.is_empty()
            && self.end.is_none()
    }

    /// The journal entries of the turn, and its end.
    pub(crate) fn finish(&mut self) -> (Vec<EntryBody>, TurnEnd) {
        if !self.text.is_empty() || !self.calls.is_empty() {
            self.finish_step(StopReason::End, Usage::default(), None);
        }
        self.close_open_calls();
        let end = self.end.take().unwrap_or(TurnEnd::Answered);
        (std::mem::take(&mut self.entries), end)
    }
}
