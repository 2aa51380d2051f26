//! `nodes list`: the nodes that serve conversations from the same store.

use std::process::ExitCode;

use jiff::Timestamp;
use toolwright_server::NodeInfo;

use crate::cli::args::NodesCommand;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::commands::store::open_persistent;
use crate::cli::runtime;
use crate::cli::terminal::{output, sanitize};
use crate::project::Project;

pub(crate) fn execute(
    command: NodesCommand,
    json: bool,
    project: &Project,
) -> Result<ExitCode, CliError> {
    let NodesCommand::List = command;
    let runtime = runtime::build_runtime()?;
    runtime.block_on(async {
        let opened = open_persistent(project).await?;
        let nodes = NodeInfo::list(&*opened.store().shared_state()).await;
        let nodes = nodes.map_err(|error| CliError::failure(error_chain(&error)))?;
        match json {
            true => output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&nodes)))?,
            false => output::print_text(&format_nodes(&nodes))?,
        }
        if nodes.is_empty() {
            output::print_stderr(
                "no nodes: those that serve from PostgreSQL or with a bus are listed\n",
            );
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// A line for each node.
fn format_nodes(nodes: &[NodeInfo]) -> String {
    let line = |node: &NodeInfo| {
        let started = i64::try_from(node.started).ok();
        let started = started.and_then(|millis| Timestamp::from_millisecond(millis).ok());
        let started = started.map_or_else(String::new, |at| format!("{at:.0}"));
        let address = node.address.as_deref().unwrap_or("-");
        let status = if node.draining { "draining" } else { "serving" };
        let (name, program, version) = (&node.name, &node.program, &node.version);
        let turns = node.turns;
        format!(
            "{name}  {program} {version}  {address}  {status}  {turns} turns  since {started}\n"
        )
    };
    nodes.iter().map(line).collect()
}
