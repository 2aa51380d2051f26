//! Encodes events as events of AG-UI 1.0: one run for each turn, or part of a turn between two decisions.

use serde::Serialize;
use serde_json::{Value, json};
use toolwright_chat::{ChatEvent, ModelId, PendingApproval, TurnEnd};
use toolwright_conversation::EndpointEvent;
use toolwright_conversation::event_log::PendingApprovals;
use toolwright_conversation::logged_event::TextKind;
use toolwright_core::{CallId, ToolCall, ToolResult};

use super::thread::content_json;
use crate::conversation::room::ConversationSnapshot;
use crate::protocols::{EventEncoder, Messages, StepState};

mod missed_events;
mod run_end;

pub(crate) use self::run_end::run_error_event;

/// The protocol version in `RUN_STARTED`.
const PROTOCOL_VERSION: &str = "1.0";

/// Encodes one turn as one run.
pub(crate) struct AgUiEncoder {
    thread_id: String,
    run_id: String,
    /// The prefix of the ids of this run's messages.
    message_prefix: String,
    /// The messages of the thread, sent first if the client requests them.
    initial_messages: Option<Vec<Value>>,
    /// True if user messages are sent to the client, because it did not send them itself.
    echo_messages: bool,
    /// The number of messages so far, for their ids.
    message_count: usize,
    /// The message that the calls of this step belong to.
    parent_message_id: Option<String>,
    open_block: Option<TextKind>,
    step: StepState,
    step_count: usize,
    /// True if the current step has text.
    has_text: bool,
    /// Calls whose arguments are not complete.
    open_calls: Vec<CallId>,
    pending_approvals: PendingApprovals,
    /// Calls whose results the client has sent itself.
    client_results: Vec<CallId>,
    model: Option<ModelId>,
    /// The id of the inbox item that the run is about, and of its first entry; `None` if the run shows a thread.
    item: Option<String>,
}

impl AgUiEncoder {
    /// Starts a run of a thread; `name` is the prefix of its message ids and unique to the run.
    pub(crate) fn new(thread: String, run: String, name: String) -> Self {
        Self {
            thread_id: thread,
            run_id: run,
            message_prefix: name,
            initial_messages: None,
            echo_messages: false,
            message_count: 0,
            parent_message_id: None,
            open_block: None,
            step: StepState::None,
            step_count: 0,
            has_text: false,
            open_calls: Vec::new(),
            pending_approvals: PendingApprovals::default(),
            client_results: Vec::new(),
            model: None,
            item: None,
        }
    }

    /// Sets the inbox item that the run is about.
    pub(crate) fn with_item(mut self, item: String) -> Self {
        self.item = Some(item);
        self
    }

    /// Omits the results of these calls, which the client has sent.
    pub(crate) fn with_client_results(mut self, calls: Vec<CallId>) -> Self {
        self.client_results = calls;
        self
    }

    /// Sends the messages of the thread first; `pending` are its pending calls.
    pub(crate) fn with_thread(
        mut self,
        messages: Vec<Value>,
        pending: Vec<PendingApproval>,
    ) -> Self {
        (self.initial_messages, self.pending_approvals.0) = (Some(messages), pending);
        self.echo_messages = true;
        self
    }

    /// The events of a thread without a running turn: its messages and pending calls.
    pub(crate) fn encode_idle_thread(mut self) -> Messages {
        let mut out = Messages::default();
        self.start(&mut out);
        self.finish_paused_run(&mut out);
        out
    }

    /// Starts a step when the model writes something first.
    fn begin_step(&mut self, out: &mut Messages) {
        if self.step == StepState::Open {
            return;
        }
        self.end_step(out);
        self.step_count += 1;
        out.push(json!({ "type": "STEP_STARTED", "stepName": self.step_name() }));
        (self.step, self.has_text, self.parent_message_id) = (StepState::Open, false, None);
    }

    fn end_step(&mut self, out: &mut Messages) {
        self.close_block(out);
        // Calls that were interrupted.
        for call in self.open_calls.drain(..) {
            out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": call }));
        }
        if self.step != StepState::None {
            out.push(json!({ "type": "STEP_FINISHED", "stepName": self.step_name() }));
            self.step = StepState::None;
        }
    }

