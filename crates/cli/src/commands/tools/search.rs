//! `tools search`: prints the tools that match a question.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolwright_core::wire::{self, ToolDefinition};
use toolwright_core::{RegisteredTool, Snapshot};
use toolwright_search::{ToolIndex, ToolMatch};

use crate::cli_error::CliError;
use crate::terminal::input::read_file_or_stdin;
use crate::terminal::output;

/// Searches the tools that are linked or attached.
pub(super) fn search_snapshot(
    snapshot: &Snapshot,
    question: &str,
    limit: u16,
    json: bool,
) -> Result<(), CliError> {
    let found = ToolIndex::new(snapshot.iter()).search(question, usize::from(limit));
    let description = |name: &str| {
        let spec = snapshot.get(name).map(RegisteredTool::spec);
        spec.map_or("", |spec| spec.description.as_str())
    };
    print_matches(&found, description, json)
}

/// Searches the definitions of a file.
pub(super) fn search_file(
    file: &Path,
    question: &str,
    limit: u16,
    json: bool,
) -> Result<ExitCode, CliError> {
    let source = file.display();
    let text = read_file_or_stdin(file);
    let text = text.map_err(|error| CliError::usage(format!("{source}: {error}")))?;
    let entries = wire::import_definitions(&text);
    let entries = entries.map_err(|error| CliError::usage(format!("{source}: {error}")))?;
    let mut definitions: HashMap<String, ToolDefinition> = HashMap::new();
    let mut index = ToolIndex::default();
    for entry in entries {
        match entry {
            Ok(definition) => {
                index.insert(&definition);
                definitions.insert(definition.name.clone(), definition);
            }
            // A tool that the vendor hosts has no definition to search.
            Err(rejection) if rejection.hosted => {}
            Err(rejection) => output::print_stderr(&format!("{source}: {rejection}\n")),
        }
    }
    if index.is_empty() {
        return Err(CliError::failure(format!("{source}: no definition of a tool to search")));
    }
    let found = index.search(question, usize::from(limit));
    let description =
        |name: &str| definitions.get(name).map_or("", |definition| definition.description.as_str());
    print_matches(&found, description, json)?;
    Ok(ExitCode::SUCCESS)
}

fn print_matches<'d>(
    found: &[ToolMatch],
    description: impl Fn(&str) -> &'d str,
    json: bool,
) -> Result<(), CliError> {
    if json {
        let found: Vec<Value> =
            found.iter().map(|found| json!({"name": &*found.name, "score": found.score})).collect();
        return output::print_json(&found);
    }
    if found.is_empty() {
        output::print_stderr("no tool matches; use other words, or `tools list` for all\n");
        return Ok(());
    }
    let width = found.iter().map(|found| found.name.chars().count()).max().unwrap_or_default();
    let lines = found.iter().map(|found| {
        let first = description(&found.name).lines().next().unwrap_or_default();
        let line = format!("{:6.2}  {:width$}  {first}", found.score, &*found.name);
        format!("{}\n", line.trim_end())
    });
    output::print_text(&lines.collect::<String>())
}
