//! Events in, parts of the AI SDK's UI message stream (v1) out.

use serde_json::{Map, Value, json};
use toolwright_chat::{ChatEvent, TurnEnd, ApprovalVerdict};
use toolwright_core::{CallId, Outcome, ToolCall, ToolResult};

use super::{Prose, Step, Translator, text};
use crate::event::{Event, Notice};

/// Tells one turn as the parts of one message.
pub(crate) struct AiSdk {
    message: String,
    /// Calls of the turn that this stream has not told of.
    before: Vec<ToolCall>,
    /// Calls that the client knows.
    known: Vec<CallId>,
    denied: Vec<CallId>,
    open: Option<Prose>,
    /// How many texts and the like there were: each has a name of its own.
    count: usize,
    step: Step,
    said: bool,
}

impl AiSdk {
    /// Starts the message of this id. Of the calls of the turn so far, `known` are the client's own already.
    pub(crate) fn new(message: String, before: Vec<ToolCall>, known: Vec<CallId>) -> Self {
        Self {
            message,
            before,
            known,
            denied: Vec::new(),
            open: None,
            count: 0,
            step: Step::None,
            said: false,
        }
    }

    fn chat(&mut self, event: &ChatEvent, out: &mut Vec<Value>) {
        match event {
            ChatEvent::Text { delta } => self.write(Prose::Text, delta, out),
            ChatEvent::Reasoning { delta } => self.write(Prose::Reasoning, delta, out),
            ChatEvent::CallBegins { call, tool } => {
                self.enter(out);
                self.close(out);
                self.known.push(call.clone());
                out.push(
                    json!({ "type": "tool-input-start", "toolCallId": call, "toolName": tool }),
                );
            }
            ChatEvent::CallDelta { call, delta } => {
                out.push(json!({ "type": "tool-input-delta", "toolCallId": call, "inputTextDelta": delta }));
            }
            ChatEvent::Call { call } => {
                self.enter(out);
                self.close(out);
                self.introduce(call, out);
            }
            ChatEvent::HostedCall {
                tool,
                input,
                output,
                failed,
            } => self.hosted(tool, input, output, *failed, out),
            ChatEvent::Step { .. } => {
                self.close(out);
                if self.step == Step::Open {
                    self.step = Step::Told;
                }
            }
            ChatEvent::ApprovalRequested(asked) => {
                let id = &asked.call.id;
                if !self.known.contains(id) {
                    self.introduce(&asked.call, out);
                }
                let signature = serde_json::to_string(&asked.token).unwrap_or_default();
                out.push(json!({
                    "type": "tool-approval-request", "approvalId": id, "toolCallId": id, "signature": signature,
                    "approvalDescriptor": {
                        "title": asked.tool.display_name(),
                        "description": asked.tool.description,
                        "input": asked.arguments,
                    },
                }));
            }
            ChatEvent::ApprovalDecided { call, verdict } => self.decided(call, verdict, out),
            ChatEvent::Progress {
                call,
                done,
                total,
                message,
            } => {
                let data =
                    json!({ "toolCallId": call, "done": done, "total": total, "message": message });
                out.push(json!({ "type": "data-progress", "data": data, "transient": true }));
            }
            ChatEvent::Update { result } => {
                self.recall(result, out);
                out.push(json!({
                    "type": "tool-output-available", "toolCallId": result.call,
                    "output": output(result), "preliminary": true,
                }));
            }
            ChatEvent::Result { result, .. } => self.result(result, out),
            ChatEvent::TurnPaused { .. } => self.finish("tool-calls", Map::new(), out),
            ChatEvent::TurnEnded {
                end,
                content,
                usage,
                cost,
            } => {
                if !self.said {
                    for text in content.iter().filter_map(text) {
                        self.write(Prose::Text, text, out);
                    }
                }
                let mut metadata = Map::new();
                metadata.insert("usage".to_owned(), json!(usage));
                metadata.insert("cost".to_owned(), json!(cost));
                self.ended(end, metadata, out);
            }
            // A model is asked, or a request goes out: pages of this protocol have no place for it.
            _ => {}
        }
    }

    fn notice(&mut self, notice: &Notice, out: &mut Vec<Value>) {
        match notice {
            Notice::Metadata { metadata } => {
                out.push(json!({ "type": "message-metadata", "messageMetadata": metadata }));
            }
            Notice::Status {
                done,
                total,
                message,
            } => {
                let data = json!({ "done": done, "total": total, "message": message });
                out.push(json!({ "type": "data-status", "data": data, "transient": true }));
            }
            Notice::Error { message, .. } => {
                self.close(out);
                out.push(json!({ "type": "error", "errorText": message }));
                self.finish("error", Map::new(), out);
            }
            Notice::Goodbye { reason } => {
                self.close(out);
                out.push(json!({ "type": "abort", "reason": reason }));
            }
            Notice::Said { .. } | Notice::Peers { .. } => {}
        }
    }

    /// A step of the model begins with what it writes first.
    fn enter(&mut self, out: &mut Vec<Value>) {
        if self.step == Step::Told {
            self.close(out);
            out.push(json!({ "type": "finish-step" }));
        }
        if self.step != Step::Open {
            out.push(json!({ "type": "start-step" }));
            self.step = Step::Open;
        }
    }

