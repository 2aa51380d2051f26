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
use toolwright_core::wire::{Shape, ToolPlanner};
use toolwright_core::{Config, InvokerBuilder, Registry};
use toolwright_models::{VENDORS, Vendor};

use crate::config::Surroundings;
use crate::failure::Failure;
use crate::print;
use found::{Found, RefusedIn};
use progress::Progress;
use verdict::Checked;

/// The dialects to check where no vendor is named.
const USUAL: [Dialect; 5] = [
    Dialect::OPENAI,
    Dialect::ANTHROPIC,
    Dialect::GEMINI,
    Dialect::OLLAMA,
    Dialect::MCP,
];

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
    /// The dialects to lower to, or `all`, separated by commas or given several times [default: those of the vendors that
    /// the settings or keys name, else openai, anthropic, gemini, ollama and mcp]
    #[arg(long = "for", value_name = "DIALECT", value_delimiter = ',')]
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
    /// Whatever admits more or less than the tool's own schema; that an object cannot be closed is no loss
    Lossy,
}

pub(crate) fn execute(
    command: &Check,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let dialects = match &command.dialects[..] {
        [] => default_dialects(surroundings.config()),
        names => dialects(names)?,
    };
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
    let named = names.iter().map(|name| dialect(name));
    Ok(distinct(named.collect::<Result<Vec<_>, _>>()?))
}

/// Returns the dialects of the vendors that the settings or keys name, else the usual ones.
fn default_dialects(config: &Config) -> Vec<Dialect> {
    let model: Option<String> = config.get_optional("model").unwrap_or_default();
    let model = model.as_deref().unwrap_or_default();
    let chosen = model.split(':').next().unwrap_or_default().trim();
    let entries = config.entries();
    let is_named = |vendor: &&'static Vendor| {
        let section = format!("models.{}.", vendor.name);
        vendor.name == chosen
            || vendor.has_api_key(config)
            || entries.iter().any(|entry| entry.key.starts_with(&section))
    };
    let named: Vec<Dialect> = VENDORS
        .iter()
        .filter(is_named)
        .map(Vendor::dialect)
        .collect();
    match named.is_empty() {
        true => USUAL.to_vec(),
        false => distinct(named),
    }
}

fn distinct(dialects: Vec<Dialect>) -> Vec<Dialect> {
    let mut distinct = Vec::new();
    for dialect in dialects {
        if !distinct.contains(&dialect) {
            distinct.push(dialect);
        }
    }
    distinct
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
    let mut planner = ToolPlanner::new(*dialect);
    if let Some(name) = &command.shape {
        let shape: Shape = name
            .parse()
            .map_err(|error| Failure::usage(format!("{error}")))?;
        planner = planner.shape(shape);
    }
    let plan = planner.plan(found.tools().map(|tool| tool.candidate));
    print::text(&format!("{}\n", plan.json()))?;
    for left in plan.omitted() {
        print::aside(&format!("left out: {}: {}\n", left.name, left.reason));
    }
    for refused in &found.refused {
        print::aside(&format!("left out: {refused}\n"));
    }
    let refused = found.refused.iter().any(RefusedIn::is_finding);
    let whole = plan.omitted().is_empty() && !refused && found.missing.is_empty();
    Ok(if whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
