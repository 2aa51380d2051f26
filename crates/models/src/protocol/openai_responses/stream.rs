//! Parses the frames of a response into [`ModelEvent`]s.
//!
//! An item is complete with its `response.output_item.done`, which has all of it. Servers that imitate the API omit such
//! frames, item ids and output indexes; then the item comes from the output of the last frame, or else from its deltas.

use std::sync::Arc;

use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use toolwright_chat::{Item, ItemKind, ModelError, ModelEvent, StopReason};
use toolwright_core::ToolCall;
use toolwright_core::wire::ToolPlan;

use super::pending_items::{CUSTOM_CALL, PendingItem, PendingItems, PendingKind};
use super::wire::{self, Frame, Response};
use super::{NAME, error, item, tool_search};
use crate::limits::{MAX_ITEMS, response_cut_off, too_many_items};
use crate::protocol::custom_call::{ARGUMENTS_END, arguments_start, escape};
use crate::protocol::json::{object, parse_object, without_duplicate_fields};
use crate::protocol::{ResponseParser, tool_name};

/// Parses one response.
pub(super) struct StreamParser {
    tools: Arc<ToolPlan>,
    items: PendingItems,
    call_count: usize,
    awaits_results: bool,
    has_refusal: bool,
    is_finished: bool,
    /// The last call of a custom tool. Its text does not show whether it is complete: that is known when another item follows,
    /// or with the last frame.
    held_call: Option<HeldCall>,
    /// The events that were not taken yet.
    events: Vec<ModelEvent>,
}

/// A call of a custom tool, whose arguments still lack their end.
struct HeldCall {
    index: usize,
    call: ToolCall,
    raw: Box<RawValue>,
    is_cut_off: bool,
}

