//! Frames of a stream in, [`ModelEvent`]s out.
//!
//! An item is whole when its `response.output_item.done` comes, and that frame has all of it. Servers that imitate the API
//! forget such frames, item ids and output indices; then the list at the end of the answer has the item, or else what the
//! deltas add up to.

use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use toolwright_chat::{
    Item, ItemKind, ModelError, ModelErrorKind, ModelEvent, StopReason, Usage as Tokens,
};
use toolwright_core::ToolCall;
use toolwright_core::wire::Plan;

use super::open::{Items, Kind, Open};
use super::wire::{self, Frame, Response};
use super::{OpenAiResponses, error, item};
use crate::bounds::{MOST_ITEMS, too_many_items};
use crate::protocol::{Protocol as _, Reader};

/// An answer that is being read.
pub(super) struct Answer {
    tools: Arc<Plan>,
    items: Items,
    calls: usize,
    waits: bool,
    refused: bool,
    over: bool,
}

impl Reader for Answer {
    fn frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let mut events = Vec::new();
        if self.over || matches!(data.trim(), "" | "[DONE]") {
            return Ok(events);
        }
        if self.items.len() > MOST_ITEMS {
            return Err(too_many_items());
        }
        let frame: Frame<'_> =
            serde_json::from_str(data).map_err(|cause| error::garbage(data, cause))?;
        let kind = frame.kind.as_deref().unwrap_or(name);
        match kind {
            "response.output_item.added" => self.added(&frame, &mut events),
            "response.output_text.delta" => {
                if let Some(delta) = self.more(Kind::Message, &frame) {
                    events.push(ModelEvent::Text(delta));
                }
            }
            "response.refusal.delta" => {
                let open = self.items.opened(Kind::Message, &frame);
                open.refusal
                    .push_str(frame.delta.as_deref().unwrap_or_default());
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                if let Some(delta) = self.more(Kind::Reasoning, &frame) {
                    events.push(ModelEvent::Reasoning(delta));
                }
            }
            "response.reasoning_summary_part.added" => {
                let open = self.items.opened(Kind::Reasoning, &frame);
                if frame.summary_index.is_some_and(|index| index > 0) && !open.text.is_empty() {
                    open.text.push_str(BETWEEN);
                    events.push(ModelEvent::Reasoning(BETWEEN.to_owned()));
                }
            }
            "response.function_call_arguments.delta" => {
                if let Some(delta) = self.more(Kind::Call, &frame) {
                    let open = self.items.opened(Kind::Call, &frame);
                    if let Some(index) = open.index {
                        open.heard = true;
                        events.push(ModelEvent::CallDelta { index, delta });
                    }
                }
            }
            "response.function_call_arguments.done" => {
                let open = self.items.opened(Kind::Call, &frame);
                if let Some(arguments) = frame.arguments {
                    open.text = arguments;
                }
                if let Some(name) = frame.name.filter(|_| open.name.is_empty()) {
                    open.name = name;
                }
            }
            "response.output_item.done" => {
                if let Some(raw) = frame.item {
                    self.done(raw, frame.output_index, &mut events);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let response = frame.response.unwrap_or_default();
                self.finish(kind, data, response, &mut events)?;
            }
            "error" => {
                self.over = true;
                return Err(error::in_stream(data, frame.error));
            }
            // A gateway in between has no other way to say so.
            _ if frame.kind.is_none() && frame.error.is_some() => {
                self.over = true;
                return Err(error::in_stream(data, frame.error));
            }
            _ => {}
        }
        Ok(events)
    }

    fn whole(&mut self, json: &str) -> Result<Vec<ModelEvent>, ModelError> {
        // A response that is whole is what a stream ends with; anything else is an error, or nothing.
        match serde_json::from_str::<Response>(json) {
            Ok(response) if response.output.is_some() || response.status.is_some() => {
                let mut events = Vec::new();
                self.finish("response.completed", json, response, &mut events)?;
                Ok(events)
            }
            _ => self.frame("", json),
        }
    }

    fn end(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.over {
            return Ok(Vec::new());
        }
        self.over = true;
        Err(ModelError::new(
            ModelErrorKind::Protocol,
            "the answer was cut off",
        ))
    }
}

/// What stands between two parts of a summary.
const BETWEEN: &str = "\n\n";

impl Answer {
    pub(super) fn new(tools: Arc<Plan>) -> Self {
        Self {
            tools,
            items: Items::default(),
            calls: 0,
            waits: false,
            refused: false,
            over: false,
        }
    }

