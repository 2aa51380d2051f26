//! `check`: lowers the schemas of tools to the dialects of providers, and reports what is lost.

mod dialect_result;
mod live_server;
mod progress;
mod report;
mod tool_sources;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;

use toolwright_core::Config;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::{Shape, ToolPlanner};
use toolwright_models::{VENDORS, Vendor};

use crate::cli::cli_error::CliError;
use crate::cli::program::Program;
use crate::cli::terminal::output;
use dialect_result::CheckedTool;
use progress::Progress;
use tool_sources::{SourceRejection, ToolsToCheck};

/// The dialects if neither flags, settings nor keys name one.
const DEFAULT_DIALECTS: [Dialect; 5] =
    [Dialect::OPENAI, Dialect::ANTHROPIC, Dialect::GEMINI, Dialect::OLLAMA, Dialect::MCP];

/// The flags of `check`.
#[derive(clap::Args)]
pub(crate) struct CheckArgs {
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
    deny: Option<DenyLevel>,
    /// Print the `tools` array of a request in the one dialect named, exactly as it is sent
    #[arg(long)]
    emit: bool,
    /// With --emit: the shape of the definitions in it [default: the dialect's own]
    #[arg(long, value_name = "SHAPE", requires = "emit")]
    shape: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DenyLevel {
    /// Whatever admits more or less than the tool's own schema; that an object cannot be closed is no loss
    Lossy,
}

pub(crate) fn execute(
    command: &CheckArgs,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    let dialects = match &command.dialects[..] {
        [] => default_dialects(program.config()),
        names => parse_dialects(names)?,
    };
    let sources = match (&command.mcp, &command.files[..]) {
        (Some(server), _) => live_server::list_server_tools(server)?,
        (None, []) => ToolsToCheck::from_program(program)?,
        (None, files) => ToolsToCheck::from_files(files)?,
    };
    if command.emit {
        return print_tools_array(command, &dialects, &sources);
    }
    let mut progress = Progress::new(sources.len());
    let checked: Vec<CheckedTool<'_>> = sources
        .tools()
        .map(|tool| {
            let checked = CheckedTool::new(tool, &dialects);
            progress.increment();
            checked
        })
        .collect();
    progress.clear_line();
    if json {
        output::print_json(&report::to_json(&checked, &sources))?;
    } else {
        output::print_text(&report::to_text(&checked, &dialects, &sources))?;
    }
    let denied = checked.iter().flat_map(|tool| &tool.dialect_results).any(|verdict| {
        verdict.is_impossible()
            || !verdict.refused.is_empty()
            || command.deny.is_some() && verdict.is_lossy()
    });
    let refused = sources.rejected.iter().any(SourceRejection::is_error);
    Ok(if denied || refused || !sources.unavailable_servers.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn parse_dialects(names: &[String]) -> Result<Vec<Dialect>, CliError> {
    if names.iter().any(|name| name == "all") {
        return Ok(Dialect::ALL.to_vec());
    }
    let named = names.iter().map(|name| parse_dialect(name));
    Ok(deduplicate(named.collect::<Result<Vec<_>, _>>()?))
}

/// The dialects of the vendors that the settings or keys name, else [`DEFAULT_DIALECTS`].
fn default_dialects(config: &Config) -> Vec<Dialect> {
    let model: Option<String> = config.get_optional("model").unwrap_or_default();
    let model = model.as_deref().unwrap_or_default();
    let model_vendor = model.split(':').next().unwrap_or_default().trim();
    let entries = config.entries();
    let is_named = |vendor: &&'static Vendor| {
        let section = format!("models.{}.", vendor.name);
        vendor.name == model_vendor
            || vendor.has_api_key(config)
            || entries.iter().any(|entry| entry.key.starts_with(&section))
    };
    let named: Vec<Dialect> = VENDORS.iter().filter(is_named).map(Vendor::dialect).collect();
    match named.is_empty() {
        true => DEFAULT_DIALECTS.to_vec(),
        false => deduplicate(named),
    }
}

fn deduplicate(dialects: Vec<Dialect>) -> Vec<Dialect> {
    let mut distinct = Vec::new();
    for dialect in dialects {
        if !distinct.contains(&dialect) {
            distinct.push(dialect);
        }
    }
    distinct
}

pub(crate) fn parse_dialect(name: &str) -> Result<Dialect, CliError> {
    name.parse().map_err(|error| CliError::usage(format!("{error}")))
}

fn print_tools_array(
    command: &CheckArgs,
    dialects: &[Dialect],
    sources: &ToolsToCheck,
) -> Result<ExitCode, CliError> {
    let [dialect] = dialects else {
        return Err(CliError::usage(
            "--emit prints one request: name its dialect, as `--for openai`",
        ));
    };
    let mut owners: HashMap<&str, &str> = HashMap::new();
    for tool in sources.tools() {
        if let Some(other) = owners.insert(tool.candidate.name, tool.source) {
            return Err(CliError::usage(format!(
                "two tools are named `{}`, one in {other}, one in {}: a request can carry one of them",
                tool.candidate.name, tool.source
            )));
        }
    }
    // Of the dialects, only OpenAI's have custom tools.
    let has_custom_tools = dialect.non_strict() == Dialect::OPENAI;
    let mut planner = ToolPlanner::new(*dialect).custom_tools(has_custom_tools);
    if let Some(name) = &command.shape {
        let shape: Shape = name.parse().map_err(|error| CliError::usage(format!("{error}")))?;
        planner = planner.shape(shape);
    }
    let plan = planner.plan(sources.tools().map(|tool| tool.candidate));
    output::print_text(&format!("{}\n", plan.json()))?;
    for tool in plan.omitted() {
        output::print_stderr(&format!("left out: {}: {}\n", tool.name, tool.reason));
    }
    for refused in &sources.rejected {
        output::print_stderr(&format!("left out: {refused}\n"));
    }
    let refused = sources.rejected.iter().any(SourceRejection::is_error);
    let complete = plan.omitted().is_empty() && !refused && sources.unavailable_servers.is_empty();
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
