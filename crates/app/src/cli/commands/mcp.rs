//! `mcp`: serves the tools over MCP on stdio; lists the configured servers, accepts changed tools, logs in to servers.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::Invoker;
use toolwright_mcp::McpServer;

use crate::AppInfo;
use crate::attach_options::ProgramLifetime;
use crate::cli::args::McpCommand;
use crate::cli::cli_error::CliError;
use crate::cli::program::Program;
use crate::cli::terminal::output;
use crate::remote_servers::RemoteServers;
use crate::setup::StateMode;

mod attached;
mod login;

pub(crate) fn execute(
    command: Option<McpCommand>,
    search: bool,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    let Some(command) = command else {
        toolwright_mcp::RemoteServer::reject_self_attach(program.config())?;
        let (lifetime, info) = (ProgramLifetime::LongRunning, program.info.clone());
        let search = search || program.config().get_or("mcp.search", false)?;
        let work = |runtime: &Runtime, _: &RemoteServers, invoker| {
            serve_stdio(runtime, invoker, &info, search)
        };
        return program.with_invoker(lifetime, true, StateMode::Open, work);
    };
    attached::execute(command, json, program)
}

/// Explains the server to a user who has started it in a terminal; MCP clients start it with pipes.
fn print_client_setup_hint(name: &str) {
    let program = std::env::current_exe().unwrap_or_else(|_| crate::cli::program_name().into());
    let entry = serde_json::json!({ name: { "command": program, "args": ["mcp"] } });
    output::print_stderr(&format!(
        "This waits for an MCP client, which starts it by itself: put it into the configuration of one, as\n  \
         \"mcpServers\": {entry}\n\
         To use the tools from here, try `{program} tools list` or `{program} chat`. Ctrl-C ends this.\n",
        program = crate::cli::program_name()
    ));
}

/// Serves until stdin is closed, as when the parent process ends, or until Ctrl-C.
fn serve_stdio(
    runtime: &Runtime,
    invoker: Invoker,
    info: &AppInfo,
    search: bool,
) -> Result<ExitCode, CliError> {
    let server = McpServer::builder(invoker)
        .tool_search(search)
        .name(&*info.name)
        .version(&*info.version)
        .description(&*info.description)
        .build()?;
    if io::stdin().is_terminal() {
        print_client_setup_hint(&info.name);
    }
    runtime.block_on(async {
        tokio::select! {
            served = server.serve_stdio() => served,
            Ok(()) = tokio::signal::ctrl_c() => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}
