//! `prompts list|render`.

use std::process::ExitCode;

use tokio::runtime::Runtime;
use toolwright_core::{CallScope, Invoker, InvokerBuilder, Prompt, Registry, Snapshot};

use crate::args::Prompts;
use crate::attach::{self, Servers, Stay};
use crate::config::Surroundings;
use crate::failure::Failure;
use crate::{call, print, tools};

pub(crate) fn execute(
    command: Prompts,
    json: bool,
    surroundings: &Surroundings,
    registry: &Registry,
    setup: impl FnOnce(InvokerBuilder) -> InvokerBuilder,
) -> Result<ExitCode, Failure> {
    let needed = match &command {
        Prompts::List => true,
        Prompts::Render { name, .. } => registry.prompt(name).is_none(),
    };
    let work = |runtime: &Runtime, servers: &Servers| {
        servers.warn();
        let builder = setup(surroundings.apply(Invoker::builder(registry)));
        let invoker = servers.build(builder, surroundings.config())?;
        let snapshot = invoker
            .snapshot()
            .map_err(|error| Failure::finding(&error))?;
        match &command {
            Prompts::List => {
                list(&snapshot, json)?;
                Ok(ExitCode::SUCCESS)
            }
            Prompts::Render { name, arguments } => {
                let prompt = find(&snapshot, name, &servers.missing())?;
                render(runtime, &invoker, prompt, arguments, json)
            }
        }
    };
    attach::with(surroundings, registry, Stay::Short, needed, work)
}

/// Finds a prompt by its exact name, or says which name is nearest.
fn find<'a>(snapshot: &'a Snapshot, name: &str, missing: &[String]) -> Result<&'a Prompt, Failure> {
    snapshot.prompt(name).ok_or_else(|| {
        let hint = match snapshot.nearest_prompts(name, 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`prompts list` shows all there are".to_owned(),
        };
        attach::unknown(format!("there is no prompt `{name}`; {hint}"), missing)
    })
}

fn list(snapshot: &Snapshot, json: bool) -> Result<(), Failure> {
    if json {
        let prompts: Vec<&Prompt> = snapshot.prompts().collect();
        return print::json(&prompts);
    }
    if snapshot.prompts().len() == 0 {
        eprintln!(
            "no prompts: add one with `#[prompt]`, and name its crate in `main` (`use my_tools as _;`)"
        );
        return Ok(());
    }
    print::text(&tools::listing(snapshot.prompts().map(Prompt::spec)))
}

fn render(
    runtime: &Runtime,
    invoker: &Invoker,
    prompt: &Prompt,
    arguments: &[String],
    json: bool,
) -> Result<ExitCode, Failure> {
    let arguments = call::read(arguments, prompt.spec())?;
    let rendering = async |scope: &CallScope| {
        invoker
            .render_prompt_in(scope, prompt.name(), arguments)
            .await
    };
    let rendered = call::run(runtime, rendering);
    let rendered = match rendered {
        Ok(rendered) => rendered,
        Err(failure) => {
            call::show(&failure, json)?;
            return Ok(ExitCode::FAILURE);
        }
    };
    if json {
        print::json(&rendered)?;
        return Ok(ExitCode::SUCCESS);
    }
    for note in &rendered.notes {
        print::aside(&format!("note: {note}\n"));
    }
    print::text(&format!("{}\n", rendered.text))?;
    Ok(ExitCode::SUCCESS)
}
