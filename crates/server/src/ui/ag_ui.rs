//! Events in, events of AG-UI 1.0 out: one run for each turn, or piece of a turn between two decisions.

use serde_json::{Value, json};
use toolwright_chat::{PendingApproval, ChatEvent, TurnEnd, ModelId};
use toolwright_core::{CallId, ToolResult};

use self::thread::content;
use super::{Prose, Step, Translator};
use crate::event::{Event, Notice};

mod end;
pub(crate) mod thread;

pub(crate) use self::end::error;

/// The version of the protocol that is spoken here.
const VERSION: &str = "1.0";

/// Tells one turn as one run.
pub(crate) struct AgUi {
    thread: String,
    run: String,
    /// What the messages of this run are named after.
    name: String,
    /// What the client is shown first: the whole thread, where it asks for that.
    thread_so_far: Option<Vec<Value>>,
    /// Whether the client is told what was said: it has not said it itself.
    listens: bool,
    /// How many messages there were: each has a name of its own.
    count: usize,
    /// The message that calls of this step belong to.
    message: Option<String>,
    open: Option<Prose>,
    step: Step,
    steps: usize,
    /// Whether this step of the model has said something.
    said: bool,
    /// Calls that are begun and not whole.
    begun: Vec<CallId>,
    waiting: Vec<PendingApproval>,
    /// Calls whose results the client has brought itself.
    known: Vec<CallId>,
    model: Option<ModelId>,
}

impl AgUi {
    /// Starts a run of a thread; its messages are named after `name`, which no other run has.
    pub(crate) fn new(thread: String, run: String, name: String) -> Self {
        Self {
            thread,
            run,
            name,
            thread_so_far: None,
            listens: false,
            count: 0,
            message: None,
            open: None,
            step: Step::None,
            steps: 0,
            said: false,
            begun: Vec::new(),
            waiting: Vec::new(),
            known: Vec::new(),
            model: None,
        }
    }

    /// Does not tell the results of these calls: the client has brought them.
    pub(crate) fn knowing(mut self, calls: Vec<CallId>) -> Self {
        self.known = calls;
        self
    }

    /// Shows the whole thread first, and what waits in it.
    pub(crate) fn showing(mut self, messages: Vec<Value>, waiting: Vec<PendingApproval>) -> Self {
        (self.thread_so_far, self.waiting) = (Some(messages), waiting);
        self.listens = true;
        self
    }

    /// What is said where no turn runs: all there is, and what it waits for.
    pub(crate) fn at_rest(mut self) -> Vec<Value> {
        let mut out = self.open();
        self.paused(&mut out);
        out
    }

    fn chat(&mut self, event: &ChatEvent, out: &mut Vec<Value>) {
        match event {
            ChatEvent::TurnStarted { model, .. } => self.model = Some(model.clone()),
            ChatEvent::Text { delta } => self.write(Prose::Text, delta, out),
            ChatEvent::Reasoning { delta } => self.write(Prose::Reasoning, delta, out),
            ChatEvent::CallBegins { call, tool } => self.begin(call, tool.as_str(), out),
            // Arguments are told when they are whole: on their way they are in the form of the model's wire.
            ChatEvent::Call { call } => {
                if !self.begun.contains(&call.id) {
                    self.begin(&call.id, call.name.as_str(), out);
                }
                self.begun.retain(|begun| *begun != call.id);
                let arguments = call.arguments.as_str();
                out.push(
                    json!({ "type": "TOOL_CALL_ARGS", "toolCallId": call.id, "delta": arguments }),
                );
                out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": call.id }));
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
                self.waiting.retain(|known| known.call.id != asked.call.id);
                self.waiting.push(asked.clone());
            }
            ChatEvent::ApprovalDecided { call, .. } => self.waiting.retain(|asked| asked.call.id != *call),
            ChatEvent::Progress {
                call,
                done,
                total,
                message,
            } => {
                let value =
                    json!({ "toolCallId": call, "done": done, "total": total, "message": message });
                out.push(custom("progress", value));
            }
            ChatEvent::Update { result } => {
                let value =
                    json!({ "toolCallId": result.call, "content": content(&result.content) });
                out.push(custom("update", value));
            }
            ChatEvent::Result { result, millis } => self.result(result, *millis, out),
            ChatEvent::TurnPaused { .. } => self.paused(out),
            ChatEvent::TurnEnded {
                end,
                content,
                usage,
                cost,
            } => {
                if !self.said || *end == TurnEnd::Direct {
                    for text in content.iter().filter_map(crate::ui::text) {
                        self.write(Prose::Text, text, out);
                    }
                }
                self.ended(end, *usage, *cost, out);
            }
            // What goes over the model's wire, and that a call runs, has no word in this protocol.
            _ => {}
        }
    }

