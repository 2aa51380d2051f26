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
use toolwright_core::wire::ToolPlan;

use super::pending_items::{PendingItem, PendingItems, PendingKind};
use super::wire::{self, Frame, Response};
use super::{OpenAiResponses, error, item};
use crate::limits::{MAX_ITEMS, too_many_items};
use crate::protocol::{Protocol as _, ResponseParser};

/// An answer that is being read.
pub(super) struct StreamParser {
    tools: Arc<ToolPlan>,
    items: PendingItems,
    call_count: usize,
    awaits_results: bool,
    has_refusal: bool,
    is_finished: bool,
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<Vec<ModelEvent>, ModelError> {
        let mut events = Vec::new();
        if self.is_finished || matches!(data.trim(), "" | "[DONE]") {
            return Ok(events);
        }
        if self.items.len() > MAX_ITEMS {
            return Err(too_many_items());
        }
        let frame: Frame<'_> =
            serde_json::from_str(data).map_err(|cause| error::invalid_json_error(data, cause))?;
        let kind = frame.kind.as_deref().unwrap_or(name);
        match kind {
            "response.output_item.added" => self.item_added(&frame, &mut events),
            "response.output_text.delta" => {
                if let Some(delta) = self.append_delta(PendingKind::Message, &frame) {
                    events.push(ModelEvent::Text(delta));
                }
            }
            "response.refusal.delta" => {
                let open = self.items.find_or_insert(PendingKind::Message, &frame);
                open.refusal
                    .push_str(frame.delta.as_deref().unwrap_or_default());
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                if let Some(delta) = self.append_delta(PendingKind::Reasoning, &frame) {
                    events.push(ModelEvent::Reasoning(delta));
                }
            }
            "response.reasoning_summary_part.added" => {
                let open = self.items.find_or_insert(PendingKind::Reasoning, &frame);
                if frame.summary_index.is_some_and(|index| index > 0) && !open.text.is_empty() {
                    open.text.push_str(SUMMARY_SEPARATOR);
                    events.push(ModelEvent::Reasoning(SUMMARY_SEPARATOR.to_owned()));
                }
            }
            "response.function_call_arguments.delta" => {
                if let Some(delta) = self.append_delta(PendingKind::Call, &frame) {
                    let open = self.items.find_or_insert(PendingKind::Call, &frame);
                    if let Some(index) = open.call_index {
                        open.arguments_streamed = true;
                        events.push(ModelEvent::CallDelta { index, delta });
                    }
                }
            }
            "response.function_call_arguments.done" => {
                let open = self.items.find_or_insert(PendingKind::Call, &frame);
                if let Some(arguments) = frame.arguments {
                    open.text = arguments;
                }
                if let Some(name) = frame.name.filter(|_| open.name.is_empty()) {
                    open.name = name;
                }
            }
            "response.output_item.done" => {
                if let Some(raw) = frame.item {
                    self.item_done(raw, frame.output_index, &mut events);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                let response = frame.response.unwrap_or_default();
                self.finish_response(kind, data, response, &mut events)?;
            }
            "error" => {
                self.is_finished = true;
                return Err(error::parse_error_frame(data, frame.error));
            }
            // A gateway in between has no other way to say so.
            _ if frame.kind.is_none() && frame.error.is_some() => {
                self.is_finished = true;
                return Err(error::parse_error_frame(data, frame.error));
            }
            _ => {}
        }
        Ok(events)
    }

    fn parse_complete_body(&mut self, json: &str) -> Result<Vec<ModelEvent>, ModelError> {
        // A response that is whole is what a stream ends with; anything else is an error, or nothing.
        match serde_json::from_str::<Response>(json) {
            Ok(response) if response.output.is_some() || response.status.is_some() => {
                let mut events = Vec::new();
                self.finish_response("response.completed", json, response, &mut events)?;
                Ok(events)
            }
            _ => self.parse_frame("", json),
        }
    }

    fn end_of_stream(&mut self) -> Result<Vec<ModelEvent>, ModelError> {
        if self.is_finished {
            return Ok(Vec::new());
        }
        self.is_finished = true;
        Err(ModelError::new(
            ModelErrorKind::Protocol,
            "the answer was cut off",
        ))
    }
}

/// What stands between two parts of a summary.
const SUMMARY_SEPARATOR: &str = "\n\n";

impl StreamParser {
    pub(super) fn new(tools: Arc<ToolPlan>) -> Self {
        Self {
            tools,
            items: PendingItems::default(),
            call_count: 0,
            awaits_results: false,
            has_refusal: false,
            is_finished: false,
        }
    }

