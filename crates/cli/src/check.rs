//! `check`: tools in, what each provider's dialect makes of them out.

mod found;
mod live;
mod progress;
mod report;
mod verdict;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use toolwright_core::schema::Dialect;
use toolwright_core::wire::{Planner, Shape};
use toolwright_core::{InvokerBuilder, Registry};

use crate::config::Surroundings;
use crate::failure::Failure;
use crate::print;
use found::{Found, RefusedIn};
use progress::Progress;
use verdict::Checked;

/// What to check, and what to do about it.
#[derive(clap::Args)]
pub(crate) struct Check {
    /// Files of tool definitions as OpenAI, Anthropic, Gemini, Ollama, Bedrock or MCP write them; `-` is stdin. Without
    /// any, the tools that are linked or attached are checked
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Check the tools of a live MCP server: its address, or the command that starts it, in quotes
    #[arg(long, value_name = "URL|COMMAND", conflicts_with = "files")]
    mcp: Option<String>,
    /// The dialects to lower to, separated by commas or given several times
    #[arg(
        long = "for",
        value_name = "DIALECT",
        value_delimiter = ',',
        default_value = "all"
    )]
    dialects: Vec<String>,
    /// Exit with 1 also when something is only lossy
    #[arg(long, value_name = "WHAT")]
    deny: Option<Deny>,
    /// Print the `tools` array of a request in the one dialect named, exactly as it is sent
    #[arg(long)]
    emit: bool,
    /// With --emit: the shape of the definitions in it [default: the dialect's own]
    #[arg(long, value_name = "SHAPE", requires = "emit")]
    shape: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Deny {
    /// Whatever admits more or less than the tool's own schema
    Lossy,
}

pub(crate) fn execute(
    command: &Check,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let dialects = dialects(&command.dialects)?;
    let found = match (&command.mcp, &command.files[..]) {
        (Some(place), _) => live::list(place)?,
        (None, []) => Found::linked(surroundings, registry, setup)?,
        (None, files) => Found::read(files)?,
    };
    if command.emit {
        return emit(command, &dialects, &found);
    }
    let mut progress = Progress::new(found.len());
    let checked: Vec<Checked<'_>> = found
        .tools()
        .map(|tool| {
            let checked = Checked::new(tool, &dialects);
            progress.step();
            checked
        })
        .collect();
    progress.end();
    if json {
        print::json(&report::json(&checked, &found))?;
    } else {
        print::text(&report::text(&checked, &dialects, &found))?;
    }
    let denied = checked
        .iter()
        .flat_map(|tool| &tool.verdicts)
        .any(|verdict| {
            verdict.is_impossible()
                || !verdict.refused.is_empty()
                || command.deny.is_some() && verdict.is_lossy()
        });
    let refused = found.refused.iter().any(RefusedIn::is_finding);
    Ok(if denied || refused || !found.missing.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn dialects(names: &[String]) -> Result<Vec<Dialect>, Failure> {
    if names.iter().any(|name| name == "all") {
        return Ok(Dialect::ALL.to_vec());
    }
    let mut dialects = Vec::new();
    for name in names {
        let dialect = dialect(name)?;
        if !dialects.contains(&dialect) {
            dialects.push(dialect);
        }
    }
    Ok(dialects)
}

/// The dialect of a name.
pub(crate) fn dialect(name: &str) -> Result<Dialect, Failure> {
    name.parse()
        .map_err(|error| Failure::usage(format!("{error}")))
}

fn emit(command: &Check, dialects: &[Dialect], found: &Found) -> Result<ExitCode, Failure> {
    let [dialect] = dialects else {
        return Err(Failure::usage(
            "--emit prints one request: name its dialect, as `--for openai`",
        ));
    };
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for tool in found.tools() {
        if let Some(other) = owners.insert(tool.candidate.name, tool.source) {
            return Err(Failure::usage(format!(
                "two tools are named `{}`, one in {other}, one in {}: a request can carry one of them",
                tool.candidate.name, tool.source
            )));
        }
    }
    let mut planner = Planner::new(*dialect);
    if let Some(name) = &command.shape {
        let shape: Shape = name
            .parse()
            .map_err(|error| Failure::usage(format!("{error}")))?;
        planner = planner.shape(shape);
    }
    let plan = planner.plan(found.tools().map(|tool| tool.candidate));
    print::text(&format!("{}\n", plan.text()))?;
    for left in plan.left_out() {
        print::aside(&format!("left out: {}: {}\n", left.name, left.reason));
    }
    for refused in &found.refused {
        print::aside(&format!("left out: {refused}\n"));
    }
    let refused = found.refused.iter().any(RefusedIn::is_finding);
    let whole = plan.left_out().is_empty() && !refused && found.missing.is_empty();
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
