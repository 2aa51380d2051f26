//! `config show`.

use std::process::ExitCode;

use serde_json::json;

use crate::cli::cli_error::CliError;
use crate::cli::terminal::output;
use crate::project::Project;
use crate::project::journal_keep::journal_keep;

/// Prints every setting. Fails if a group of settings (`WebSearchTool`, `MCP`, `journal`) is invalid.
pub(crate) fn show_settings(project: &Project, json: bool) -> Result<ExitCode, CliError> {
    let config = project.config();
    config.web_search()?;
    config.mcp_servers()?;
    journal_keep(config)?;
    let entries = config.entries();
    if json {
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| json!({ "key": entry.key, "value": entry.value, "origin": entry.origin.to_string() }))
            .collect();
        output::print_json(&entries)?;
    } else if entries.is_empty() {
        eprintln!("no settings: write toolwright.toml, or set TOOLWRIGHT_… variables");
    } else {
        let lines: Vec<String> = entries.iter().map(|entry| format!("{entry}\n")).collect();
        output::print_text(&lines.concat())?;
    }
    Ok(ExitCode::SUCCESS)
}
