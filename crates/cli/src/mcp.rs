//! `mcp`: the tools as an MCP server on stdio; the servers that the settings name, and what has changed about them.

use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{Invoker, InvokerBuilder, Registry};
use toolwright_mcp::{McpServer, Status};

use crate::args::Mcp;
use crate::attach::{self, Servers, Stay, accepting};
use crate::config::Surroundings;
use crate::failure::Failure;
use crate::{call, print};

pub(crate) fn execute(
    command: Option<Mcp>,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    match command {
        None => {
            let work = |runtime: &Runtime, servers: &Servers| {
                servers.warn();
                let builder = setup(surroundings.apply(Invoker::builder(registry)));
                serve(runtime, servers.build(builder, surroundings.config())?)
            };
            attach::with(surroundings, registry, Stay::Long, true, work)
        }
        Some(Mcp::List) => {
            let work = |_: &Runtime, servers: &Servers| list(servers, json);
            attach::with(surroundings, registry, Stay::Short, true, work)
        }
        Some(Mcp::Accept { name }) => {
            let work = |_: &Runtime, servers: &Servers| {
                let server = servers.accept(&name)?;
                eprintln!("accepted `{name}` of {server}");
                Ok(ExitCode::SUCCESS)
            };
            attach::with(surroundings, registry, Stay::Short, true, work)
        }
    }
}

/// Serves until stdin ends, which is when the parent does.
fn serve(runtime: &Runtime, invoker: Invoker) -> Result<ExitCode, Failure> {
    let server = McpServer::builder(invoker)
        .name("toolwright")
        .version(env!("CARGO_PKG_VERSION"))
        .build()
        .map_err(|error| Failure::finding(&error))?;
    let served = call::run(runtime, async |_| server.serve_stdio().await);
    served.map_err(|error| Failure::finding(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn list(servers: &Servers, json: bool) -> Result<ExitCode, Failure> {
    let (statuses, troubles): (Vec<_>, Vec<_>) =
        servers.statuses().into_iter().partition(Result::is_ok);
    let statuses: Vec<Status> = statuses.into_iter().flatten().collect();
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

/// One server as people read it.
fn told(status: &Status) -> String {
    let revision = status.revision.as_deref().unwrap_or("not connected");
    let latency = status.latency.map_or_else(String::new, |latency| {
        format!(", {:.0} ms", latency.as_secs_f64() * 1_000.0)
    });
    let mut text = format!("{} ({revision}{latency})\n", status.server);
    for listed in &status.listed {
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
