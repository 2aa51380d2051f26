//! Encodes events as chunks of OpenAI's Chat Completions.
//!
//! Calls of the server's tools are not shown; calls of the client's own tools end the answer.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, json};
use toolwright_chat::{ChatEvent, StopReason, TurnEnd, Usage};
use toolwright_conversation::EndpointEvent;
use toolwright_conversation::event_log::PendingApprovals;
use toolwright_conversation::logged_event::TextKind;
use toolwright_core::Content;
use toolwright_core::schema::Schema;

use super::response_format::check_answer;
use crate::auth::request_context::is_client_tool_call;
use crate::protocols::{EventEncoder, Messages, content_text};

/// Encodes one answer as chunks.
pub(crate) struct OpenAiEncoder {
    id: String,
    /// In seconds since 1970.
    created: u64,
    model: String,
    /// True if a chunk with the usage follows the answer.
    include_usage: bool,
    pending_approvals: PendingApprovals,
    stop: StopReason,
    usage: Usage,
    /// Whether the current step has text, the last one had, and any had.
    step_has_text: bool,
    last_step_had_text: bool,
    any_step_had_text: bool,
    /// The schema that the answer has to satisfy; any text is an answer, if `None`.
    answer_schema: Option<Schema>,
}

impl OpenAiEncoder {
    pub(crate) fn new(id: String, created: u64, model: String, include_usage: bool) -> Self {
        Self {
            id,
            created,
            model,
            include_usage,
            pending_approvals: PendingApprovals::default(),
            stop: StopReason::End,
            usage: Usage::default(),
            step_has_text: false,
            last_step_had_text: false,
            any_step_had_text: false,
            answer_schema: None,
        }
    }

    /// Has the answer checked against a schema.
    pub(crate) fn with_answer_schema(mut self, schema: Option<Schema>) -> Self {
        self.answer_schema = schema;
        self
    }

    /// Returns what is wrong with an answer that is to be JSON, unless the client runs calls first.
    fn invalid_answer(&self, end: &TurnEnd, content: &[Content]) -> Option<String> {
        let schema = self.answer_schema.as_ref()?;
        let is_answer = matches!(end, TurnEnd::Answered | TurnEnd::Direct)
            && !self.pending_approvals.0.iter().any(is_client_tool_call);
        let text: String = content.iter().filter_map(content_text).collect();
        check_answer(schema, &text).err().filter(|_| is_answer)
    }

    fn write_text(&mut self, delta: &str, out: &mut Messages) {
        let again = self.any_step_had_text && !self.step_has_text;
        let content = match again {
            true => Cow::Owned(format!("\n\n{delta}")),
            false => Cow::Borrowed(delta),
        };
        self.step_has_text = true;
        self.push_delta(ContentDelta { content }, None, out);
    }

    fn end_turn(&mut self, end: &TurnEnd, usage: Usage, out: &mut Messages) {
        let approval = std::mem::take(&mut self.pending_approvals.0).into_iter();
        let calls: Vec<Value> = approval
            .filter(is_client_tool_call)
            .enumerate()
            .map(|(index, approval)| {
                let function = json!({ "name": approval.call.name, "arguments": approval.arguments.to_string() });
                json!({ "index": index, "id": approval.call.id, "type": "function", "function": function })
            })
            .collect();
        let finish = match (end, &self.stop) {
            (TurnEnd::Failed { .. }, StopReason::Filtered) => "content_filter",
            (TurnEnd::Limit { reason }, _) => return out.push(error_chunk("limit", reason)),
            (TurnEnd::Failed { reason }, _) => return out.push(error_chunk("failed", reason)),
            (TurnEnd::Cancelled, _) => {
                return out.push(error_chunk("cancelled", "the answer was stopped"));
            }
            _ if !calls.is_empty() => "tool_calls",
            (TurnEnd::Length, _) => "length",
            _ => "stop",
        };
        if !calls.is_empty() {
            self.push_delta(json!({ "tool_calls": calls }), None, out);
        }
        self.push_delta(json!({}), Some(finish), out);
        if self.include_usage {
            let choices: [Choice<'_, Value>; 0] = [];
            out.push(Chunk { usage: Some(usage_json(usage)), ..self.chunk(choices) });
        }
    }

    fn push_delta(&self, delta: impl Serialize, finish_reason: Option<&str>, out: &mut Messages) {
        let choice = Choice { index: 0, delta, logprobs: (), finish_reason };
        out.push(self.chunk([choice]));
    }

    fn chunk<T>(&self, choices: T) -> Chunk<'_, T> {
        Chunk {
            id: &self.id,
            object: "chat.completion.chunk",
            created: self.created,
            model: &self.model,
            choices,
            usage: None,
        }
    }
}

/// A chunk of the answer.
#[derive(Serialize)]
struct Chunk<'a, T> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
}

#[derive(Serialize)]
struct Choice<'a, T> {
    index: u8,
    delta: T,
    logprobs: (),
    finish_reason: Option<&'a str>,
}

