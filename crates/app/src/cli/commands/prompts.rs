//! `prompts list|render`.

use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{CallScope, Invoker, Prompt, Snapshot};

use crate::attach_options::ProgramLifetime;
use crate::cli::args::PromptsCommand;
use crate::cli::cli_error::CliError;
use crate::cli::commands::tools::{self, arguments};
use crate::cli::program::Program;
use crate::cli::runtime;
use crate::cli::terminal::{output, tool_output};
use crate::remote_servers::RemoteServers;
use crate::setup::StateMode;

pub(crate) fn execute(
    command: PromptsCommand,
    json: bool,
    program: Program,
) -> Result<ExitCode, CliError> {
    let (connect, state) = match &command {
        PromptsCommand::List => (true, StateMode::Declare),
        PromptsCommand::Render { name, .. } => {
            (program.registry.prompt(name).is_none(), StateMode::Open)
        }
    };
    let work = |runtime: &Runtime, servers: &RemoteServers, invoker: Invoker| {
        let snapshot = invoker.snapshot()?;
        match &command {
            PromptsCommand::List => {
                list_prompts(&snapshot, json)?;
                Ok(ExitCode::SUCCESS)
            }
            PromptsCommand::Render { name, arguments } => {
                let nearest = || snapshot.nearest_prompts(name, 1).into_iter().next();
                let prompt = snapshot.prompt(name);
                let prompt =
                    prompt.ok_or_else(|| servers.unknown_name_error("prompt", name, nearest()))?;
                render_prompt(runtime, &invoker, prompt, arguments, json)
            }
        }
    };
    program.with_invoker(ProgramLifetime::OneShot, connect, state, work)
}

fn list_prompts(snapshot: &Snapshot, json: bool) -> Result<(), CliError> {
    if json {
        let prompts: Vec<&Prompt> = snapshot.prompts().collect();
        return output::print_json(&prompts);
    }
    if snapshot.prompts().len() == 0 {
        eprintln!(
            "no prompts: add one with `#[prompt]`, and name its crate in `main` (`use my_tools as _;`)"
        );
        return Ok(());
    }
    output::print_text(&tools::format_list(snapshot.prompts().map(Prompt::spec)))
}

fn render_prompt(
    runtime: &Runtime,
    invoker: &Invoker,
    prompt: &Prompt,
    arguments: &[String],
    json: bool,
) -> Result<ExitCode, CliError> {
    let arguments = arguments::parse_arguments(arguments, prompt.spec())?;
    let render =
        async |scope: &CallScope| invoker.render_prompt_in(scope, prompt.name(), arguments).await;
    let rendered = match runtime::run_until_ctrl_c(runtime, render) {
        Ok(rendered) => rendered,
        Err(failure) => {
            tool_output::print_result(&failure, json)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    if json {
        output::print_json(&rendered)?;
        return Ok(ExitCode::SUCCESS);
    }
    for note in &rendered.notes {
        output::print_stderr(&format!("note: {note}\n"));
    }
    output::print_text(&format!("{}\n", rendered.text))?;
    Ok(ExitCode::SUCCESS)
}
