//! `tools search`: prints the tools that match a question.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_core::wire::{self, ToolDefinition};
use toolwright_core::{RegisteredTool, Snapshot};
use toolwright_search::{CatalogCache, ToolEmbeddings, ToolIndex};

use crate::cli::cli_error::CliError;
use crate::cli::terminal::input::read_file_or_stdin;
use crate::cli::terminal::output;

/// Searches the tools that are linked or attached, also by meaning if the settings name a model for that.
pub(super) async fn search_snapshot(
    snapshot: &Snapshot,
    embeddings: Option<&ToolEmbeddings>,
    question: &str,
    limit: u16,
    json: bool,
) -> Result<(), CliError> {
    let tools: Arc<[RegisteredTool]> = snapshot.iter().cloned().collect();
    let catalogs = CatalogCache::default();
    if let Some(embeddings) = embeddings {
        catalogs.embed(&tools, embeddings).await;
    }
    let found = catalogs.search(&tools, question, usize::from(limit), embeddings).await;
    let description = |name: &str| {
        let spec = snapshot.get(name).map(RegisteredTool::spec);
        spec.map_or("", |spec| spec.description.as_str())
    };
    let found: Vec<_> =
        found.iter().map(|(tool, score)| (tool.spec().name.as_str(), *score)).collect();
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
    let found: Vec<_> = found.iter().map(|found| (&*found.name, found.score)).collect();
    let description =
        |name: &str| definitions.get(name).map_or("", |definition| definition.description.as_str());
    print_matches(&found, description, json)?;
    Ok(ExitCode::SUCCESS)
}

fn print_matches<'d>(
    found: &[(&str, f32)],
    description: impl Fn(&str) -> &'d str,
    json: bool,
) -> Result<(), CliError> {
    if json {
        let found: Vec<Value> =
            found.iter().map(|(name, score)| json!({"name": name, "score": score})).collect();
        return output::print_json(&found);
    }
    if found.is_empty() {
        output::print_stderr("no tool matches; use other words, or `tools list` for all\n");
        return Ok(());
    }
    let width = found.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let lines = found.iter().map(|(name, score)| {
        let first = description(name).lines().next().unwrap_or_default();
        let line = format!("{score:6.2}  {name:width$}  {first}");
        format!("{}\n", line.trim_end())
    });
    output::print_text(&lines.collect::<String>())
}
