//! The address or command of an MCP server in, the tools that it lists out.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use toolwright_core::Registry;
use toolwright_mcp::{MemoryPins, RemoteServer};

use super::tool_sources::ToolsToCheck;
use crate::cli_error::CliError;
use crate::commands::tools::arguments::split_words;
use crate::remote_servers::{CommandLifetime, RemoteServers};
use crate::runtime;
use crate::terminal::output;

/// Connects, lists, and leaves.
pub(super) fn list_server_tools(place: &str) -> Result<ToolsToCheck, CliError> {
    let server = parse_server(place.trim())?;
    let runtime = runtime::build_runtime()?;
    let pins = Arc::new(MemoryPins::new());
    let servers = RemoteServers::new(&Registry::new(), pins, None, CommandLifetime::OneShot);
    runtime.block_on(servers.attach(vec![server]));
    let status = servers.statuses().into_iter().next();
    let definitions = servers.raw_definitions();
    runtime.block_on(servers.detach());
    let status = match status {
        Some(Ok(status)) => status,
        Some(Err(why)) => return Err(CliError::failure(why)),
        None => return Ok(ToolsToCheck::default()),
    };
    let source = status.implementation.unwrap_or(status.server);
    let mut found = ToolsToCheck::default();
    if definitions.is_empty() {
        output::print_stderr(&format!("server `{source}` lists no tools\n"));
        return Ok(found);
    }
    let text = json!({ "tools": definitions }).to_string();
    let read = found.add_definitions(&source, &text);
    read.map_err(|error| CliError::from_error(&error))?;
    Ok(found)
}

/// An address, or a command with its arguments; its name is what trouble with it is told by.
fn parse_server(place: &str) -> Result<RemoteServer, CliError> {
    let name = |text: &str| text.chars().take(64).collect::<String>();
    if let Some((_, rest)) = place.split_once("://") {
        // What stands before and after may be a secret.
        let host = rest.split(['?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        return Ok(RemoteServer::url(name(host), place));
    }
    let words = split_words(place).map_err(|wrong| CliError::usage(format!("--mcp: {wrong}")))?;
    let [program, args @ ..] = &words[..] else {
        return Err(CliError::usage(
            "--mcp: write the server's address, or the command that starts it",
        ));
    };
    let file = Path::new(program).file_name().unwrap_or_default();
    let file = name(&file.to_string_lossy());
    Ok(RemoteServer::command(file, program, args))
}
