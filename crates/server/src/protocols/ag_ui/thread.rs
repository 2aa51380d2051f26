//! Converts a journal into the messages and interrupts of an AG-UI thread.

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolwright_chat::{Entry, EntryBody, ItemKind, PendingApproval, Step};
use toolwright_core::Content;

use crate::protocols::question::is_question;

/// The messages of a thread.
pub(crate) fn thread_messages(entries: &[Entry]) -> Vec<Value> {
    let mut messages = Vec::new();
    for entry in entries {
        let id = &entry.id;
        match &entry.body {
            EntryBody::User { content } => {
                messages.push(json!({ "id": id, "role": "user", "content": content_json(content) }));
            }
            EntryBody::Assistant { content } => {
                let text: Vec<&str> = content.iter().filter_map(crate::protocols::content_text).collect();
                messages.push(json!({ "id": id, "role": "assistant", "content": text.join("\n") }));
            }
            EntryBody::Step { step, .. } => messages.extend(step_messages(id, step)),
            EntryBody::CallFinished { result } if entry.parent.is_none() => messages.push(json!({
                "id": id, "role": "tool", "toolCallId": result.call_id, "content": content_json(&result.content),
            })),
            _ => {}
        }
    }
    messages
}

fn step_messages(id: &str, step: &Step) -> Vec<Value> {
    let mut messages = Vec::new();
    let reasoning = step.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Reasoning { text } if !text.is_empty() => Some(text.as_str()),
        _ => None,
    });
    let reasoning: Vec<&str> = reasoning.collect();
    if !reasoning.is_empty() {
        let content = reasoning.join("\n");
        messages.push(
            json!({ "id": format!("{id}-reasoning"), "role": "reasoning", "content": content }),
        );
    }
    let calls = step.calls().map(|call| {
        let function = json!({ "name": call.name, "arguments": call.arguments.as_str() });
        json!({ "id": call.id, "type": "function", "function": function })
    });
    let (text, calls) = (step.text(), calls.collect::<Vec<Value>>());
    match (text.is_empty(), calls.is_empty()) {
        (true, true) => {}
        (false, true) => messages.push(json!({ "id": id, "role": "assistant", "content": text })),
        (true, false) => {
            messages.push(json!({ "id": id, "role": "assistant", "toolCalls": calls }))
        }
        (false, false) => {
            messages.push(
                json!({ "id": id, "role": "assistant", "content": text, "toolCalls": calls }),
            );
        }
    }
    messages
}

/// The content of a message: a string if it is text only, else its parts.
pub(crate) fn content_json(content: &[Content]) -> Value {
    let texts: Vec<&str> = content.iter().filter_map(crate::protocols::content_text).collect();
    match texts.len() == content.len() {
        true => texts.join("\n").into(),
        false => content.iter().map(part_json).collect(),
    }
}

fn part_json(item: &Content) -> Value {
    let data =
        |value: &str, kind: &str| json!({ "type": "data", "value": value, "mimeType": kind });
    match item {
        Content::Text { text } => json!({ "type": "text", "text": text }),
        Content::Image { data: bytes, mime_type } => {
            json!({ "type": "image", "source": data(bytes, mime_type) })
        }
        Content::Audio { data: bytes, mime_type } => {
            json!({ "type": "audio", "source": data(bytes, mime_type) })
        }
        Content::Resource { resource } => match (&resource.text, &resource.blob) {
            (None, Some(bytes)) => {
                let kind = resource.mime_type.as_deref();
                let kind = kind.unwrap_or("application/octet-stream");
                json!({ "type": "document", "source": data(bytes, kind) })
            }
            (text, _) => {
                json!({ "type": "text", "text": text.as_deref().unwrap_or(&resource.uri) })
            }
        },
        Content::Link { uri, .. } => {
            json!({ "type": "document", "source": { "type": "url", "value": uri } })
        }
        _ => json!({ "type": "text", "text": "" }),
    }
}

/// An interrupt: a call that waits for a decision.
pub(crate) fn interrupt_json(approval: &PendingApproval) -> Value {
    let tool = &approval.tool;
    if is_question(approval) {
        return question_json(approval);
    }
    json!({
        "id": interrupt_id(approval),
        "reason": "tool_call",
        "message": format!("{}: {}", tool.display_name(), tool.description),
        "toolCallId": approval.call.id,
        "responseSchema": {
            "type": "object",
            "properties": {
                "approved": { "type": "boolean" },
                "editedArgs": { "type": "object", "description": "All arguments, in place of those that were asked for." },
                "reason": { "type": "string", "description": "Why not; the model reads it." },
            },
            "required": ["approved"],
        },
        "expiresAt": rfc3339(approval.token.expires()),
        "metadata": { "toolwright": { "tool": tool.name, "arguments": approval.arguments, "inputSchema": tool.input } },
    })
}

/// An interrupt that asks a person for input.
fn question_json(approval: &PendingApproval) -> Value {
    let argument = |name: &str| approval.arguments.get(name).cloned();
    let message = argument("message");
    let message = message.as_ref().and_then(Value::as_str).unwrap_or_default();
    let answer = argument("form").unwrap_or_else(|| json!({ "type": "string" }));
    json!({
        "id": interrupt_id(approval),
        "reason": "input_required",
        "message": format!("{}: {message}", approval.tool.display_name()),
        "toolCallId": approval.call.id,
        "responseSchema": {
            "type": "object",
            "properties": {
                "approved": { "type": "boolean", "description": "False declines to answer." },
                "answer": answer,
            },
            "required": ["approved"],
        },
        "expiresAt": rfc3339(approval.token.expires()),
        "metadata": { "toolwright": { "tool": approval.tool.name, "arguments": approval.arguments } },
    })
}

/// The id of an interrupt: unique to this request for approval of this call.
pub(crate) fn interrupt_id(approval: &PendingApproval) -> String {
    let token = serde_json::to_vec(&approval.token).unwrap_or_default();
    let digest = Sha256::digest(&token);
    let digest = HEXLOWER.encode(digest.get(..8).unwrap_or_default());
    format!("{}.{digest}", approval.call.id)
}

/// Formats milliseconds since 1970 as an RFC 3339 timestamp.
fn rfc3339(millis: u64) -> String {
    let time = i64::try_from(millis).ok().and_then(|it| Timestamp::from_millisecond(it).ok());
    format!("{:.3}", time.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
            (1_709_251_200_000, "2024-03-01T00:00:00.000Z"),
            (4_102_444_799_000, "2099-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(rfc3339(millis), expected);
        }
    }
}
