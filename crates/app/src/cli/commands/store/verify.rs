//! `store verify`.

use std::process::ExitCode;

use serde_json::{Value, json};

use crate::cli::cli_error::CliError;
use crate::cli::terminal::output;
use crate::cli::terminal::status_line::with_status_line;
use crate::project::Project;
use crate::project::conversation_store::store_url;

/// Prints every problem of the configured store; exit code 1 if there is one.
pub(super) async fn verify_store(project: &Project, json: bool) -> Result<ExitCode, CliError> {
    let report =
        with_status_line("verifying", toolwright_store::verify(&store_url(project)?)).await?;
    if json {
        let problems = report.problems.iter().map(|problem| {
            json!({
                "conversation": problem.conversation,
                "entry": problem.entry,
                "problem": problem.problem,
                "remedy": problem.remedy,
            })
        });
        output::print_json(&json!({
            "conversations": report.conversations,
            "entries": report.entries,
            "inbox_items": report.inbox_items,
            "problems": problems.collect::<Vec<Value>>(),
        }))?;
    } else {
        let lines = report.problems.iter().map(|problem| format!("{problem}\n"));
        output::print_text(&lines.collect::<String>())?;
    }
    output::print_stderr(&format!(
        "{} conversations, {} entries, {} inbox items: {} problems\n",
        report.conversations,
        report.entries,
        report.inbox_items,
        report.problems.len()
    ));
    Ok(match report.problems.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
