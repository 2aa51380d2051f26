//! Tools that change what the server has.

use toolwright::{Registry, State, Tool, ToolError, prompt, tool};

/// Is there every other time.
#[tool(read_only)]
fn test_dynamic_tool() -> &'static str {
    "still here"
}

/// Is there every other time.
#[prompt]
fn test_dynamic_prompt() -> &'static str {
    "still here"
}

/// Adds a tool, or takes it away again.
#[tool]
fn test_trigger_tool_change(registry: State<Registry>) -> Result<&'static str, ToolError> {
    if registry.remove("test_dynamic_tool").is_none() {
        registry.add(test_dynamic_tool::tool())?;
    }
    Ok("Tool list change triggered")
}

/// Adds a prompt, or takes it away again.
#[tool]
fn test_trigger_prompt_change(registry: State<Registry>) -> Result<&'static str, ToolError> {
    if registry.remove_prompt("test_dynamic_prompt").is_none() {
        registry.add(test_dynamic_prompt::prompt())?;
    }
    Ok("Prompt list change triggered")
}

pub(crate) fn tools() -> Vec<Tool> {
    vec![test_trigger_tool_change::tool(), test_trigger_prompt_change::tool()]
}
