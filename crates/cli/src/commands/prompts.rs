//! `prompts list|render`.

use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{CallScope, Invoker, InvokerBuilder, Prompt, Registry, Snapshot};

use crate::args::PromptsCommand;
use crate::cli_error::CliError;
use crate::commands::tools;
use crate::commands::tools::arguments;
use crate::config::ProjectConfig;
use crate::remote_servers::{self, CommandLifetime, RemoteServers};
use crate::runtime;
use crate::terminal::{output, tool_output};

pub(crate) fn execute(
    command: PromptsCommand,
    json: bool,
    surroundings: &ProjectConfig,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, CliError> {
    let needed = match &command {
        PromptsCommand::List => true,
        PromptsCommand::Render { name, .. } => registry.prompt(name).is_none(),
    };
    let work = |runtime: &Runtime, servers: &RemoteServers| {
        servers.print_warnings();
        let builder = setup(surroundings.configure_invoker(Invoker::builder(registry)));
        let invoker = servers.build_invoker(builder, surroundings.config())?;
        let snapshot = invoker
            .snapshot()
            .map_err(|error| CliError::from_error(&error))?;
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
    remote_servers::with_servers(
        surroundings,
        registry,
        CommandLifetime::OneShot,
        needed,
        work,
    )
}

/// Finds a prompt by its exact name, or says which name is nearest.
fn find_prompt<'a>(
    snapshot: &'a Snapshot,
    name: &str,
    missing: &[String],
) -> Result<&'a Prompt, CliError> {
    snapshot.prompt(name).ok_or_else(|| {
        let hint = match snapshot.nearest_prompts(name, 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`prompts list` shows all there are".to_owned(),
        };
        remote_servers::unknown_name_error(format!("there is no prompt `{name}`; {hint}"), missing)
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
    let rendering = async |scope: &CallScope| {
        invoker
            .render_prompt_in(scope, prompt.name(), arguments)
            .await
    };
    let rendered = runtime::run_until_ctrl_c(runtime, rendering);
    let rendered = match rendered {
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
