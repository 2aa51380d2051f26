//! Encodes events as parts of the AI SDK's UI message stream (v1).

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolwright_chat::{ApprovalVerdict, ChatEvent, TurnEnd};
use toolwright_conversation::EndpointEvent;
use toolwright_conversation::logged_event::TextKind;
use toolwright_core::{CallId, Outcome, ToolCall, ToolResult};

use crate::protocols::{EventEncoder, Messages, StepState, content_text};

/// Encodes one turn as the parts of one message.
pub(crate) struct AiSdkEncoder {
    message_id: String,
    /// Calls of the turn that were made before this stream.
    earlier_calls: Vec<ToolCall>,
    /// Calls that the client has received.
    announced_calls: Vec<CallId>,
    denied_calls: Vec<CallId>,
    open_block: Option<TextKind>,
    /// The number of parts so far, for their ids.
    part_count: usize,
    /// The id of the open block.
    part_id: String,
    step: StepState,
    has_text: bool,
}

impl AiSdkEncoder {
    /// Starts the message of this id. `before` are the calls of the turn so far, of which the client has those in `known`.
    pub(crate) fn new(message: String, before: Vec<ToolCall>, known: Vec<CallId>) -> Self {
        Self {
            message_id: message,
            earlier_calls: before,
            announced_calls: known,
            denied_calls: Vec::new(),
            open_block: None,
            part_count: 0,
            part_id: String::new(),
            step: StepState::None,
            has_text: false,
        }
    }

    /// Starts a step when the model writes something first.
    fn begin_step(&mut self, out: &mut Messages) {
        if self.step == StepState::ModelDone {
            self.close_block(out);
            out.push(json!({ "type": "finish-step" }));
        }
        if self.step != StepState::Open {
            out.push(json!({ "type": "start-step" }));
            self.step = StepState::Open;
        }
    }