    fn item_added(&mut self, frame: &Frame<'_>, events: &mut Vec<ModelEvent>) {
        let Some(raw) = frame.item else { return };
        let item: wire::Item = serde_json::from_str(raw.get()).unwrap_or_default();
        let id = item.id.unwrap_or_default();
        if self.items.has_pending(&id) {
            return;
        }
        let mut open = PendingItem {
            kind: PendingKind::from_type(item.kind.as_deref()),
            output_index: frame.output_index,
            id,
            call_id: item.call_id.unwrap_or_default(),
            name: item.name.unwrap_or_default(),
            added_item: serde_json::from_str(raw.get()).ok(),
            ..PendingItem::default()
        };
        if open.kind == PendingKind::Call {
            if open.call_id.is_empty() {
                open.call_id.clone_from(&open.id);
            }
            start_call_if_identified(&mut open, &mut self.call_count, &self.tools, events);
        }
        self.items.push(open);
    }

    /// Keeps a delta with its item, and returns it.
    fn append_delta(&mut self, kind: PendingKind, frame: &Frame<'_>) -> Option<String> {
        let delta = frame.delta.clone().filter(|delta| !delta.is_empty())?;
        self.items.find_or_insert(kind, frame).text.push_str(&delta);
        Some(delta)
    }

    /// An item is whole: takes what was begun for it, and tells the item.
    fn item_done(&mut self, raw: &RawValue, place: Option<u64>, events: &mut Vec<ModelEvent>) {
        let item: wire::Item = serde_json::from_str(raw.get()).unwrap_or_default();
        let Some((at, mut open)) = self.items.take_completed(&item, place) else {
            return;
        };
        self.emit_item(&mut open, item, raw, events);
        self.items.put_back(at, open);
    }

    /// Tells a whole item, and what its deltas should have told before.
    fn emit_item(
        &mut self,
        open: &mut PendingItem,
        mut item: wire::Item,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) {
        if open.kind == PendingKind::Call {
            return self.emit_call(open, item, raw, events);
        }
        let mut patched = None;
        let streamed = !(open.text.is_empty() && open.refusal.is_empty());
        if open.kind == PendingKind::Message && item.content.is_none() && streamed {
            patched = item::with_fields(raw, [("content", open.content_parts())]);
            item.content = Some(vec![wire::Part {
                text: Some(open.text.clone()),
                refusal: Some(open.refusal.clone()).filter(|refusal| !refusal.is_empty()),
            }]);
        }
        let kind = item::item_kind(item);
        match &kind {
            ItemKind::Text { text } if open.text.is_empty() && !text.is_empty() => {
                events.push(ModelEvent::Text(text.clone()));
            }
            ItemKind::Reasoning { text } if open.text.is_empty() && !text.is_empty() => {
                events.push(ModelEvent::Reasoning(text.clone()));
            }
            ItemKind::HostedApproval { .. } => self.awaits_results = true,
            ItemKind::Refusal { .. } => self.has_refusal = true,
            _ => {}
        }
        let raw = patched.unwrap_or_else(|| raw.to_owned());
        events.push(ModelEvent::Item(
            Item::new(kind).with_raw(OpenAiResponses::NAME, raw),
        ));
    }

