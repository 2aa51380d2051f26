//! Tools that ask the client something in rounds, in the revision without sessions.

use futures::future::{join, join3};
use serde_json::{Value, json};
use toolwright::{Tool, ToolError, tool};
use toolwright_mcp::{ClientCapability, ClientPeer, ElicitResponse};

/// Asks for one field of a form.
pub(crate) async fn ask(
    client: &ClientPeer,
    key: &str,
    message: &str,
    field: &str,
    kind: &str,
) -> Result<Value, ToolError> {
    let form = json!({
        "type": "object",
        "properties": { field: { "type": kind } },
        "required": [field],
    });
    match client.elicit(key, message, form).await? {
        ElicitResponse::Accept(form) => Ok(form.get(field).cloned().unwrap_or_default()),
        _ => Ok(Value::Null),
    }
}

async fn sample(client: &ClientPeer, key: &str, prompt: &str) -> Result<Value, ToolError> {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    let params = json!({ "messages": [message], "maxTokens": 100 });
    client.create_message(key, params).await
}

/// Asks for a name.
#[tool]
async fn test_input_required_result_elicitation(client: ClientPeer) -> Result<String, ToolError> {
    let name = ask(&client, "user_name", "What is your name?", "name", "string").await?;
    Ok(format!("Hello, {}!", name.as_str().unwrap_or("friend")))
}

/// Asks the client's model.
#[tool]
async fn test_input_required_result_sampling(client: ClientPeer) -> Result<String, ToolError> {
    let question = "What is the capital of France?";
    let answer = sample(&client, "capital_question", question).await?;
    let text = answer.pointer("/content/text").and_then(Value::as_str);
    Ok(format!("Sampling response: {}", text.unwrap_or_default()))
}

/// Asks for the client's folders.
#[tool]
async fn test_input_required_result_list_roots(client: ClientPeer) -> Result<String, ToolError> {
    let answer = client.list_roots("client_roots").await?;
    let roots = answer.get("roots").cloned().unwrap_or_default();
    Ok(format!("Client roots: {roots}"))
}

/// Keeps its place in the seal.
#[tool]
async fn test_input_required_result_request_state(
    client: ClientPeer,
) -> Result<&'static str, ToolError> {
    ask(&client, "confirm", "Please confirm", "ok", "boolean").await?;
    Ok("Confirmed: state-ok")
}

/// Rejects a request state that was modified.
#[tool]
async fn test_input_required_result_tampered_state(
    client: ClientPeer,
) -> Result<&'static str, ToolError> {
    ask(&client, "confirm", "Please confirm", "ok", "boolean").await?;
    Ok("Confirmed: state-ok")
}

/// Asks three things at once.
#[tool]
async fn test_input_required_result_multiple_inputs(
    client: ClientPeer,
) -> Result<&'static str, ToolError> {
    let (name, greeting, roots) = join3(
        ask(&client, "user_name", "What is your name?", "name", "string"),
        sample(&client, "greeting", "Generate a greeting"),
        client.list_roots("client_roots"),
    )
    .await;
    name?;
    greeting?;
    roots?;
    Ok("All inputs received")
}

/// Asks one thing after the other.
#[tool]
async fn test_input_required_result_multi_round(
    client: ClientPeer,
) -> Result<&'static str, ToolError> {
    ask(&client, "step1", "Step 1: What is your name?", "name", "string").await?;
    ask(&client, "step2", "Step 2: What is your favorite color?", "color", "string").await?;
    Ok("Multi-round flow complete")
}

/// Asks only what the client can be asked.
#[tool]
async fn test_input_required_result_capabilities(
    client: ClientPeer,
) -> Result<&'static str, ToolError> {
    let form = async {
        match client.supports(ClientCapability::Elicitation) {
            true => ask(&client, "user_name", "What is your name?", "name", "string").await,
            false => Ok(Value::Null),
        }
    };
    let sampled = async {
        match client.supports(ClientCapability::Sampling) {
            true => sample(&client, "greeting", "Generate a greeting").await,
            false => Ok(Value::Null),
        }
    };
    let (form, sampled) = join(form, sampled).await;
    form?;
    sampled?;
    Ok("Capability-aware flow complete")
}

/// Asks for a value.
#[tool]
async fn test_streaming_elicitation(client: ClientPeer) -> Result<String, ToolError> {
    let value = ask(&client, "value", "Provide a value", "value", "string").await?;
    Ok(value.to_string())
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        test_input_required_result_elicitation::tool(),
        test_input_required_result_sampling::tool(),
        test_input_required_result_list_roots::tool(),
        test_input_required_result_request_state::tool(),
        test_input_required_result_tampered_state::tool(),
        test_input_required_result_multiple_inputs::tool(),
        test_input_required_result_multi_round::tool(),
        test_input_required_result_capabilities::tool(),
        test_streaming_elicitation::tool(),
    ]
}