    fn write_text(&mut self, text_kind: TextKind, delta: &str, out: &mut Messages) {
        self.begin_step(out);
        self.has_text |= text_kind == TextKind::Text;
        if self.open_block != Some(text_kind) {
            self.close_block(out);
            self.part_count += 1;
            self.part_id = format!("p{}", self.part_count);
            self.open_block = Some(text_kind);
            let kind = text_kind.name();
            out.push(json!({ "type": format!("{kind}-start"), "id": self.part_id }));
        }
        let kind = match text_kind {
            TextKind::Text => "text-delta",
            TextKind::Reasoning => "reasoning-delta",
        };
        out.push(TextDelta { r#type: kind, id: &self.part_id, delta });
    }

    fn close_block(&mut self, out: &mut Messages) {
        if let Some(text_kind) = self.open_block.take() {
            out.push(json!({ "type": format!("{}-end", text_kind.name()), "id": self.part_id }));
        }
    }

    fn announce_call(&mut self, call: &ToolCall, out: &mut Messages) {
        self.announced_calls.push(call.id.clone());
        let text = call.arguments.as_str();
        // Arguments that are not JSON are shown verbatim; the result contains the error.
        let input = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        out.push(json!({
            "type": "tool-input-available", "toolCallId": call.id, "toolName": call.name, "input": input,
        }));
    }

    /// Announces a call that was not part of this stream.
    fn announce_if_unknown(&mut self, result: &ToolResult, out: &mut Messages) {
        if self.announced_calls.contains(&result.call_id) {
            return;
        }
        let before = self.earlier_calls.iter().find(|call| call.id == result.call_id);
        let call = before.cloned();
        let call = call
            .unwrap_or_else(|| ToolCall::new(&result.tool, "{}").with_id(result.call_id.clone()));
        self.announce_call(&call, out);
    }

    fn on_decision(&mut self, call: &CallId, verdict: &ApprovalVerdict, out: &mut Messages) {
        let reason = match verdict {
            ApprovalVerdict::Deny { reason } => Some(reason),
            _ => None,
        };
        if reason.is_some() {
            self.denied_calls.push(call.clone());
        }
        // A client that was not sent the call has no part to update.
        if self.announced_calls.contains(call) {
            let mut part = json!({
                "type": "tool-approval-response", "approvalId": call, "approved": reason.is_none(),
            });
            if let (Some(reason), Some(part)) = (reason, part.as_object_mut()) {
                part.insert("reason".to_owned(), reason.as_str().into());
            }
            out.push(part);
        }
    }

    fn on_result(&mut self, result: &ToolResult, out: &mut Messages) {
        self.close_block(out);
        self.announce_if_unknown(result, out);
        let call = &result.call_id;
        out.push(match result.outcome {
            Outcome::Ok => {
                json!({ "type": "tool-output-available", "toolCallId": call, "output": result_output(result) })
            }
            Outcome::Denied if self.denied_calls.contains(call) => {
                json!({ "type": "tool-output-denied", "toolCallId": call })
            }
            _ => json!({ "type": "tool-output-error", "toolCallId": call, "errorText": result.text() }),
        });
    }

    fn on_hosted_call(
        &mut self,
        tool: &str,
        input: &str,
        output: &str,
        failed: bool,
        out: &mut Messages,
    ) {
        self.begin_step(out);
        self.close_block(out);
        self.part_count += 1;
        let id = format!("hosted-{}", self.part_count);
        out.push(json!({
            "type": "tool-input-available", "toolCallId": id, "toolName": tool, "input": input,
            "providerExecuted": true, "dynamic": true,
        }));
        out.push(match failed {
            false => json!({
                "type": "tool-output-available", "toolCallId": id, "output": output,
                "providerExecuted": true, "dynamic": true,
            }),
            true => json!({
                "type": "tool-output-error", "toolCallId": id, "errorText": output,
                "providerExecuted": true, "dynamic": true,
            }),
        });
    }

    fn end_turn(&mut self, end: &TurnEnd, metadata: Map<String, Value>, out: &mut Messages) {
        let reason = match end {
            TurnEnd::Answered | TurnEnd::Direct => "stop",
            TurnEnd::Length => "length",
            TurnEnd::Cancelled => {
                self.close_block(out);
                out.push(json!({ "type": "abort", "reason": "the turn was stopped" }));
                return;
            }
            TurnEnd::Limit { reason } | TurnEnd::Failed { reason } => {
                self.close_block(out);
                out.push(json!({ "type": "error", "errorText": reason }));
                "error"
            }
            _ => "other",
        };
        self.finish_message(reason, metadata, out);
    }

    fn finish_message(&mut self, reason: &str, metadata: Map<String, Value>, out: &mut Messages) {
        self.close_block(out);
        if self.step != StepState::None {
            out.push(json!({ "type": "finish-step" }));
            self.step = StepState::None;
        }
        let mut part = json!({ "type": "finish", "finishReason": reason });
        if let Some(part) = part.as_object_mut()
            && !metadata.is_empty()
        {
            part.insert("messageMetadata".to_owned(), metadata.into());
        }
        out.push(part);
    }
}

/// A piece of text. This and the next are most of a stream, so they are not built as a `Value` first.
#[derive(Serialize)]
struct TextDelta<'a> {
    r#type: &'static str,
    id: &'a str,
    delta: &'a str,
}

/// A piece of a call's arguments.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolInputDelta<'a> {
    r#type: &'static str,
    tool_call_id: &'a CallId,
    input_text_delta: &'a str,
}

impl EventEncoder for AiSdkEncoder {
    fn start(&mut self, out: &mut Messages) {
        out.push(json!({ "type": "start", "messageId": self.message_id }));
    }

    fn on_text(&mut self, kind: TextKind, delta: &str, out: &mut Messages) {
        self.write_text(kind, delta, out);
    }

