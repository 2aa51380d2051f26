//! `mcp`: the tools as an MCP server on stdio; the servers that the settings name, and what has changed about them.

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
    surroundings: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    match command {
        None => {
            let refused = RemoteServer::reject_self_attach(surroundings.config());
            refused.map_err(|error| CliError::from_error(&error))?;
            let work = |runtime: &Runtime, servers: &RemoteServers| {
                servers.print_warnings();
                let builder = setup(surroundings.configure_invoker(Invoker::builder(registry)));
                serve_stdio(
                    runtime,
                    servers.build_invoker(builder, surroundings.config())?,
                )
            };
            remote_servers::with_servers(
                surroundings,
                registry,
                CommandLifetime::LongRunning,
                true,
                work,
            )
        }
        Some(McpCommand::List) => {
            let work = |_: &Runtime, servers: &RemoteServers| {
                let pins = remote_servers::open_pins(surroundings, CommandLifetime::OneShot);
                list_servers(servers, &pins, json)
            };
            remote_servers::with_servers(
                surroundings,
                registry,
                CommandLifetime::OneShot,
                true,
                work,
            )
        }
        Some(McpCommand::Accept { name }) => {
            let work = |_: &Runtime, servers: &RemoteServers| {
                let server = servers.accept_change(&name)?;
                output::print_stderr(&format!("accepted `{name}` of {server}\n"));
                Ok(ExitCode::SUCCESS)
            };
            remote_servers::with_servers(
                surroundings,
                registry,
                CommandLifetime::OneShot,
                true,
                work,
            )
        }
    }
}

/// Says what a server waits for whose stdin is a terminal: MCP clients start it with pipes.
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

/// Serves until stdin ends, which is when the parent does, or Ctrl-C.
fn serve_stdio(runtime: &Runtime, invoker: Invoker) -> Result<ExitCode, CliError> {
    let server = McpServer::builder(invoker)
        .name("toolwright")
        .version(env!("CARGO_PKG_VERSION"))
        .build()
        .map_err(|error| CliError::from_error(&error))?;
    if io::stdin().is_terminal() {
        print_client_setup_hint();
    }
    let served = runtime.block_on(async {
        tokio::select! {
            served = server.serve_stdio() => served,
            Ok(()) = tokio::signal::ctrl_c() => Ok(()),
        }
    });
    served.map_err(|error| CliError::from_error(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn list_servers(
    servers: &RemoteServers,
    pins: &FilePins,
    json: bool,
) -> Result<ExitCode, CliError> {
    let (statuses, troubles): (Vec<_>, Vec<_>) =
        servers.statuses().into_iter().partition(Result::is_ok);
    let mut statuses: Vec<AttachmentStatus> = statuses.into_iter().flatten().collect();
    for status in &mut statuses {
        note_changed_tools(status, pins)?;
    }
    let troubles: Vec<String> = troubles.into_iter().filter_map(Result::err).collect();
    if json {
        output::print_json(&statuses)?;
    } else {
        for status in &statuses {
            output::print_text(&format_status(status))?;
        }
        if statuses.is_empty() && troubles.is_empty() {
            eprintln!("no servers: add one as [mcp.servers.NAME] with url or command");
        }
    }
    for trouble in &troubles {
        output::print_stderr(&format!("error: {trouble}\n"));
    }
    Ok(match troubles.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Notes what a program that runs has seen change, and hides, although the server lists it unchanged here.
fn note_changed_tools(status: &mut AttachmentStatus, pins: &FilePins) -> Result<(), CliError> {
    let drifted = pins.drifted(&status.server);
    for (definition, changed) in drifted.map_err(|error| CliError::from_error(&error))? {
        let (remote, is_prompt) = match definition.strip_prefix("prompt:") {
            Some(prompt) => (prompt, true),
            None => (&*definition, false),
        };
        let mut listed = status.items.iter();
        let listed = listed.find(|it| it.remote_name == remote && it.is_prompt == is_prompt);
        if let Some(listed) = listed.filter(|listed| listed.hidden.is_none()) {
            let note = format!(
                "`{}`: a running program has seen its {} change, and hides it",
                listed.name,
                changed.join(" and ")
            );
            status.notes.push(note);
        }
    }
    Ok(())
}

/// One server as people read it.
fn format_status(status: &AttachmentStatus) -> String {
    let revision = status.revision.as_deref().unwrap_or("not connected");
    let latency = status.latency.map_or_else(String::new, |latency| {
        format!(", {:.0} ms", latency.as_secs_f64() * 1_000.0)
    });
    let mut text = format!("{} ({revision}{latency})\n", status.server);
    for listed in &status.items {
        // Why it is hidden, the notes say.
        let hidden = match listed.hidden {
            Some(_) => format!("  hidden; `{}` takes it back", accept_command(&listed.name)),
            None => String::new(),
        };
        text.push_str(&format!("  {}{hidden}\n", listed.name));
    }
    for note in &status.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}