    fn added(&mut self, frame: &Frame<'_>, events: &mut Vec<ModelEvent>) {
        let Some(raw) = frame.item else { return };
        let item: wire::Item = serde_json::from_str(raw.get()).unwrap_or_default();
        let id = item.id.unwrap_or_default();
        if self.items.has_begun(&id) {
            return;
        }
        let mut open = Open {
            kind: Kind::of(item.kind.as_deref()),
            place: frame.output_index,
            id,
            call: item.call_id.unwrap_or_default(),
            name: item.name.unwrap_or_default(),
            announced: serde_json::from_str(raw.get()).ok(),
            ..Open::default()
        };
        if open.kind == Kind::Call {
            if open.call.is_empty() {
                open.call.clone_from(&open.id);
            }
            start(&mut open, &mut self.calls, &self.tools, events);
        }
        self.items.begin(open);
    }

    /// Keeps a delta with its item, and returns it.
    fn more(&mut self, kind: Kind, frame: &Frame<'_>) -> Option<String> {
        let delta = frame.delta.clone().filter(|delta| !delta.is_empty())?;
        self.items.opened(kind, frame).text.push_str(&delta);
        Some(delta)
    }

    /// An item is whole: takes what was begun for it, and tells the item.
    fn done(&mut self, raw: &RawValue, place: Option<u64>, events: &mut Vec<ModelEvent>) {
        let item: wire::Item = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some((at, mut open)) = self.items.take(&item, place) else {
            return;
        };
        self.tell(&mut open, item, raw, events);
        self.items.put_back(at, open);
    }

    /// Tells a whole item, and what its deltas should have told before.
    fn tell(
        &mut self,
        open: &mut Open,
        mut item: wire::Item,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) {
        if open.kind == Kind::Call {
            return self.tell_call(open, item, raw, events);
        }
        let mut patched = None;
        let streamed = !(open.text.is_empty() && open.refusal.is_empty());
        if open.kind == Kind::Message && item.content.is_none() && streamed {
            patched = item::patch(raw, [("content", open.content())]);
            item.content = Some(vec![wire::Part {
                text: Some(open.text.clone()),
                refusal: Some(open.refusal.clone()).filter(|refusal| !refusal.is_empty()),
            }]);
        }
        let kind = item::kind(item);
        match &kind {
            ItemKind::Text { text } if open.text.is_empty() && !text.is_empty() => {
                events.push(ModelEvent::Text(text.clone()));
            }
            ItemKind::Reasoning { text } if open.text.is_empty() && !text.is_empty() => {
                events.push(ModelEvent::Reasoning(text.clone()));
            }
            ItemKind::HostedApproval { .. } => self.waits = true,
            ItemKind::Refusal { .. } => self.refused = true,
            _ => {}
        }
        let raw = patched.unwrap_or_else(|| raw.to_owned());
        events.push(ModelEvent::Item(
            Item::new(kind).with_raw(OpenAiResponses::NAME, raw),
        ));
    }

    fn tell_call(
        &mut self,
        open: &mut Open,
        item: wire::Item,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) {
        let mut patches = Vec::new();
        if open.call.is_empty() {
            open.call.clone_from(&open.id);
        }
        if let Some(name) = item.name.filter(|name| !name.is_empty()) {
            open.name = name;
        } else {
            patches.push(("name", json!(open.name)));
        }
        let sent = item.arguments.filter(|arguments| !arguments.is_empty());
        let arguments = match sent {
            Some(arguments) => arguments,
            None => {
                if !open.text.is_empty() {
                    patches.push(("arguments", json!(open.text)));
                }
                open.text.clone()
            }
        };
        // Blank arguments mean none, but here they never came.
        if item.status.as_deref() == Some("incomplete") && arguments.trim().is_empty() {
            return;
        }
        let mut call = ToolCall::new(open.name.as_str(), arguments.as_str());
        if open.call.is_empty() {
            open.call = call.id.as_str().to_owned();
        }
        if item.call_id.is_none_or(|id| id.is_empty()) {
            patches.push(("call_id", json!(open.call)));
        }
        call = call.with_id(open.call.as_str());
        if open.index.is_none() {
            force(open, &mut self.calls, &self.tools, events);
        }
        if let Some(index) = open.index.filter(|_| !open.heard && !arguments.is_empty()) {
            let delta = arguments;
            events.push(ModelEvent::CallDelta { index, delta });
        }
        let raw = item::patch(raw, patches).unwrap_or_else(|| raw.to_owned());
        self.waits = true;
        events.push(ModelEvent::Item(
            Item::call(self.tools.lift(call)).with_raw(OpenAiResponses::NAME, raw),
        ));
    }

