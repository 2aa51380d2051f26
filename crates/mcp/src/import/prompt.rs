//! A prompt as its server defines it in, a definition of ours out; its messages in, one text out.

use rmcp::model::{GetPromptResult, PromptMessage, Role};
use serde_json::{Map, Value, json};
use toolwright_core::Content;

use super::result::content;
use super::text::clean;
use crate::pin::Fingerprint;

const DESCRIPTION: usize = 16 << 10;
const TITLE: usize = 200;

/// More arguments than these no person fills in.
const ARGUMENTS: usize = 100;

/// A prompt that a server offers.
#[derive(Clone, Debug)]
pub(crate) struct OfferedPrompt {
    /// The name its server knows it by.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// What its arguments must satisfy: all of them are text.
    pub(crate) input: Value,
    pub(crate) fingerprint: Fingerprint,
}

impl OfferedPrompt {
    /// Reads a definition; `Err` says in a sentence why it cannot be used.
    pub(crate) fn read(raw: &Value) -> Result<Self, String> {
        let Value::Object(members) = raw else {
            return Err("a prompt that is no object is left out".to_owned());
        };
        let name = text(members, "name", 1 << 10)
            .ok_or_else(|| "a prompt without a name is left out".to_owned())?;
        let input = arguments(members)
            .map_err(|message| format!("prompt `{}` is left out: {message}", clean(&name, 100)))?;
        Ok(Self {
            title: text(members, "title", TITLE),
            description: text(members, "description", DESCRIPTION).unwrap_or_default(),
            input,
            fingerprint: Fingerprint::of(members),
            name,
        })
    }
}

fn text(members: &Map<String, Value>, key: &str, most: usize) -> Option<String> {
    let text = clean(members.get(key)?.as_str()?, most);
    (!text.trim().is_empty()).then_some(text)
}

fn arguments(members: &Map<String, Value>) -> Result<Value, String> {
    let listed = match members.get("arguments") {
        None | Some(Value::Null) => &Vec::new(),
        Some(Value::Array(listed)) if listed.len() <= ARGUMENTS => listed,
        Some(Value::Array(listed)) => return Err(format!("it has {} arguments", listed.len())),
        Some(_) => return Err("its arguments are no list".to_owned()),
    };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in listed {
        let members = argument.as_object().ok_or("an argument is no object")?;
        let name = text(members, "name", 200).ok_or("an argument has no name")?;
        let mut property = Map::from_iter([("type".to_owned(), json!("string"))]);
        for key in ["title", "description"] {
            let said = text(members, key, DESCRIPTION);
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
pub(crate) fn said(prompt: &GetPromptResult) -> String {
    let first = prompt.messages.first().map(|message| &message.role);
    let mixed = prompt
        .messages
        .iter()
        .any(|message| Some(&message.role) != first);
    let told: Vec<String> = prompt
        .messages
        .iter()
        .map(|message| match (mixed, &message.role) {
            (true, Role::User) => format!("User: {}", one(message)),
            (true, _) => format!("Assistant: {}", one(message)),
            (false, _) => one(message),
        })
        .collect();
    told.join("\n\n")
}

/// The text of one message; what is not text is only named.
fn one(message: &PromptMessage) -> String {
    match content(&message.content) {
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
        let prompt = OfferedPrompt::read(&raw).unwrap();
        assert_eq!(
            prompt.input["properties"]["who"],
            json!({"type": "string", "description": "Whom."})
        );
        assert_eq!(prompt.input["required"], json!(["who"]));
        assert!(OfferedPrompt::read(&json!({"arguments": []})).is_err());
        assert!(OfferedPrompt::read(&json!({"name": "x", "arguments": {"who": 1}})).is_err());
    }

    #[test]
    fn messages_become_one_text() {
        let read = |sent: Value| said(&serde_json::from_value(sent).unwrap());
        let hello = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
        let there = json!({"role": "assistant", "content": {"type": "image", "data": "AA", "mimeType": "image/png"}});
        assert_eq!(read(json!({"messages": [hello]})), "Hello");
        assert_eq!(
            read(json!({"messages": [hello, there]})),
            "User: Hello\n\nAssistant: [image/png]"
        );
    }
}