    fn emit_call(
        &mut self,
        open: &mut PendingItem,
        item: wire::Item,
        raw: &RawValue,
        events: &mut Vec<ModelEvent>,
    ) {
        let mut patches = Vec::new();
        if open.call_id.is_empty() {
            open.call_id.clone_from(&open.id);
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
        if open.call_id.is_empty() {
            open.call_id = call.id.as_str().to_owned();
        }
        if item.call_id.is_none_or(|id| id.is_empty()) {
            patches.push(("call_id", json!(open.call_id)));
        }
        call = call.with_id(open.call_id.as_str());
        if open.call_index.is_none() {
            start_call(open, &mut self.call_count, &self.tools, events);
        }
        if let Some(index) = open
            .call_index
            .filter(|_| !open.arguments_streamed && !arguments.is_empty())
        {
            let delta = arguments;
            events.push(ModelEvent::CallDelta { index, delta });
        }
        let raw = item::with_fields(raw, patches).unwrap_or_else(|| raw.to_owned());
        self.awaits_results = true;
        events.push(ModelEvent::Item(
            Item::call(self.tools.lift(call)).with_raw(OpenAiResponses::NAME, raw),
        ));
    }

    /// The answer is whole: tells the items that no frame of their own did, and why it ends.
    fn finish_response(
        &mut self,
        kind: &str,
        data: &str,
        response: Response,
        events: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        self.is_finished = true;
        let status = response.status.as_deref();
        if kind == "response.failed" || status == Some("failed") {
            return Err(error::parse_error_frame(data, response.error.as_deref()));
        }
        let output = response.output.unwrap_or_default();
        if output.len() > MAX_ITEMS {
            return Err(too_many_items());
        }
        if self.items.done_count() < output.len() {
            for (place, raw) in output.iter().enumerate() {
                let place = u64::try_from(place).ok();
                if !self.items.is_done(raw, place) {
                    self.item_done(raw, place, events);
                }
            }
        }
        let cut = kind == "response.incomplete" || status == Some("incomplete");
        self.emit_unfinished(cut, events);
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
            _ if self.awaits_results => StopReason::Calls,
            _ if self.has_refusal => StopReason::Refused,
            _ => StopReason::End,
        };
        let usage = response.usage.map(Tokens::from).unwrap_or_default();
        events.push(ModelEvent::Finished { stop, usage });
        Ok(())
    }

    /// Tells what deltas brought and nothing else did.
    fn emit_unfinished(&mut self, cut: bool, events: &mut Vec<ModelEvent>) {
        let status = if cut { "incomplete" } else { "completed" };
        for mut open in self.items.take_unfinished() {
            let announced = open.added_item.take();
            match open.kind {
                PendingKind::Call if !open.name.is_empty() => {
                    let mut whole = announced.unwrap_or_default();
                    whole.insert("type".to_owned(), json!("function_call"));
                    whole.insert("name".to_owned(), json!(open.name));
                    whole.insert("arguments".to_owned(), json!(open.text));
                    whole.insert("status".to_owned(), json!(status));
                    self.emit_assembled(open, whole, events);
                }
                PendingKind::Message if !(open.text.is_empty() && open.refusal.is_empty()) => {
                    let mut whole = announced.unwrap_or_default();
                    whole.insert("type".to_owned(), json!("message"));
                    whole.insert("role".to_owned(), json!("assistant"));
                    whole.insert("content".to_owned(), open.content_parts());
                    whole.insert("status".to_owned(), json!(status));
                    if !whole.contains_key("id") && !open.id.is_empty() {
                        whole.insert("id".to_owned(), json!(open.id));
                    }
                    self.emit_assembled(open, whole, events);
                }
                // Without the item there is nothing that could be sent back.
                PendingKind::Reasoning if !open.text.is_empty() => {
                    let text = open.text;
                    events.push(ModelEvent::Item(Item::new(ItemKind::Reasoning { text })));
                }
                _ => {}
            }
        }
    }

    fn emit_assembled(
        &mut self,
        mut open: PendingItem,
        whole: Map<String, Value>,
        events: &mut Vec<ModelEvent>,
    ) {
        if let Ok(raw) = to_raw_value(&whole) {
            let item = serde_json::from_str(raw.get()).unwrap_or_default();
            self.emit_item(&mut open, item, &raw, events);
        }
    }
}

/// A call begins, if it is known which.
fn start_call_if_identified(
    open: &mut PendingItem,
    calls: &mut usize,
    tools: &ToolPlan,
    events: &mut Vec<ModelEvent>,
) {
    if open.call_index.is_none() && !open.call_id.is_empty() && !open.name.is_empty() {
        start_call(open, calls, tools, events);
    }
}

fn start_call(
    open: &mut PendingItem,
    calls: &mut usize,
    tools: &ToolPlan,
    events: &mut Vec<ModelEvent>,
) {
    let index = *calls;
    *calls += 1;
    open.call_index = Some(index);
    let named = tools.lift(ToolCall::new(open.name.as_str(), ""));
    events.push(ModelEvent::CallBegins {
        index,
        id: open.call_id.as_str().into(),
        name: named.name,
    });
}