    fn step_name(&self) -> String {
        format!("step {}", self.step_count)
    }

    fn current_message_id(&self) -> String {
        format!("{}-{}", self.message_prefix, self.message_count)
    }

    fn write_text(&mut self, text_kind: TextKind, delta: &str, out: &mut Messages) {
        if delta.is_empty() {
            return;
        }
        self.begin_step(out);
        if self.open_block != Some(text_kind) {
            self.close_block(out);
            self.message_count += 1;
            self.open_block = Some(text_kind);
            let id = self.current_message_id();
            match text_kind {
                TextKind::Text => {
                    self.parent_message_id = Some(id.clone());
                    out.push(json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant" }));
                }
                TextKind::Reasoning => {
                    out.push(json!({ "type": "REASONING_START", "messageId": id }));
                    out.push(json!({ "type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning" }));
                }
            }
        }
        let kind = match text_kind {
            TextKind::Text => {
                self.has_text = true;
                "TEXT_MESSAGE_CONTENT"
            }
            TextKind::Reasoning => "REASONING_MESSAGE_CONTENT",
        };
        out.push(TextDelta { r#type: kind, message_id: self.current_message_id(), delta });
    }

    fn close_block(&mut self, out: &mut Messages) {
        let id = self.current_message_id();
        match self.open_block.take() {
            Some(TextKind::Text) => {
                out.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": id }))
            }
            Some(TextKind::Reasoning) => {
                out.push(json!({ "type": "REASONING_MESSAGE_END", "messageId": id }));
                out.push(json!({ "type": "REASONING_END", "messageId": id }));
            }
            None => {}
        }
    }

    fn begin_call(&mut self, call: &CallId, tool: &str, out: &mut Messages) {
        self.begin_step(out);
        self.close_block(out);
        if self.parent_message_id.is_none() {
            self.message_count += 1;
            self.parent_message_id = Some(self.current_message_id());
        }
        self.start_call(call, tool, out);
    }

    fn end_call(&mut self, call: &ToolCall, out: &mut Messages) {
        self.open_calls.retain(|open| *open != call.id);
        let arguments = call.arguments.as_str();
        out.push(json!({ "type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": arguments }));
        out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": call.id }));
    }

    fn start_call(&mut self, call: &CallId, tool: &str, out: &mut Messages) {
        self.open_calls.push(call.clone());
        out.push(json!({
            "type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool, "parentMessageId": self.parent_message_id,
        }));
    }

    fn on_result(&mut self, result: &ToolResult, millis: u64, out: &mut Messages) {
        self.close_block(out);
        let call = &result.call_id;
        if self.client_results.contains(call) {
            return;
        }
        let metadata = json!({ "toolwright": { "outcome": result.outcome, "millis": millis } });
        out.push(json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("result-{call}"), "toolCallId": call,
            "role": "tool", "content": content_json(&result.content), "metadata": metadata,
        }));
    }

    fn on_hosted_call(
        &mut self,
        tool: &str,
        input: &str,
        output: &str,
        failed: bool,
        out: &mut Messages,
    ) {
        let id = CallId::from(format!("{}-hosted-{}", self.message_prefix, self.message_count));
        self.begin_call(&id, tool, out);
        // The id of the next hosted call differs.
        self.message_count += 1;
        self.open_calls.retain(|open| *open != id);
        out.push(json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": input }));
        out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": id }));
        let metadata = json!({ "toolwright": { "outcome": if failed { "failed" } else { "ok" } } });
        out.push(json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("result-{id}"), "toolCallId": id,
            "role": "tool", "content": output, "metadata": metadata,
        }));
    }
}

/// A piece of text. Most of a stream are these, so they are not built as a `Value` first.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TextDelta<'a> {
    r#type: &'static str,
    message_id: String,
    delta: &'a str,
}