impl ResponseParser for StreamParser {
    fn parse_frame(&mut self, name: &str, data: &str) -> Result<(), ModelError> {
        if self.is_finished || matches!(data.trim(), "" | "[DONE]") {
            return Ok(());
        }
        if self.items.len() > MAX_ITEMS {
            return Err(too_many_items());
        }
        let deduplicated;
        let frame: Frame<'_> = match serde_json::from_str(data) {
            Ok(frame) => frame,
            Err(cause) => {
                deduplicated = without_duplicate_fields(data).unwrap_or_default();
                serde_json::from_str(&deduplicated)
                    .map_err(|_| error::invalid_json_error(data, cause))?
            }
        };
        let kind = frame.kind.as_deref().unwrap_or(name);
        match kind {
            "response.output_item.added" => self.item_added(&frame),
            "response.output_text.delta" => {
                if let Some(delta) = self.append_delta(PendingKind::Message, frame) {
                    self.events.push(ModelEvent::Text(delta));
                }
            }
            "response.refusal.delta" => {
                let pending = self.items.find_or_insert(PendingKind::Message, &frame);
                pending.refusal.push_str(&frame.delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                if let Some(delta) = self.append_delta(PendingKind::Reasoning, frame) {
                    self.events.push(ModelEvent::Reasoning(delta));
                }
            }
            "response.reasoning_summary_part.added" => {
                let pending = self.items.find_or_insert(PendingKind::Reasoning, &frame);
                if frame.summary_index.is_some_and(|index| index > 0) && !pending.text.is_empty() {
                    pending.text.push_str(SUMMARY_SEPARATOR);
                    self.events.push(ModelEvent::Reasoning(SUMMARY_SEPARATOR.to_owned()));
                }
            }
            "response.function_call_arguments.delta" if !frame.delta.is_empty() => {
                let pending = self.items.find_or_insert(PendingKind::Call, &frame);
                pending.text.push_str(&frame.delta);
                if let Some(index) = pending.call_index {
                    pending.arguments_streamed = true;
                    let delta = frame.delta.into_owned();
                    self.events.push(ModelEvent::CallDelta { index, delta });
                }
            }
            "response.custom_tool_call_input.delta" if !frame.delta.is_empty() => {
                let pending = self.items.find_or_insert(PendingKind::Call, &frame);
                pending.is_custom = true;
                pending.text.push_str(&frame.delta);
                if let Some(index) = pending.call_index {
                    let mut json = escape(&frame.delta);
                    if !pending.arguments_streamed {
                        json.insert_str(0, &arguments_start(&self.tools, &pending.name));
                    }
                    pending.arguments_streamed = true;
                    self.events.push(ModelEvent::CallDelta { index, delta: json });
                }
            }
            "response.custom_tool_call_input.done" => {
                let pending = self.items.find_or_insert(PendingKind::Call, &frame);
                pending.is_custom = true;
                if let Some(input) = frame.input {
                    pending.text = input;
                }
            }
            "response.function_call_arguments.done" => {
                let pending = self.items.find_or_insert(PendingKind::Call, &frame);
                if let Some(arguments) = frame.arguments {
                    pending.text = arguments.0;
                }
                if pending.name.is_empty() {
                    pending.name = frame.name;
                }
            }
            "response.output_item.done" => {
                if let Some(raw) = frame.item {
                    self.item_done(raw, frame.output_index);
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => {
                self.finish_response(kind, data, frame.response)?;
            }
            // A gateway sends errors without a type.
            _ if kind == "error" || frame.kind.is_none() && frame.error.is_some() => {
                self.is_finished = true;
                return Err(error::parse_error_frame(data, frame.error));
            }
            _ => {}
        }
        Ok(())
    }

    fn parse_complete_body(&mut self, json: &str) -> Result<(), ModelError> {
        // A complete response is the same as in the last frame of a stream; anything else is an error, or ignored.
        match serde_json::from_str::<Response>(json) {
            Ok(response) if response.output.is_some() || response.status.is_some() => {
                self.finish_response("response.completed", json, response)
            }
            _ => self.parse_frame("", json),
        }
    }

    fn end_of_stream(&mut self) -> Result<(), ModelError> {
        if self.is_finished {
            return Ok(());
        }
        self.is_finished = true;
        Err(response_cut_off())
    }

    fn events(&mut self) -> &mut Vec<ModelEvent> {
        &mut self.events
    }
}

/// Separates the parts of a summary.
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
            held_call: None,
            events: Vec::new(),
        }
    }

    fn item_added(&mut self, frame: &Frame<'_>) {
        let Some(raw) = frame.item else { return };
        let item: wire::Item = parse_object(raw.get()).unwrap_or_default();
        if self.items.has_pending(&item.id) {
            return;
        }
        let mut pending = PendingItem {
            kind: PendingKind::from_type(&item.kind),
            is_custom: item.kind == CUSTOM_CALL,
            output_index: frame.output_index,
            id: item.id,
            call_id: item.call_id,
            name: item.name,
            added_item: serde_json::from_str(raw.get()).ok(),
            ..PendingItem::default()
        };
        if pending.kind == PendingKind::Call {
            if pending.call_id.is_empty() {
                pending.call_id.clone_from(&pending.id);
            }
            if !pending.call_id.is_empty() && !pending.name.is_empty() {
                self.start_call(&mut pending);
            }
        }
        self.items.push(pending);
    }

    fn start_call(&mut self, pending: &mut PendingItem) {
        let index = self.call_count;
        self.call_count += 1;
        pending.call_index = Some(index);
        self.events.push(ModelEvent::CallBegins {
            index,
            id: pending.call_id.as_str().into(),
            name: tool_name(&self.tools, &pending.name),
        });
    }

    /// Appends a delta to its item, and returns it.
    fn append_delta(&mut self, kind: PendingKind, frame: Frame<'_>) -> Option<String> {
        if frame.delta.is_empty() {
            return None;
        }
        self.items.find_or_insert(kind, &frame).text.push_str(&frame.delta);
        Some(frame.delta.into_owned())
    }

    /// Emits an item that is done.
    fn item_done(&mut self, raw: &RawValue, output_index: Option<u64>) {
        let item: wire::Item = parse_object(raw.get()).unwrap_or_default();
        let Some((index, mut pending)) = self.items.take_completed(&item, output_index) else {
            return;
        };
        self.emit_item(&mut pending, item, raw);
        self.items.put_back(index, pending);
    }

    /// Emits a complete item, and its text if there were no deltas of it.
    fn emit_item(&mut self, pending: &mut PendingItem, mut item: wire::Item, raw: &RawValue) {
        self.emit_held_call(false);
        let search = tool_search::called_tool(&item, &self.tools).map(str::to_owned);
        if let Some(search) = search {
            item.name = search;
            return self.emit_call(pending, item, raw);
        }
        if pending.kind == PendingKind::Call {
            return self.emit_call(pending, item, raw);
        }
        let mut patched = None;
        let streamed = !(pending.text.is_empty() && pending.refusal.is_empty());
        if pending.kind == PendingKind::Message && item.content.is_none() && streamed {
            patched = item::with_fields(raw, [("content", pending.content_parts())]);
            item.content = Some(vec![wire::Part {
                text: Some(pending.text.clone()),
                refusal: Some(pending.refusal.clone()).filter(|refusal| !refusal.is_empty()),
            }]);
        }
        let kind = item::item_kind(item);
        match &kind {
            ItemKind::Text { text } if pending.text.is_empty() && !text.is_empty() => {
                self.events.push(ModelEvent::Text(text.clone()));
            }
            ItemKind::Reasoning { text } if pending.text.is_empty() && !text.is_empty() => {
                self.events.push(ModelEvent::Reasoning(text.clone()));
            }
            ItemKind::HostedApproval { .. } => self.awaits_results = true,
            ItemKind::Refusal { .. } => self.has_refusal = true,
            _ => {}
        }
        let raw = patched.unwrap_or_else(|| raw.to_owned());
        self.events.push(ModelEvent::Item(Item::new(kind).with_raw(NAME, raw)));
    }

    fn emit_call(&mut self, pending: &mut PendingItem, item: wire::Item, raw: &RawValue) {
        let mut patches = Vec::new();
        if pending.call_id.is_empty() {
            pending.call_id.clone_from(&pending.id);
        }
        if item.name.is_empty() {
            patches.push(("name", json!(pending.name)));
        } else {
            pending.name = item.name;
        }
        pending.is_custom |= item.kind == CUSTOM_CALL;
        let (field, mut arguments) = match pending.is_custom {
            true => ("input", item.input),
            false => ("arguments", item.arguments.0),
        };
        if arguments.is_empty() && !pending.text.is_empty() {
            patches.push((field, json!(pending.text)));
            arguments.clone_from(&pending.text);
        }
        // Blank arguments mean none, but here they were not received.
        if item.status == "incomplete" && arguments.trim().is_empty() {
            return;
        }
        if pending.is_custom {
            arguments =
                format!("{}{}", arguments_start(&self.tools, &pending.name), escape(&arguments));
        }
        let mut call = ToolCall::new(pending.name.as_str(), arguments.as_str());
        if pending.call_id.is_empty() {
            pending.call_id = call.id.as_str().to_owned();
        }
        if item.call_id.is_empty() {
            patches.push(("call_id", json!(pending.call_id)));
        }
        call = call.with_id(pending.call_id.as_str());
        if pending.call_index.is_none() {
            self.start_call(pending);
        }
        if let Some(index) = pending.call_index
            && !pending.arguments_streamed
            && !arguments.is_empty()
        {
            self.events.push(ModelEvent::CallDelta { index, delta: arguments });
        }
        let raw = item::with_fields(raw, patches).unwrap_or_else(|| raw.to_owned());
        self.awaits_results = true;
        if pending.is_custom {
            let index = pending.call_index.unwrap_or_default();
            let is_cut_off = item.status == "incomplete";
            self.held_call = Some(HeldCall { index, call, raw, is_cut_off });
            return;
        }
        self.events.push(ModelEvent::Item(Item::call(self.tools.lift(call)).with_raw(NAME, raw)));
    }

    /// Emits the call that is held back; if the response was cut off in it, without the end of its arguments.
    fn emit_held_call(&mut self, is_cut_off: bool) {
        let Some(held) = self.held_call.take() else { return };
        let mut call = held.call;
        if !is_cut_off && !held.is_cut_off {
            call.arguments = format!("{}{ARGUMENTS_END}", call.arguments.as_str()).into();
            let delta = ARGUMENTS_END.to_owned();
            self.events.push(ModelEvent::CallDelta { index: held.index, delta });
        }
        let item = Item::call(self.tools.lift(call)).with_raw(NAME, held.raw);
        self.events.push(ModelEvent::Item(item));
    }

    /// Ends the response: emits the items that had no frame of their own, and the stop reason.
    fn finish_response(
        &mut self,
        kind: &str,
        data: &str,
        response: Response,
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
            for (index, raw) in output.iter().enumerate() {
                let index = u64::try_from(index).ok();
                if !self.items.is_done(raw, index) {
                    self.item_done(raw, index);
                }
            }
        }
        let is_incomplete = kind == "response.incomplete" || status == Some("incomplete");
        self.emit_unfinished(is_incomplete);
        let is_cancelled = kind == "response.cancelled" || status == Some("cancelled");
        self.emit_held_call(is_incomplete || is_cancelled);
        let reason = response.incomplete_details.reason;
        let stop = match (is_incomplete, reason.as_deref()) {
            (_, Some("max_output_tokens")) => StopReason::Length,
            (_, Some("content_filter")) => StopReason::Filtered,
            (true, Some(reason)) => StopReason::Other(reason.to_owned()),
            (true, None) => StopReason::Other("incomplete".to_owned()),
            _ if is_cancelled => StopReason::Other("cancelled".to_owned()),
            _ if self.awaits_results => StopReason::Calls,
            _ if self.has_refusal => StopReason::Refused,
            _ => StopReason::End,
        };
        self.events.push(ModelEvent::Finished { stop, usage: response.usage.into() });
        Ok(())
    }

    /// Emits the items of which there were only deltas.
    fn emit_unfinished(&mut self, is_incomplete: bool) {
        let status = if is_incomplete { "incomplete" } else { "completed" };
        for mut pending in self.items.take_unfinished() {
            let fields = match pending.kind {
                PendingKind::Call if pending.is_custom && !pending.name.is_empty() => object([
                    ("type", CUSTOM_CALL.into()),
                    ("name", pending.name.as_str().into()),
                    ("input", pending.text.as_str().into()),
                    ("status", status.into()),
                ]),
                PendingKind::Call if !pending.name.is_empty() => object([
                    ("type", "function_call".into()),
                    ("name", pending.name.as_str().into()),
                    ("arguments", pending.text.as_str().into()),
                    ("status", status.into()),
                ]),
                PendingKind::Message
                    if !(pending.text.is_empty() && pending.refusal.is_empty()) =>
                {
                    object([
                        ("type", "message".into()),
                        ("role", "assistant".into()),
                        ("content", pending.content_parts()),
                        ("status", status.into()),
                    ])
                }
                // Without its JSON, reasoning cannot be replayed.
                PendingKind::Reasoning if !pending.text.is_empty() => {
                    let text = pending.text;
                    self.events.push(ModelEvent::Item(Item::new(ItemKind::Reasoning { text })));
                    continue;
                }
                _ => continue,
            };
            let mut item = pending.added_item.take().unwrap_or_default();
            item.extend(fields);
            if pending.kind == PendingKind::Message && !pending.id.is_empty() {
                item.entry("id").or_insert_with(|| pending.id.as_str().into());
            }
            if let Ok(raw) = to_raw_value(&item) {
                let item = parse_object(raw.get()).unwrap_or_default();
                self.emit_item(&mut pending, item, &raw);
            }
        }
    }
}
