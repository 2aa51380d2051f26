//! A prompt as its server defines it in, a definition of ours out; its messages in, one text out.

use rmcp::model::{GetPromptResult, PromptMessage, Role};
use serde_json::{Map, Value, json};
use toolwright_core::Content;

use super::result::convert_content;
use super::untrusted_text::sanitize;
use crate::pin::Fingerprint;

const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
const MAX_TITLE_BYTES: usize = 200;

/// More arguments than these no person fills in.
const MAX_ARGUMENTS: usize = 100;

/// A prompt that a server offers.
#[derive(Clone, Debug)]
pub(crate) struct RemotePrompt {
    /// The name its server knows it by.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// What its arguments must satisfy: all of them are text.
    pub(crate) input: Value,
    pub(crate) fingerprint: Fingerprint,
}

impl RemotePrompt {
    /// Reads a definition; `Err` says in a sentence why it cannot be used.
    pub(crate) fn parse(raw: &Value) -> Result<Self, String> {
        let Value::Object(members) = raw else {
            return Err("a prompt that is no object is left out".to_owned());
        };
        let name = string_member(members, "name", 1 << 10)
            .ok_or_else(|| "a prompt without a name is left out".to_owned())?;
        let input = arguments_schema(members).map_err(|message| {
            format!("prompt `{}` is left out: {message}", sanitize(&name, 100))
        })?;
        Ok(Self {
            title: string_member(members, "title", MAX_TITLE_BYTES),
            description: string_member(members, "description", MAX_DESCRIPTION_BYTES)
                .unwrap_or_default(),
            input,
            fingerprint: Fingerprint::of(members),
            name,
        })
    }
}

fn string_member(members: &Map<String, Value>, key: &str, most: usize) -> Option<String> {
    let text = sanitize(members.get(key)?.as_str()?, most);
    (!text.trim().is_empty()).then_some(text)
}

fn arguments_schema(members: &Map<String, Value>) -> Result<Value, String> {
    let listed = match members.get("arguments") {
        None | Some(Value::Null) => &Vec::new(),
        Some(Value::Array(listed)) if listed.len() <= MAX_ARGUMENTS => listed,
        Some(Value::Array(listed)) => return Err(format!("it has {} arguments", listed.len())),
        Some(_) => return Err("its arguments are no list".to_owned()),
    };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in listed {
        let members = argument.as_object().ok_or("an argument is no object")?;
        let name = string_member(members, "name", 200).ok_or("an argument has no name")?;
        let mut property = Map::from_iter([("type".to_owned(), json!("string"))]);
        for key in ["title", "description"] {
            let said = string_member(members, key, MAX_DESCRIPTION_BYTES);
            property.extend(said.map(|said| (key.to_owned(), Value::from(said))));
        }
        if members.get("required") == Some(&Value::Bool(true)) {
            required.push(Value::from(name.as_str()));
        }
        properties.insert(name, Value::Object(property));
    }
    Ok(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    }))
}

/// Joins a prompt's messages into one text; who says what is told where both roles speak.
pub(crate) fn prompt_text(prompt: &GetPromptResult) -> String {
    let first = prompt.messages.first().map(|message| &message.role);
    let mixed = prompt
        .messages
        .iter()
        .any(|message| Some(&message.role) != first);
    let told: Vec<String> = prompt
        .messages
        .iter()
        .map(|message| match (mixed, &message.role) {
            (true, Role::User) => format!("User: {}", message_text(message)),
            (true, _) => format!("Assistant: {}", message_text(message)),
            (false, _) => message_text(message),
        })
        .collect();
    told.join("\n\n")
}

/// The text of one message; what is not text is only named.
fn message_text(message: &PromptMessage) -> String {
    match convert_content(&message.content) {
        Some(Content::Text { text }) => text,
        Some(Content::Resource { resource }) => match resource.text {
            Some(text) => format!("{}:\n{text}", resource.uri),
            None => format!("[resource {}]", resource.uri),
        },
        Some(Content::Link { uri, .. }) => format!("[resource {uri}]"),
        Some(Content::Image { mime_type, .. } | Content::Audio { mime_type, .. }) => {
            format!("[{mime_type}]")
        }
        _ => "[something else]".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_text_parameters() {
        let raw = json!({"name": "greet", "arguments": [
            {"name": "who", "description": "Whom.", "required": true}, {"name": "how"}]});
        let prompt = RemotePrompt::parse(&raw).unwrap();
        assert_eq!(
            prompt.input["properties"]["who"],
            json!({"type": "string", "description": "Whom."})
        );
        assert_eq!(prompt.input["required"], json!(["who"]));
        assert!(RemotePrompt::parse(&json!({"arguments": []})).is_err());
        assert!(RemotePrompt::parse(&json!({"name": "x", "arguments": {"who": 1}})).is_err());
    }

    #[test]
    fn messages_become_one_text() {
        let read = |sent: Value| prompt_text(&serde_json::from_value(sent).unwrap());
        let hello = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
        let there = json!({"role": "assistant", "content": {"type": "image", "data": "AA", "mimeType": "image/png"}});
        assert_eq!(read(json!({"messages": [hello]})), "Hello");
        assert_eq!(
            read(json!({"messages": [hello, there]})),
            "User: Hello\n\nAssistant: [image/png]"
        );
    }
}
