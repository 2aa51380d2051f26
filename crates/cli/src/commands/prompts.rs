//! `prompts list|render`.

use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{CallScope, Invoker, InvokerBuilder, Prompt, Registry, Snapshot};

use crate::args::PromptsCommand;
use crate::cli_error::CliError;
use crate::commands::tools::{self, arguments};
use crate::config::ProjectConfig;
use crate::remote_servers::{self, CommandLifetime, RemoteServers};
use crate::runtime;
use crate::terminal::{output, tool_output};

pub(crate) fn execute(
    command: PromptsCommand,
    json: bool,
    project: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    let connect = match &command {
        PromptsCommand::List => true,
        PromptsCommand::Render { name, .. } => registry.prompt(name).is_none(),
    };
    let work = |runtime: &Runtime, servers: &RemoteServers, invoker: Invoker| {
        let snapshot = invoker.snapshot()?;
        match &command {
            PromptsCommand::List => {
                list_prompts(&snapshot, json)?;
                Ok(ExitCode::SUCCESS)
            }
            PromptsCommand::Render { name, arguments } => {
                let prompt = find_prompt(&snapshot, name, &servers.unavailable())?;
                render_prompt(runtime, &invoker, prompt, arguments, json)
            }
        }
    };
    let lifetime = CommandLifetime::OneShot;
    remote_servers::with_invoker(project, registry, lifetime, connect, setup, work)
}

/// Finds a prompt by its exact name; the error suggests the nearest one.
fn find_prompt<'a>(
    snapshot: &'a Snapshot,
    name: &str,
    unavailable: &[String],
) -> Result<&'a Prompt, CliError> {
    snapshot.prompt(name).ok_or_else(|| {
        let hint = match snapshot.nearest_prompts(name, 1).first() {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "`prompts list` shows all there are".to_owned(),
        };
        let message = format!("there is no prompt `{name}`; {hint}");
        remote_servers::unknown_name_error(message, unavailable)
    })
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
