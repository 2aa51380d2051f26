//! `mcp`: the tools as an MCP server on stdio; the servers that the settings name, and what has changed about them.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{Invoker, InvokerBuilder, Registry};
use toolwright_mcp::{AttachmentStatus, FilePins, McpServer, RemoteServer};

use crate::args::Mcp;
use crate::attach::{self, Servers, Stay, accepting};
use crate::config::Surroundings;
use crate::failure::Failure;
use crate::print;

pub(crate) fn execute(
    command: Option<Mcp>,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    match command {
        None => {
            let refused = RemoteServer::reject_self_attach(surroundings.config());
            refused.map_err(|error| Failure::finding(&error))?;
            let work = |runtime: &Runtime, servers: &Servers| {
                servers.warn();
                let builder = setup(surroundings.apply(Invoker::builder(registry)));
                serve(runtime, servers.build(builder, surroundings.config())?)
            };
            attach::with(surroundings, registry, Stay::Long, true, work)
        }
        Some(Mcp::List) => {
            let work = |_: &Runtime, servers: &Servers| {
                let pins = attach::pins(surroundings, Stay::Short);
                list(servers, &pins, json)
            };
            attach::with(surroundings, registry, Stay::Short, true, work)
        }
        Some(Mcp::Accept { name }) => {
            let work = |_: &Runtime, servers: &Servers| {
                let server = servers.accept(&name)?;
                print::aside(&format!("accepted `{name}` of {server}\n"));
                Ok(ExitCode::SUCCESS)
            };
            attach::with(surroundings, registry, Stay::Short, true, work)
        }
    }
}

/// Says what a server waits for whose stdin is a terminal: MCP clients start it with pipes.
fn explain() {
    let program = std::env::current_exe().unwrap_or_else(|_| crate::program().into());
    let entry = serde_json::json!({ "command": program, "args": ["mcp"] });
    print::aside(&format!(
        "This waits for an MCP client, which starts it by itself: put it into the configuration of one, as\n  \
         \"mcpServers\": {{ \"toolwright\": {entry} }}\n\
         To use the tools from here, try `{program} tools list` or `{program} chat`. Ctrl-C ends this.\n",
        program = crate::program()
    ));
}

/// Serves until stdin ends, which is when the parent does, or Ctrl-C.
fn serve(runtime: &Runtime, invoker: Invoker) -> Result<ExitCode, Failure> {
    let server = McpServer::builder(invoker)
        .name("toolwright")
        .version(env!("CARGO_PKG_VERSION"))
        .build()
        .map_err(|error| Failure::finding(&error))?;
    if io::stdin().is_terminal() {
        explain();
    }
    let served = runtime.block_on(async {
        tokio::select! {
            served = server.serve_stdio() => served,
            Ok(()) = tokio::signal::ctrl_c() => Ok(()),
        }
    });
    served.map_err(|error| Failure::finding(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn list(servers: &Servers, pins: &FilePins, json: bool) -> Result<ExitCode, Failure> {
    let (statuses, troubles): (Vec<_>, Vec<_>) =
        servers.statuses().into_iter().partition(Result::is_ok);
    let mut statuses: Vec<AttachmentStatus> = statuses.into_iter().flatten().collect();
    for status in &mut statuses {
        note_changes(status, pins)?;
    }
    let troubles: Vec<String> = troubles.into_iter().filter_map(Result::err).collect();
    if json {
        print::json(&statuses)?;
    } else {
        for status in &statuses {
            print::text(&told(status))?;
        }
        if statuses.is_empty() && troubles.is_empty() {
            eprintln!("no servers: add one as [mcp.servers.NAME] with url or command");
        }
    }
    for trouble in &troubles {
        print::aside(&format!("error: {trouble}\n"));
    }
    Ok(match troubles.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Notes what a program that runs has seen change, and hides, although the server lists it unchanged here.
fn note_changes(status: &mut AttachmentStatus, pins: &FilePins) -> Result<(), Failure> {
    let drifted = pins.drifted(&status.server);
    for (definition, changed) in drifted.map_err(|error| Failure::finding(&error))? {
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
fn told(status: &AttachmentStatus) -> String {
    let revision = status.revision.as_deref().unwrap_or("not connected");
    let latency = status.latency.map_or_else(String::new, |latency| {
        format!(", {:.0} ms", latency.as_secs_f64() * 1_000.0)
    });
    let mut text = format!("{} ({revision}{latency})\n", status.server);
    for listed in &status.items {
        // Why it is hidden, the notes say.
        let hidden = match listed.hidden {
            Some(_) => format!("  hidden; `{}` takes it back", accepting(&listed.name)),
            None => String::new(),
        };
        text.push_str(&format!("  {}{hidden}\n", listed.name));
    }
    for note in &status.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}
