//! Tools that ask the client something, in revisions with sessions.

use serde_json::{Value, json};
use toolwright::{Tool, ToolError, tool};
use toolwright_mcp::{ClientCapability, ClientPeer, ElicitResponse};

/// Asks the client's model.
#[tool]
async fn test_sampling(
    /// What to ask.
    prompt: String,
    client: ClientPeer,
) -> Result<String, ToolError> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let params = json!({ "messages": [message], "maxTokens": 100 });
    let answer = client.create_message("prompt", params).await?;
    let text = answer.pointer("/content/text").and_then(Value::as_str);
    Ok(format!("LLM response: {}", text.unwrap_or_default()))
}

/// Asks the client's person.
#[tool]
async fn test_elicitation(
    /// What to ask.
    message: String,
    client: ClientPeer,
) -> Result<String, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {
            "username": { "type": "string", "description": "User's response" },
            "email": { "type": "string", "description": "User's email address" },
        },
        "required": ["username", "email"],
    });
    elicit_text(&client, &message, form).await
}

/// Asks for values that all have defaults.
#[tool]
async fn test_elicitation_sep1034_defaults(client: ClientPeer) -> Result<String, ToolError> {
    let form = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "User's name", "default": "John Doe" },
            "age": { "type": "integer", "description": "User's age", "default": 30 },
            "score": { "type": "number", "description": "User's score", "default": 95.5 },
            "status": {
                "type": "string",
                "description": "User's status",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": { "type": "boolean", "description": "Is verified", "default": true },
        },
    });
    elicit_text(&client, "Please provide values (all have defaults)", form).await
}

/// Asks for choices of every form.
#[tool]
async fn test_elicitation_sep1330_enums(client: ClientPeer) -> Result<String, ToolError> {
    let titled = |names: [&str; 3]| -> Vec<Value> {
        let titled = names.into_iter().enumerate();
        titled
            .map(|(index, title)| json!({ "const": format!("value{}", index + 1), "title": title }))
            .collect()
    };
    let options = ["option1", "option2", "option3"];
    let form = json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": {
                "type": "string",
                "oneOf": titled(["First Option", "Second Option", "Third Option"]),
            },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": {
                "type": "array",
                "items": { "anyOf": titled(["First Choice", "Second Choice", "Third Choice"]) },
            },
        },
    });
    elicit_text(&client, "Test enum schema improvements", form).await
}

async fn elicit_text(client: &ClientPeer, message: &str, form: Value) -> Result<String, ToolError> {
    Ok(match client.elicit("form", message, form).await? {
        ElicitResponse::Accept(form) => format!("User response: action=accept, content={form}"),
        ElicitResponse::Decline => "User response: action=decline".to_owned(),
        _ => "User response: action=cancel".to_owned(),
    })
}

/// Cannot do without the client's model.
#[tool]
async fn test_missing_capability(client: ClientPeer) -> Result<&'static str, ToolError> {
    client.require(ClientCapability::Sampling)?;
    Ok("Required capability declared")
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        test_sampling::tool(),
        test_elicitation::tool(),
        test_elicitation_sep1034_defaults::tool(),
        test_elicitation_sep1330_enums::tool(),
        test_missing_capability::tool(),
    ]
}
