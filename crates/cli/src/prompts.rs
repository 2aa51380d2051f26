//! `prompts list|render`.

use std::process::ExitCode;

use toolwright_core::{Invoker, InvokerBuilder, Prompt, Registry, Snapshot};

use crate::args::Prompts;
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
    let builder = setup(surroundings.apply(Invoker::builder(registry)));
    let invoker = builder.build().map_err(|error| Failure::finding(&error))?;
    let snapshot = invoker
        .snapshot()
        .map_err(|error| Failure::finding(&error))?;
    match command {
        Prompts::List => {
            list(&snapshot, json)?;
            Ok(ExitCode::SUCCESS)
        }
        Prompts::Render { name, arguments } => {
            render(&invoker, find(&snapshot, &name)?, &arguments, json)
        }
    }
}

/// Finds a prompt by its exact name, or says which name is nearest.
fn find<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a Prompt, Failure> {
    snapshot.prompt(name).ok_or_else(|| {
        let hint = match snapshot.nearest_prompts(name, 1).first() {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`prompts list` shows all there are".to_owned(),
        };
        Failure::usage(format!("there is no prompt `{name}`; {hint}"))
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
    invoker: &Invoker,
    prompt: &Prompt,
    arguments: &[String],
    json: bool,
) -> Result<ExitCode, Failure> {
    let arguments = call::read(arguments, prompt.spec())?;
    let rendered =
        call::run(async |scope| invoker.render_in(scope, prompt.name(), arguments).await)?;
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
        eprintln!("note: {note}");
    }
    print::text(&format!("{}\n", rendered.text))?;
    Ok(ExitCode::SUCCESS)
}
