//! `quota show|reset`: what people have used of their quotas.

use std::process::ExitCode;

use serde_json::json;
use toolwright_core::{SharedState, SharedStateError};
use toolwright_server::{LimitUsage, QuotaSettings, QuotaUsage};

use crate::cli::args::QuotaCommand;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::commands::store::open_persistent;
use crate::cli::runtime;
use crate::cli::terminal::{output, sanitize};
use crate::project::Project;

/// The maximum number of people that are listed.
const MAX_LISTED: usize = 10_000;

pub(crate) fn execute(
    command: QuotaCommand,
    json: bool,
    project: &Project,
) -> Result<ExitCode, CliError> {
    let settings = QuotaSettings::from_config(project.config());
    let settings = settings.map_err(|error| CliError::failure(error_chain(&error)))?;
    let runtime = runtime::build_runtime()?;
    runtime.block_on(async {
        let opened = open_persistent(project).await?;
        let state = opened.store().shared_state();
        match command {
            QuotaCommand::Show { subject, roles } => {
                show(&*state, &settings, subject, &roles, json).await
            }
            QuotaCommand::Reset { subject } => reset(&*state, &subject, json).await,
        }
    })
}

async fn show(
    state: &dyn SharedState,
    settings: &QuotaSettings,
    subject: Option<String>,
    roles: &[String],
    json: bool,
) -> Result<ExitCode, CliError> {
    let is_list = subject.is_none();
    let subjects = match subject {
        Some(subject) => vec![subject],
        None => QuotaUsage::list_subjects(state, MAX_LISTED).await.map_err(failure)?,
    };
    let mut people = Vec::new();
    for subject in subjects {
        let usage = QuotaUsage::read(state, settings, Some(&subject), roles).await;
        people.push(usage.map_err(failure)?);
    }
    match json {
        true => output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&people)))?,
        false => output::print_text(&people.iter().map(to_lines).collect::<String>())?,
    }
    if is_list && people.is_empty() {
        output::print_stderr("no person has used tokens or money today, where that is limited\n");
    }
    Ok(ExitCode::SUCCESS)
}

async fn reset(state: &dyn SharedState, subject: &str, json: bool) -> Result<ExitCode, CliError> {
    QuotaUsage::reset(state, Some(subject)).await.map_err(failure)?;
    match json {
        true => output::print_json(&json!({ "reset": subject }))?,
        false => output::print_stderr("what was used counts no longer\n"),
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(error: SharedStateError) -> CliError {
    CliError::failure(error_chain(&error))
}

/// The person, and a line for each limit.
fn to_lines(usage: &QuotaUsage) -> String {
    let person = usage.subject.as_deref().unwrap_or("(operator)");
    let limits: String = usage.limits.iter().map(to_line).collect();
    match limits.is_empty() {
        true => format!("{person}\n  no limits\n"),
        false => format!("{person}\n{limits}"),
    }
}

fn to_line(usage: &LimitUsage) -> String {
    let LimitUsage { limit, max, used, .. } = usage;
    let estimated = usage.estimated.map(|part| format!(" ({part} estimated)"));
    let estimated = estimated.unwrap_or_default();
    match usage.resets_in {
        Some(seconds) => format!("  {limit}  {used} of {max}{estimated}, resets in {seconds} s\n"),
        None => format!("  {limit}  {used} of {max}{estimated}\n"),
    }
}