    fn notice(&mut self, notice: &Notice, out: &mut Vec<Value>) {
        match notice {
            Notice::Metadata { metadata } => out.push(custom("metadata", json!(metadata))),
            Notice::Status {
                done,
                total,
                message,
            } => {
                let value = json!({ "done": done, "total": total, "message": message });
                out.push(custom("status", value));
            }
            Notice::Error { kind, message } => self.failed(kind, message, None, out),
            Notice::Goodbye { reason } => self.failed("goodbye", reason, None, out),
            Notice::Said { role, content } if self.listens => {
                self.count += 1;
                let id = self.named();
                let said: Vec<&str> = content.iter().filter_map(crate::ui::text).collect();
                out.push(json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": role }));
                let said = said.join("\n");
                out.push(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": said }));
                out.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": id }));
            }
            Notice::Said { .. } | Notice::Peers { .. } => {}
        }
    }

    /// A step of the model begins with what it writes first.
    fn enter(&mut self, out: &mut Vec<Value>) {
        if self.step == Step::Open {
            return;
        }
        self.leave(out);
        self.steps += 1;
        out.push(json!({ "type": "STEP_STARTED", "stepName": self.step_name() }));
        (self.step, self.said, self.message) = (Step::Open, false, None);
    }

    fn leave(&mut self, out: &mut Vec<Value>) {
        self.close(out);
        // Those that broke off.
        for call in self.begun.drain(..) {
            out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": call }));
        }
        if self.step != Step::None {
            out.push(json!({ "type": "STEP_FINISHED", "stepName": self.step_name() }));
            self.step = Step::None;
        }
    }

    fn step_name(&self) -> String {
        format!("step {}", self.steps)
    }

    fn named(&self) -> String {
        format!("{}-{}", self.name, self.count)
    }

    fn write(&mut self, prose: Prose, delta: &str, out: &mut Vec<Value>) {
        if delta.is_empty() {
            return;
        }
        self.enter(out);
        if self.open != Some(prose) {
            self.close(out);
            self.count += 1;
            self.open = Some(prose);
            let id = self.named();
            match prose {
                Prose::Text => {
                    self.message = Some(id.clone());
                    out.push(json!({ "type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant" }));
                }
                Prose::Reasoning => {
                    out.push(json!({ "type": "REASONING_START", "messageId": id }));
                    out.push(json!({ "type": "REASONING_MESSAGE_START", "messageId": id, "role": "reasoning" }));
                }
            }
        }
        let kind = match prose {
            Prose::Text => {
                self.said = true;
                "TEXT_MESSAGE_CONTENT"
            }
            Prose::Reasoning => "REASONING_MESSAGE_CONTENT",
        };
        out.push(json!({ "type": kind, "messageId": self.named(), "delta": delta }));
    }

    fn close(&mut self, out: &mut Vec<Value>) {
        let id = self.named();
        match self.open.take() {
            Some(Prose::Text) => out.push(json!({ "type": "TEXT_MESSAGE_END", "messageId": id })),
            Some(Prose::Reasoning) => {
                out.push(json!({ "type": "REASONING_MESSAGE_END", "messageId": id }));
                out.push(json!({ "type": "REASONING_END", "messageId": id }));
            }
            None => {}
        }
    }

    fn begin(&mut self, call: &CallId, tool: &str, out: &mut Vec<Value>) {
        self.enter(out);
        self.close(out);
        if self.message.is_none() {
            self.count += 1;
            self.message = Some(self.named());
        }
        self.begun.push(call.clone());
        out.push(json!({
            "type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": tool, "parentMessageId": self.message,
        }));
    }

    fn result(&mut self, result: &ToolResult, millis: u64, out: &mut Vec<Value>) {
        self.close(out);
        let call = &result.call;
        if self.known.contains(call) {
            return;
        }
        let metadata = json!({ "toolwright": { "outcome": result.outcome, "millis": millis } });
        out.push(json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("result-{call}"), "toolCallId": call,
            "role": "tool", "content": content(&result.content), "metadata": metadata,
        }));
    }

    fn hosted(&mut self, tool: &str, input: &str, found: &str, failed: bool, out: &mut Vec<Value>) {
        let id = CallId::from(format!("{}-hosted-{}", self.name, self.count));
        self.begin(&id, tool, out);
        // The name of the next one, if another follows at once.
        self.count += 1;
        self.begun.retain(|begun| *begun != id);
        out.push(json!({ "type": "TOOL_CALL_ARGS", "toolCallId": id, "delta": input }));
        out.push(json!({ "type": "TOOL_CALL_END", "toolCallId": id }));
        let metadata = json!({ "toolwright": { "outcome": if failed { "failed" } else { "ok" } } });
        out.push(json!({
            "type": "TOOL_CALL_RESULT", "messageId": format!("result-{id}"), "toolCallId": id,
            "role": "tool", "content": found, "metadata": metadata,
        }));
    }
}

impl Translator for AgUi {
    fn open(&mut self) -> Vec<Value> {
        let mut out = vec![json!({
            "type": "RUN_STARTED", "threadId": self.thread, "runId": self.run, "protocolVersion": VERSION,
        })];
        if let Some(messages) = self.thread_so_far.take() {
            out.push(json!({ "type": "MESSAGES_SNAPSHOT", "messages": messages }));
        }
        out
    }

    fn hear(&mut self, event: &Event) -> Vec<Value> {
        let mut out = Vec::new();
        match event {
            Event::Chat(event) => self.chat(event, &mut out),
            Event::Notice(notice) => self.notice(notice, &mut out),
        }
        out
    }
}

/// Something that the protocol leaves to applications.
fn custom(name: &str, value: Value) -> Value {
    json!({ "type": "CUSTOM", "name": format!("toolwright.{name}"), "value": value })
}

#[cfg(test)]
mod tests;
