//! Tools that go on as tasks.

use std::time::Duration;

use futures::future::join;
use tokio::time::sleep;
use toolwright::{Tool, ToolError, tool};
use toolwright_mcp::{ClientCapability, ClientPeer};

use crate::rounds::ask;

/// Greets somebody at once.
#[tool(read_only)]
fn greet(
    /// Whom.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

/// Takes its time.
#[tool(read_only)]
async fn slow_compute(
    /// How long.
    #[param(default = 1.0)]
    seconds: f64,
    /// What to call it.
    label: Option<String>,
    client: ClientPeer,
) -> String {
    client.run_as_task();
    sleep(Duration::from_secs_f64(seconds.clamp(0.0, 60.0))).await;
    let label = label.unwrap_or_else(|| "compute".to_owned());
    format!("slow_compute({label}) done after {seconds}s")
}

/// Fails as a tool does.
#[tool]
async fn failing_job(client: ClientPeer) -> Result<String, ToolError> {
    client.require(ClientCapability::Tasks)?;
    client.run_as_task();
    sleep(Duration::from_secs(1)).await;
    Err(ToolError::failed("failing_job: intentional tool execution error"))
}

/// Fails as a server does.
#[tool]
async fn protocol_error_job(client: ClientPeer) -> Result<String, ToolError> {
    client.run_as_task();
    sleep(Duration::from_millis(200)).await;
    Err(ToolError::fatal("protocol_error_job: intentional failure"))
}

/// Asks once, while it goes on.
#[tool]
async fn confirm_delete(
    /// What would go.
    #[param(default = "file.txt")]
    filename: String,
    client: ClientPeer,
) -> Result<String, ToolError> {
    client.require(ClientCapability::Tasks)?;
    client.run_as_task();
    let question = format!("Delete {filename}?");
    let confirmed = ask(&client, "confirm", &question, "confirm", "boolean").await?;
    Ok(format!("confirm_delete({filename}): confirmed = {confirmed}"))
}

/// Asks twice at once, while it goes on.
#[tool]
async fn multi_input(client: ClientPeer) -> Result<String, ToolError> {
    client.require(ClientCapability::Tasks)?;
    client.run_as_task();
    let (a, b) = join(
        ask(&client, "input-a", "Provide value A", "value", "string"),
        ask(&client, "input-b", "Provide value B", "value", "string"),
    )
    .await;
    Ok(format!("multi_input: a = {}, b = {}", a?, b?))
}

/// Asks first, and goes on then.
#[tool]
async fn test_tool_with_task(client: ClientPeer) -> Result<String, ToolError> {
    client.require(ClientCapability::Tasks)?;
    let name = ask(&client, "user_name", "What is your name?", "name", "string").await?;
    client.run_as_task();
    sleep(Duration::from_millis(200)).await;
    Ok(format!("Hello, {}! (async)", name.as_str().unwrap_or("friend")))
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        greet::tool(),
        slow_compute::tool(),
        failing_job::tool(),
        protocol_error_job::tool(),
        confirm_delete::tool(),
        multi_input::tool(),
        test_tool_with_task::tool(),
    ]
}