    fn on_chat_event(&mut self, event: &ChatEvent, out: &mut Messages) {
        match event {
            ChatEvent::CallBegins { call, tool } => {
                self.begin_step(out);
                self.close_block(out);
                self.announced_calls.push(call.clone());
                out.push(
                    json!({ "type": "tool-input-start", "toolCallId": call, "toolName": tool }),
                );
            }
            ChatEvent::CallDelta { call, delta } => {
                let kind = "tool-input-delta";
                out.push(ToolInputDelta {
                    r#type: kind,
                    tool_call_id: call,
                    input_text_delta: delta,
                });
            }
            ChatEvent::Call { call } => {
                self.begin_step(out);
                self.close_block(out);
                self.announce_call(call, out);
            }
            ChatEvent::ChildCall { call, .. } => self.announce_call(call, out),
            ChatEvent::HostedCall { tool, input, output, failed } => {
                self.on_hosted_call(tool, input, output, *failed, out)
            }
            ChatEvent::Step { .. } => {
                self.close_block(out);
                if self.step == StepState::Open {
                    self.step = StepState::ModelDone;
                }
            }
            ChatEvent::ApprovalRequested(approval) => {
                let id = &approval.call.id;
                if !self.announced_calls.contains(id) {
                    self.announce_call(&approval.call, out);
                }
                let signature = serde_json::to_string(&approval.token).unwrap_or_default();
                out.push(json!({
                    "type": "tool-approval-request", "approvalId": id, "toolCallId": id, "signature": signature,
                    "approvalDescriptor": {
                        "title": approval.tool.display_name(),
                        "description": approval.tool.description,
                        "input": approval.arguments,
                    },
                }));
            }
            ChatEvent::ApprovalDecided { call, verdict } => self.on_decision(call, verdict, out),
            ChatEvent::Progress { call, done, total, message } => {
                let data =
                    json!({ "toolCallId": call, "done": done, "total": total, "message": message });
                out.push(json!({ "type": "data-progress", "data": data, "transient": true }));
            }
            ChatEvent::Update { result } => {
                self.announce_if_unknown(result, out);
                out.push(json!({
                    "type": "tool-output-available", "toolCallId": result.call_id,
                    "output": result_output(result), "preliminary": true,
                }));
            }
            ChatEvent::Result { result, .. } => self.on_result(result, out),
            ChatEvent::TurnPaused { .. } => self.finish_message("tool-calls", Map::new(), out),
            ChatEvent::TurnEnded { end, content, usage, cost } => {
                if !self.has_text {
                    for text in content.iter().filter_map(content_text) {
                        self.write_text(TextKind::Text, text, out);
                    }
                }
                let mut metadata = Map::new();
                metadata.insert("usage".to_owned(), json!(usage));
                metadata.insert("cost".to_owned(), json!(cost));
                self.end_turn(end, metadata, out);
            }
            // Text has its own method; model requests have no part in this protocol.
            _ => {}
        }
    }

    fn on_endpoint_event(&mut self, event: &EndpointEvent, out: &mut Messages) {
        match event {
            EndpointEvent::Metadata { metadata } => {
                out.push(json!({ "type": "message-metadata", "messageMetadata": metadata }));
            }
            EndpointEvent::Status { done, total, message } => {
                let data = json!({ "done": done, "total": total, "message": message });
                out.push(json!({ "type": "data-status", "data": data, "transient": true }));
            }
            EndpointEvent::Error { message, .. } => {
                self.close_block(out);
                out.push(json!({ "type": "error", "errorText": message }));
                self.finish_message("error", Map::new(), out);
            }
            EndpointEvent::Shutdown { reason } => {
                self.close_block(out);
                out.push(json!({ "type": "abort", "reason": reason }));
            }
            EndpointEvent::Message { .. }
            | EndpointEvent::Withdrawn { .. }
            | EndpointEvent::Peers { .. } => {}
        }
    }

    fn terminator(&self) -> Option<&'static str> {
        Some("[DONE]")
    }
}

/// The output of a result: its structured content, else its text, else its content.
fn result_output(result: &ToolResult) -> Value {
    if let Some(structured) = &result.structured {
        return structured.to_value();
    }
    let all_text = result.content.iter().all(|item| content_text(item).is_some());
    match all_text {
        true => result.text().into(),
        false => json!(result.content),
    }
}