impl EventEncoder for AgUiEncoder {
    fn start(&mut self, out: &mut Messages) {
        out.push(json!({
            "type": "RUN_STARTED", "threadId": self.thread_id, "runId": self.run_id, "protocolVersion": PROTOCOL_VERSION,
        }));
        if let Some(messages) = self.initial_messages.take() {
            out.push(json!({ "type": "MESSAGES_SNAPSHOT", "messages": messages }));
        }
    }

    fn on_snapshot(&mut self, snapshot: &ConversationSnapshot, out: &mut Messages) -> bool {
        self.continue_from(snapshot, out)
    }

    fn on_text(&mut self, kind: TextKind, delta: &str, out: &mut Messages) {
        self.write_text(kind, delta, out);
    }

    fn on_chat_event(&mut self, event: &ChatEvent, out: &mut Messages) {
        self.pending_approvals.on_event(event);
        match event {
            ChatEvent::TurnStarted { model, .. } | ChatEvent::Fallback { model, .. } => {
                self.model = Some(model.clone())
            }
            ChatEvent::CallBegins { call, tool } => self.begin_call(call, tool.as_str(), out),
            // Arguments are sent when they are complete: their deltas are in the format of the model's API.
            ChatEvent::Call { call } => {
                if !self.open_calls.contains(&call.id) {
                    self.begin_call(&call.id, call.name.as_str(), out);
                }
                self.end_call(call, out);
            }
            // The step of the model is over, but not the one of this protocol.
            ChatEvent::ChildCall { call, .. } => {
                self.close_block(out);
                self.start_call(&call.id, call.name.as_str(), out);
                self.end_call(call, out);
            }
            ChatEvent::HostedCall { tool, input, output, failed } => {
                self.on_hosted_call(tool, input, output, *failed, out)
            }
            ChatEvent::Step { .. } => {
                self.close_block(out);
                if self.step == StepState::Open {
                    self.step = StepState::ModelDone;
                }
            }
            ChatEvent::Progress { call, done, total, message } => {
                let value =
                    json!({ "toolCallId": call, "done": done, "total": total, "message": message });
                out.push(custom_event("progress", value));
            }
            ChatEvent::Update { result } => {
                let value = json!({ "toolCallId": result.call_id, "content": content_json(&result.content) });
                out.push(custom_event("update", value));
            }
            ChatEvent::Result { result, millis } => self.on_result(result, *millis, out),
            ChatEvent::TurnPaused { .. } => self.finish_paused_run(out),
            ChatEvent::TurnEnded { end, content, usage, cost } => {
                if !self.has_text || *end == TurnEnd::Direct {
                    for text in content.iter().filter_map(crate::protocols::content_text) {
                        self.write_text(TextKind::Text, text, out);
                    }
                }
                self.finish_ended_run(end, *usage, *cost, out);
            }
            // Text has its own method; model requests and the start of a call have no event in this protocol.
            _ => {}
        }
    }

    fn on_endpoint_event(&mut self, event: &EndpointEvent, out: &mut Messages) {
        match event {
            EndpointEvent::Metadata { metadata } => {
                out.push(custom_event("metadata", json!(metadata)))
            }
            EndpointEvent::Status { done, total, message } => {
                let value = json!({ "done": done, "total": total, "message": message });
                out.push(custom_event("status", value));
            }
            EndpointEvent::Error { kind, message } => self.fail_run(kind, message, None, out),
            EndpointEvent::Shutdown { reason } => self.fail_run("goodbye", reason, None, out),
            EndpointEvent::Message { role, content, .. } if self.echo_messages => {
                self.message_count += 1;
                let id = self.current_message_id();
                let text: Vec<&str> =
                    content.iter().filter_map(crate::protocols::content_text).collect();
                out.push(json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": role }));
                let text = text.join("\n");
                out.push(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": text }));
                out.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": id }));
            }
            EndpointEvent::Message { .. }
            | EndpointEvent::Withdrawn { .. }
            | EndpointEvent::Peers { .. } => {}
        }
    }
}

/// An event of type `CUSTOM`, with a name of this project.
fn custom_event(name: &str, value: Value) -> Value {
    json!({ "type": "CUSTOM", "name": format!("toolwright.{name}"), "value": value })
}

#[cfg(test)]
mod tests;
