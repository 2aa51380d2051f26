//! `mcp`: serves the tools over MCP on stdio; lists the configured servers, and accepts changed tools.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{Invoker, InvokerBuilder, Registry};
use toolwright_mcp::{AttachmentStatus, FilePins, McpServer, RemoteServer};

use crate::args::McpCommand;
use crate::cli_error::CliError;
use crate::config::ProjectConfig;
use crate::remote_servers::{self, CommandLifetime, RemoteServers, accept_command};
use crate::terminal::output;

pub(crate) fn execute(
    command: Option<McpCommand>,
    json: bool,
    project: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    let Some(command) = command else {
        RemoteServer::reject_self_attach(project.config())?;
        let lifetime = CommandLifetime::LongRunning;
        let work = |runtime: &Runtime, _: &RemoteServers, invoker| serve_stdio(runtime, invoker);
        return remote_servers::with_invoker(project, registry, lifetime, true, setup, work);
    };
    let lifetime = CommandLifetime::OneShot;
    let work = |_: &Runtime, servers: &RemoteServers| match command {
        McpCommand::List => {
            let pins = remote_servers::open_pins(project, lifetime);
            list_servers(servers, &pins, json)
        }
        McpCommand::Accept { name } => {
            let server = servers.accept_change(&name)?;
            output::print_stderr(&format!("accepted `{name}` of {server}\n"));
            Ok(ExitCode::SUCCESS)
        }
    };
    remote_servers::with_servers(project, registry, lifetime, true, work)
}

/// Explains the server to a user who has started it in a terminal; MCP clients start it with pipes.
fn print_client_setup_hint() {
    let program = std::env::current_exe().unwrap_or_else(|_| crate::program_name().into());
    let entry = serde_json::json!({ "command": program, "args": ["mcp"] });
    output::print_stderr(&format!(
        "This waits for an MCP client, which starts it by itself: put it into the configuration of one, as\n  \
         \"mcpServers\": {{ \"toolwright\": {entry} }}\n\
         To use the tools from here, try `{program} tools list` or `{program} chat`. Ctrl-C ends this.\n",
        program = crate::program_name()
    ));
}

/// Serves until stdin is closed, as when the parent process ends, or until Ctrl-C.
fn serve_stdio(runtime: &Runtime, invoker: Invoker) -> Result<ExitCode, CliError> {
    let server = McpServer::builder(invoker)
        .name("toolwright")
        .version(env!("CARGO_PKG_VERSION"))
        .build()?;
    if io::stdin().is_terminal() {
        print_client_setup_hint();
    }
    runtime.block_on(async {
        tokio::select! {
            served = server.serve_stdio() => served,
            Ok(()) = tokio::signal::ctrl_c() => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

fn list_servers(
    servers: &RemoteServers,
    pins: &FilePins,
    json: bool,
) -> Result<ExitCode, CliError> {
    let (attached, failed): (Vec<_>, Vec<_>) =
        servers.statuses().into_iter().partition(Result::is_ok);
    let mut statuses: Vec<AttachmentStatus> = attached.into_iter().flatten().collect();
    for status in &mut statuses {
        note_changed_tools(status, pins)?;
    }
    let errors: Vec<String> = failed.into_iter().filter_map(Result::err).collect();
    if json {
        output::print_json(&statuses)?;
    } else {
        for status in &statuses {
            output::print_text(&format_status(status))?;
        }
        if statuses.is_empty() && errors.is_empty() {
            eprintln!("no servers: add one as [mcp.servers.NAME] with url or command");
        }
    }
    for error in &errors {
        output::print_stderr(&format!("error: {error}\n"));
    }
    Ok(match errors.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Adds a note for each tool that a running program hides because it saw a change, although the server lists it unchanged here.
fn note_changed_tools(status: &mut AttachmentStatus, pins: &FilePins) -> Result<(), CliError> {
    for (definition, changed) in pins.drifted(&status.server)? {
        let (remote, is_prompt) = match definition.strip_prefix("prompt:") {
            Some(prompt) => (prompt, true),
            None => (&*definition, false),
        };
        let mut items = status.items.iter();
        let item = items.find(|it| it.remote_name == remote && it.is_prompt == is_prompt);
        if let Some(item) = item.filter(|item| item.hidden.is_none()) {
            let note = format!(
                "`{}`: a running program has seen its {} change, and hides it",
                item.name,
                changed.join(" and ")
            );
            status.notes.push(note);
        }
    }
    Ok(())
}

/// A server with its items and notes, as text.
fn format_status(status: &AttachmentStatus) -> String {
    let revision = status.revision.as_deref().unwrap_or("not connected");
    let latency = status
        .latency
        .map_or_else(String::new, |latency| format!(", {:.0} ms", latency.as_secs_f64() * 1_000.0));
    let mut text = format!("{} ({revision}{latency})\n", status.server);
    for item in &status.items {
        // The reason is among the notes.
        let hidden = match item.hidden {
            Some(_) => format!("  hidden; `{}` takes it back", accept_command(&item.name)),
            None => String::new(),
        };
        text.push_str(&format!("  {}{hidden}\n", item.name));
    }
    for note in &status.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}