    /// The answer is whole: tells the items that no frame of their own did, and why it ends.
    fn finish(
        &mut self,
        kind: &str,
        data: &str,
        response: Response,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.over = true;
        let status = response.status.as_deref();
        if kind == "response.failed" || status == Some("failed") {
            return Err(error::in_stream(data, response.error.as_deref()));
        }
        let output = response.output.unwrap_or_default();
        if output.len() > MOST_ITEMS {
            return Err(too_many_items());
        }
        if self.items.told() < output.len() {
            for (place, raw) in output.iter().enumerate() {
                let place = u64::try_from(place).ok();
                if !self.items.is_told(raw, place) {
                    self.done(raw, place, events);
                }
            }
        }
        let cut = kind == "response.incomplete" || status == Some("incomplete");
        self.tell_the_rest(cut, events);
        let reason = response
            .incomplete_details
            .and_then(|details| details.reason);
        let stop = match (cut, reason.as_deref()) {
            (_, Some("max_output_tokens")) => StopReason::Length,
            (_, Some("content_filter")) => StopReason::Filtered,
            (true, Some(reason)) => StopReason::Other(reason.to_owned()),
            (true, None) => StopReason::Other("incomplete".to_owned()),
            _ if kind == "response.cancelled" || status == Some("cancelled") => {
                StopReason::Other("cancelled".to_owned())
            }
            _ if self.waits => StopReason::Calls,
            _ if self.refused => StopReason::Refused,
            _ => StopReason::End,
        };
        let usage = response.usage.map(Tokens::from).unwrap_or_default();
        events.push(ModelEvent::Finished { stop, usage });
        Ok(())
    }

    /// Tells what deltas brought and nothing else did.
    fn tell_the_rest(&mut self, cut: bool, events: &mut Vec<ModelEvent>) {
        let status = if cut { "incomplete" } else { "completed" };
        for mut open in self.items.unfinished() {
            let announced = open.announced.take();
            match open.kind {
                Kind::Call if !open.name.is_empty() => {
                    let mut whole = announced.unwrap_or_default();
                    whole.insert("type".to_owned(), json!("function_call"));
                    whole.insert("name".to_owned(), json!(open.name));
                    whole.insert("arguments".to_owned(), json!(open.text));
                    whole.insert("status".to_owned(), json!(status));
                    self.tell_assembled(open, whole, events);
                }
                Kind::Message if !(open.text.is_empty() && open.refusal.is_empty()) => {
                    let mut whole = announced.unwrap_or_default();
                    whole.insert("type".to_owned(), json!("message"));
                    whole.insert("role".to_owned(), json!("assistant"));
                    whole.insert("content".to_owned(), open.content());
                    whole.insert("status".to_owned(), json!(status));
                    if !whole.contains_key("id") && !open.id.is_empty() {
                        whole.insert("id".to_owned(), json!(open.id));
                    }
                    self.tell_assembled(open, whole, events);
                }
                // Without the item there is nothing that could be sent back.
                Kind::Reasoning if !open.text.is_empty() => {
                    let text = open.text;
                    events.push(ModelEvent::Item(Item::new(ItemKind::Reasoning { text })));
                }
                _ => {}
            }
        }
    }

    fn tell_assembled(
        &mut self,
        mut open: Open,
        whole: Map<String, Value>,
        events: &mut Vec<ModelEvent>,
    ) {
        if let Ok(raw) = to_raw_value(&whole) {
            let item = serde_json::from_str(raw.get()).unwrap_or_default();
            self.tell(&mut open, item, &raw, events);
        }
    }
}

/// A call begins, if it is known which.
fn start(open: &mut Open, calls: &mut usize, tools: &Plan, events: &mut Vec<ModelEvent>) {
    if open.index.is_none() && !open.call.is_empty() && !open.name.is_empty() {
        force(open, calls, tools, events);
    }
}

fn force(open: &mut Open, calls: &mut usize, tools: &Plan, events: &mut Vec<ModelEvent>) {
    let index = *calls;
    *calls += 1;
    open.index = Some(index);
    let named = tools.lift(ToolCall::new(open.name.as_str(), ""));
    events.push(ModelEvent::CallBegins {
        index,
        id: open.call.as_str().into(),
        name: named.name,
    });
}
