//! `mcp`: the tools as an MCP server on stdio; the servers that the settings name, and what has changed about them.

use std::process::ExitCode;
use std::sync::Arc;

use toolwright_core::{Invoker, InvokerBuilder, Registry};
use toolwright_mcp::{Attach, Attached, FilePins, McpServer, Status};

use crate::args::Mcp;
use crate::config::Surroundings;
use crate::failure::{Failure, chain};
use crate::{call, print};

/// The file that remembers what was accepted, in the project directory.
const PINS: &str = "toolwright.pins";

pub(crate) fn execute(
    command: Option<Mcp>,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    match command {
        None => {
            let builder = setup(surroundings.apply(Invoker::builder(registry)));
            let invoker = builder.build().map_err(|error| Failure::finding(&error))?;
            serve(invoker)
        }
        Some(Mcp::List) => list(surroundings, json),
        Some(Mcp::Accept { name }) => accept(surroundings, &name),
    }
}

/// Serves until stdin ends, which is when the parent does.
fn serve(invoker: Invoker) -> Result<ExitCode, Failure> {
    let server = McpServer::builder(invoker)
        .name("toolwright")
        .version(env!("CARGO_PKG_VERSION"))
        .build()
        .map_err(|error| Failure::finding(&error))?;
    let served = call::run(async |_| server.serve_stdio().await)?;
    served.map_err(|error| Failure::finding(&error))?;
    Ok(ExitCode::SUCCESS)
}

fn list(surroundings: &Surroundings, json: bool) -> Result<ExitCode, Failure> {
    let (statuses, troubles) = call::run(async |_| {
        let (attached, troubles) = attach(surroundings).await?;
        let statuses: Vec<Status> = attached.iter().map(Attached::status).collect();
        for server in attached {
            server.detach().await;
        }
        Ok::<_, Failure>((statuses, troubles))
    })??;
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
        eprintln!("error: {trouble}");
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
        let hidden = listed.hidden.as_deref().map_or_else(String::new, |why| {
            format!(
                "  hidden: {why}; `mcp accept {}` takes it back",
                listed.name
            )
        });
        text.push_str(&format!("  {}{hidden}\n", listed.name));
    }
    for note in &status.notes {
        text.push_str(&format!("  note: {note}\n"));
    }
    text
}

fn accept(surroundings: &Surroundings, name: &str) -> Result<ExitCode, Failure> {
    call::run(async |_| {
        let (attached, troubles) = attach(surroundings).await?;
        let mut refusals = troubles;
        for server in &attached {
            match server.accept(name) {
                Ok(()) => {
                    eprintln!("accepted `{name}` of {}", server.name());
                    return Ok(ExitCode::SUCCESS);
                }
                Err(error) => refusals.push(format!("{}: {}", server.name(), chain(&error))),
            }
        }
        let nobody = format!("no server has a tool `{name}` to accept");
        refusals.insert(0, nobody);
        Err(Failure::told(refusals.join("\n")))
    })?
}

/// Attaches what the settings name, to a registry of their own; says why where it cannot.
async fn attach(surroundings: &Surroundings) -> Result<(Vec<Attached>, Vec<String>), Failure> {
    let registry = Registry::new();
    let pins = Arc::new(FilePins::new(surroundings.directory().join(PINS)));
    let named = Attach::from_config(surroundings.config());
    let mut wanted = named.map_err(|error| Failure::finding(&error))?;
    let groups = Attach::from_groups(surroundings.config(), false);
    wanted.extend(groups.map_err(|error| Failure::finding(&error))?);
    let (mut attached, mut troubles) = (Vec::new(), Vec::new());
    for server in wanted {
        let name = server.name().to_owned();
        match server.pins(pins.clone()).attach(&registry).await {
            Ok(server) => attached.push(server),
            Err(error) => troubles.push(format!("{name}: {}", chain(&error))),
        }
    }
    Ok((attached, troubles))
}
