//! Prompts of a server: their definitions, and their messages as one text.

use rmcp::model::{GetPromptResult, PromptMessage, Role};
use serde_json::{Map, Value, json};
use toolwright_core::Content;

use super::result::convert_content;
use super::untrusted_text::sanitize;
use crate::pin::Fingerprint;

const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
const MAX_TITLE_BYTES: usize = 200;

/// A prompt with more arguments is left out.
const MAX_ARGUMENTS: usize = 100;

/// The definition of a server's prompt.
#[derive(Clone, Debug)]
pub(crate) struct RemotePrompt {
    /// The server's name of it.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// The schema of its arguments, which are strings.
    pub(crate) input: Value,
    pub(crate) fingerprint: Fingerprint,
}

impl RemotePrompt {
    /// Parses a definition; the error is a sentence for the status of the server.
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

fn string_member(members: &Map<String, Value>, key: &str, max_bytes: usize) -> Option<String> {
    let text = sanitize(members.get(key)?.as_str()?, max_bytes);
    (!text.trim().is_empty()).then_some(text)
}

fn arguments_schema(members: &Map<String, Value>) -> Result<Value, String> {
    let arguments = match members.get("arguments") {
        None | Some(Value::Null) => &Vec::new(),
        Some(Value::Array(arguments)) if arguments.len() <= MAX_ARGUMENTS => arguments,
        Some(Value::Array(arguments)) => {
            return Err(format!("it has {} arguments", arguments.len()));
        }
        Some(_) => return Err("its arguments are no list".to_owned()),
    };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in arguments {
        let members = argument.as_object().ok_or("an argument is no object")?;
        let name = string_member(members, "name", 200).ok_or("an argument has no name")?;
        let mut property = Map::from_iter([("type".to_owned(), json!("string"))]);
        for key in ["title", "description"] {
            let text = string_member(members, key, MAX_DESCRIPTION_BYTES);
            property.extend(text.map(|text| (key.to_owned(), Value::from(text))));
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

/// Joins the messages of a prompt into one text, with the names of the roles if there are several.
pub(crate) fn prompt_text(prompt: &GetPromptResult) -> String {
    let first = prompt.messages.first().map(|message| &message.role);
    let has_both_roles = prompt.messages.iter().any(|message| Some(&message.role) != first);
    let texts: Vec<String> = prompt
        .messages
        .iter()
        .map(|message| match (has_both_roles, &message.role) {
            (true, Role::User) => format!("User: {}", message_text(message)),
            (true, _) => format!("Assistant: {}", message_text(message)),
            (false, _) => message_text(message),
        })
        .collect();
    texts.join("\n\n")
}

/// The text of one message, or the kind of other content in brackets.
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
        let read = |json: Value| prompt_text(&serde_json::from_value(json).unwrap());
        let hello = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
        let there = json!({"role": "assistant", "content": {"type": "image", "data": "AA", "mimeType": "image/png"}});
        assert_eq!(read(json!({"messages": [hello]})), "Hello");
        assert_eq!(
            read(json!({"messages": [hello, there]})),
            "User: Hello\n\nAssistant: [image/png]"
        );
    }
}