    fn write(&mut self, prose: Prose, delta: &str, out: &mut Vec<Value>) {
        self.enter(out);
        self.said |= prose == Prose::Text;
        let kind = prose.name();
        if self.open != Some(prose) {
            self.close(out);
            self.count += 1;
            self.open = Some(prose);
            out.push(json!({ "type": format!("{kind}-start"), "id": self.part() }));
        }
        out.push(json!({ "type": format!("{kind}-delta"), "id": self.part(), "delta": delta }));
    }

    fn part(&self) -> String {
        format!("p{}", self.count)
    }

    fn close(&mut self, out: &mut Vec<Value>) {
        if let Some(prose) = self.open.take() {
            out.push(json!({ "type": format!("{}-end", prose.name()), "id": self.part() }));
        }
    }

    fn introduce(&mut self, call: &ToolCall, out: &mut Vec<Value>) {
        self.known.push(call.id.clone());
        let text = call.arguments.as_str();
        // What is no JSON is shown as it was written; its result says what is wrong with it.
        let input = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        out.push(json!({
            "type": "tool-input-available", "toolCallId": call.id, "toolName": call.name, "input": input,
        }));
    }

    /// Tells of a call whose beginning was not in this stream.
    fn recall(&mut self, result: &ToolResult, out: &mut Vec<Value>) {
        if self.known.contains(&result.call) {
            return;
        }
        let before = self.before.iter().find(|call| call.id == result.call);
        let call = before.cloned();
        let call =
            call.unwrap_or_else(|| ToolCall::new(&result.tool, "{}").with_id(result.call.clone()));
        self.introduce(&call, out);
    }

    fn decided(&mut self, call: &CallId, verdict: &ApprovalVerdict, out: &mut Vec<Value>) {
        let reason = match verdict {
            ApprovalVerdict::Deny { reason } => Some(reason),
            _ => None,
        };
        if reason.is_some() {
            self.denied.push(call.clone());
        }
        // Who brought the decision knows it; to whom nothing was shown, nothing is decided.
        if self.known.contains(call) {
            let mut part = json!({
                "type": "tool-approval-response", "approvalId": call, "approved": reason.is_none(),
            });
            if let (Some(reason), Some(part)) = (reason, part.as_object_mut()) {
                part.insert("reason".to_owned(), reason.as_str().into());
            }
            out.push(part);
        }
    }

    fn result(&mut self, result: &ToolResult, out: &mut Vec<Value>) {
        self.close(out);
        self.recall(result, out);
        let call = &result.call;
        out.push(match result.outcome {
            Outcome::Ok => {
                json!({ "type": "tool-output-available", "toolCallId": call, "output": output(result) })
            }
            Outcome::Denied if self.denied.contains(call) => {
                json!({ "type": "tool-output-denied", "toolCallId": call })
            }
            _ => json!({ "type": "tool-output-error", "toolCallId": call, "errorText": result.text() }),
        });
    }

    fn hosted(&mut self, tool: &str, input: &str, found: &str, failed: bool, out: &mut Vec<Value>) {
        self.enter(out);
        self.close(out);
        self.count += 1;
        let id = format!("hosted-{}", self.count);
        out.push(json!({
            "type": "tool-input-available", "toolCallId": id, "toolName": tool, "input": input,
            "providerExecuted": true, "dynamic": true,
        }));
        out.push(match failed {
            false => json!({
                "type": "tool-output-available", "toolCallId": id, "output": found,
                "providerExecuted": true, "dynamic": true,
            }),
            true => json!({
                "type": "tool-output-error", "toolCallId": id, "errorText": found,
                "providerExecuted": true, "dynamic": true,
            }),
        });
    }

    fn ended(&mut self, end: &TurnEnd, metadata: Map<String, Value>, out: &mut Vec<Value>) {
        let reason = match end {
            TurnEnd::Answered | TurnEnd::Direct => "stop",
            TurnEnd::Length => "length",
            TurnEnd::Cancelled => {
                self.close(out);
                out.push(json!({ "type": "abort", "reason": "the turn was stopped" }));
                return;
            }
            TurnEnd::Limit { reason } | TurnEnd::Failed { reason } => {
                self.close(out);
                out.push(json!({ "type": "error", "errorText": reason }));
                "error"
            }
            _ => "other",
        };
        self.finish(reason, metadata, out);
    }

    fn finish(&mut self, reason: &str, metadata: Map<String, Value>, out: &mut Vec<Value>) {
        self.close(out);
        if self.step != Step::None {
            out.push(json!({ "type": "finish-step" }));
            self.step = Step::None;
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

impl Prose {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
        }
    }
}

impl Translator for AiSdk {
    fn open(&mut self) -> Vec<Value> {
        vec![json!({ "type": "start", "messageId": self.message })]
    }

    fn hear(&mut self, event: &Event) -> Vec<Value> {
        let mut out = Vec::new();
        match event {
            Event::Chat(event) => self.chat(event, &mut out),
            Event::Notice(notice) => self.notice(notice, &mut out),
        }
        out
    }

    fn seal(&self) -> Option<&'static str> {
        Some("[DONE]")
    }
}

/// A result as pages get it: what it is made of, else its text, else all it has.
fn output(result: &ToolResult) -> Value {
    if let Some(structured) = &result.structured {
        return structured.to_value();
    }
    let all_text = result.content.iter().all(|item| text(item).is_some());
    match all_text {
        true => result.text().into(),
        false => json!(result.content),
    }
}
