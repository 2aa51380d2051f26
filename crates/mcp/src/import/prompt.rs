//! Prompts of a server: their definitions, and their messages as one text.

use rmcp::model::{GetPromptResult, PromptMessage, Role};
use serde_json::{Map, Value, json};
use toolwright_core::{Content, Hints};

use super::{MAX_DESCRIPTION_BYTES, MAX_TITLE_BYTES, RemoteDefinition, sanitize};
use crate::pin::Fingerprint;

/// A prompt with more arguments is left out.
const MAX_ARGUMENTS: usize = 100;

/// Parses the definition of a prompt; the error is a sentence for the status of the server.
pub(crate) fn parse_prompt(raw: &Value) -> Result<RemoteDefinition, String> {
    let members = raw.as_object().ok_or("a prompt that is no object is left out")?;
    let name =
        string_member(members, "name", 1 << 10).ok_or("a prompt without a name is left out")?;
    let input = arguments_schema(members)
        .map_err(|message| format!("prompt `{}` is left out: {message}", sanitize(&name, 100)))?;
    let description = string_member(members, "description", MAX_DESCRIPTION_BYTES);
    Ok(RemoteDefinition {
        is_prompt: true,
        name,
        title: string_member(members, "title", MAX_TITLE_BYTES),
        description: description.unwrap_or_default(),
        input,
        output: None,
        hints: Hints::default(),
        fingerprint: Fingerprint::of(members),
        notes: Vec::new(),
    })
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
    let content = serde_json::to_value(&message.content).and_then(serde_json::from_value);
    match content {
        Ok(Content::Text { text }) => text,
        Ok(Content::Resource { resource }) => match resource.text {
            Some(text) => format!("{}:\n{text}", resource.uri),
            None => format!("[resource {}]", resource.uri),
        },
        Ok(Content::Link { uri, .. }) => format!("[resource {uri}]"),
        Ok(Content::Image { mime_type, .. } | Content::Audio { mime_type, .. }) => {
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
        let prompt = parse_prompt(&raw).unwrap();
        assert_eq!(
            prompt.input["properties"]["who"],
            json!({"type": "string", "description": "Whom."})
        );
        assert_eq!(prompt.input["required"], json!(["who"]));
        assert!(parse_prompt(&json!({"arguments": []})).is_err());
        assert!(parse_prompt(&json!({"name": "x", "arguments": {"who": 1}})).is_err());
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