#[derive(Serialize)]
struct ContentDelta<'a> {
    content: Cow<'a, str>,
}

#[derive(Serialize)]
struct ReasoningDelta<'a> {
    reasoning_content: &'a str,
}

impl EventEncoder for OpenAiEncoder {
    fn start(&mut self, out: &mut Messages) {
        self.push_delta(json!({ "role": "assistant", "content": "" }), None, out);
    }

    fn on_text(&mut self, kind: TextKind, delta: &str, out: &mut Messages) {
        match kind {
            TextKind::Text => self.write_text(delta, out),
            TextKind::Reasoning => {
                self.push_delta(ReasoningDelta { reasoning_content: delta }, None, out);
            }
        }
    }

    fn on_chat_event(&mut self, event: &ChatEvent, out: &mut Messages) {
        self.pending_approvals.on_event(event);
        match event {
            ChatEvent::Step { stop, usage, .. } => {
                self.stop = stop.clone();
                self.usage += *usage;
                self.any_step_had_text |= self.step_has_text;
                self.last_step_had_text = std::mem::take(&mut self.step_has_text);
            }
            ChatEvent::TurnEnded { end, content, usage, .. } => {
                if let Some(why) = self.invalid_answer(end, content) {
                    return out.push(error_chunk("response_format", &why));
                }
                // The answer is a tool result or a rejection, which was not streamed.
                if *end == TurnEnd::Direct || !(self.step_has_text || self.last_step_had_text) {
                    for text in content.iter().filter_map(content_text) {
                        self.write_text(text, out);
                    }
                }
                self.end_turn(end, *usage, out);
            }
            // Only with a handler of the endpoint's own, which cannot decide here.
            ChatEvent::TurnPaused { .. } => {
                match self.pending_approvals.0.iter().any(is_client_tool_call) {
                    true => self.end_turn(&TurnEnd::Answered, self.usage, out),
                    false => {
                        let message = "a call needs a person's approval, and nobody can be asked over this API";
                        out.push(error_chunk("approval", message));
                    }
                }
            }
            // Text has its own method; tool calls of the server have no chunk in this protocol.
            _ => {}
        }
    }

    fn on_endpoint_event(&mut self, event: &EndpointEvent, out: &mut Messages) {
        match event {
            EndpointEvent::Error { kind, message } => out.push(error_chunk(kind, message)),
            EndpointEvent::Shutdown { reason } => out.push(error_chunk("goodbye", reason)),
            _ => {}
        }
    }

    fn terminator(&self) -> Option<&'static str> {
        Some("[DONE]")
    }
}

fn error_chunk(code: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": "server_error", "param": null, "code": code } })
}

fn usage_json(usage: Usage) -> Value {
    let mut json = json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.total(),
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    });
    // A field that the protocol does not have, and clients ignore.
    if let (Some(fields), true) = (json.as_object_mut(), usage.estimated) {
        fields.insert("estimated".to_owned(), true.into());
    }
    json
}

/// Merges chunks into one completion; returns the error if one of them is an error.
pub(crate) fn merge_chunks(chunks: Vec<Value>) -> Result<Value, Value> {
    let (mut answer, mut message) = (Map::new(), Map::new());
    let (mut content, mut reasoning) = (String::new(), String::new());
    let mut finish = Value::Null;
    for chunk in chunks {
        let Value::Object(mut chunk) = chunk else {
            continue;
        };
        if let Some(error) = chunk.remove("error") {
            return Err(error);
        }
        if let Some(Value::Array(choices)) = chunk.remove("choices")
            && let Some(Value::Object(mut choice)) = choices.into_iter().next()
        {
            let delta = choice.remove("delta").unwrap_or_default();
            let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
            content.push_str(text("content"));
            reasoning.push_str(text("reasoning_content"));
            if let Some(Value::Array(calls)) = delta.get("tool_calls") {
                let mut calls = calls.clone();
                let calls = calls.iter_mut().filter_map(Value::as_object_mut);
                let calls = calls.map(|call| {
                    // The index is needed only in streams.
                    call.shift_remove("index");
                    Value::Object(std::mem::take(call))
                });
                message.insert("tool_calls".to_owned(), calls.collect());
            }
            match choice.remove("finish_reason") {
                None | Some(Value::Null) => {}
                Some(reason) => finish = reason,
            }
        }
        answer.extend(chunk);
    }
    let content = match content.is_empty() && message.contains_key("tool_calls") {
        true => Value::Null,
        false => content.into(),
    };
    message.insert("role".to_owned(), "assistant".into());
    message.insert("content".to_owned(), content);
    message.insert("refusal".to_owned(), Value::Null);
    if !reasoning.is_empty() {
        message.insert("reasoning_content".to_owned(), reasoning.into());
    }
    answer.insert("object".to_owned(), "chat.completion".into());
    let choice =
        json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish });
    answer.insert("choices".to_owned(), json!([choice]));
    Ok(answer.into())
}
