//! Lists the tools of a live MCP server, for `check --mcp`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright_core::Registry;
use toolwright_mcp::{AttachLimits, MemoryPins, RemoteServer};

use super::tool_sources::ToolsToCheck;
use crate::attach_options::{AttachOptions, ProgramLifetime};
use crate::cli::cli_error::CliError;
use crate::cli::commands::tools::arguments::split_words;
use crate::cli::runtime;
use crate::cli::terminal::output;
use crate::remote_servers::RemoteServers;

/// The time to connect and to list everything: a command such as `npx` may download the server first.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(120);

/// Connects to the server at a URL or of a command, and disconnects after it has listed its tools.
pub(super) fn list_server_tools(server: &str) -> Result<ToolsToCheck, CliError> {
    let mut limits = AttachLimits::default();
    limits.connect_timeout = CONNECT_TIMEOUT;
    let server = parse_server(server.trim())?.limits(limits);
    let runtime = runtime::build_runtime()?;
    let pins = Arc::new(MemoryPins::new());
    let options = AttachOptions { lifetime: ProgramLifetime::OneShot, ..AttachOptions::default() };
    let servers = RemoteServers::with_pins(&Registry::new(), pins, options);
    runtime.block_on(servers.attach(vec![server]));
    let status = servers.statuses().into_iter().next();
    let definitions = servers.raw_definitions();
    runtime.block_on(servers.detach());
    let status = match status {
        Some(Ok(status)) => status,
        Some(Err(reason)) => return Err(CliError::failure(reason)),
        None => return Ok(ToolsToCheck::default()),
    };
    let source = status.implementation.unwrap_or(status.server);
    let mut sources = ToolsToCheck::default();
    if definitions.is_empty() {
        output::print_stderr(&format!("server `{source}` lists no tools\n"));
        return Ok(sources);
    }
    let text = json!({ "tools": definitions }).to_string();
    sources.add_definitions(&source, &text)?;
    Ok(sources)
}

/// Parses a URL, or a command with its arguments; the name of the server is for error messages.
fn parse_server(text: &str) -> Result<RemoteServer, CliError> {
    let name = |text: &str| text.chars().take(64).collect::<String>();
    if let Some((_, rest)) = text.split_once("://") {
        // User info and query may be secrets.
        let host = rest.split(['?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        return Ok(RemoteServer::url(name(host), text));
    }
    let words =
        split_words(text).map_err(|message| CliError::usage(format!("--mcp: {message}")))?;
    let [program, args @ ..] = &words[..] else {
        return Err(CliError::usage(
            "--mcp: write the server's address, or the command that starts it",
        ));
    };
    let file = Path::new(program).file_name().unwrap_or_default();
    let file = name(&file.to_string_lossy());
    Ok(RemoteServer::command(file, program, args))
}
