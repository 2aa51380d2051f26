//! The settings of a command, and `config show`.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use toolwright_core::{Config, ConfigSources, InvokerBuilder};

use crate::args::GlobalArgs;
use crate::cli_error::CliError;
use crate::terminal::output;

pub(crate) mod assistant;
pub(crate) mod conversation_store;
pub(crate) mod data_dir;
pub(crate) mod journal_keep;
mod known_keys;
pub(crate) mod model_selection;
pub(crate) mod prices;

/// The project directory and the settings that a command runs with.
pub(crate) struct ProjectConfig {
    config: Config,
    project_dir: Option<PathBuf>,
}

impl ProjectConfig {
    /// Loads the settings; warnings are printed to stderr.
    pub(crate) fn load(global: &GlobalArgs) -> Result<Self, CliError> {
        let project_dir = match &global.project_dir {
            None => None,
            Some(directory) => Some(directory.canonicalize().map_err(|error| {
                CliError::usage(format!("--project-dir {}: {error}", directory.display()))
            })?),
        };
        let mut sources = ConfigSources::from_process();
        sources = match (&global.config, &project_dir) {
            (Some(file), _) => sources.file(file),
            (None, Some(directory)) => sources.directory(directory),
            (None, None) => sources.directory("."),
        };
        for (key, value) in [("model", &global.model), ("store", &global.store)] {
            if let Some(value) = value {
                sources = sources.flag(key, value, format!("--{key}"));
            }
        }
        let loaded = Config::load(sources)?;
        known_keys::reject_unknown_keys(&loaded.config)?;
        for warning in &loaded.warnings {
            output::print_stderr(&format!("warning: {warning}\n"));
        }
        Ok(Self { config: loaded.config, project_dir })
    }

    /// The project directory, by default `.`.
    pub(crate) fn project_dir_or_current(&self) -> PathBuf {
        self.project_dir.clone().unwrap_or_else(|| ".".into())
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Sets the settings and the project directory of an invoker.
    pub(crate) fn configure_invoker(&self, invoker: InvokerBuilder) -> InvokerBuilder {
        let invoker = invoker.config(self.config.clone());
        match &self.project_dir {
            Some(directory) => invoker.project_dir(directory),
            None => invoker,
        }
    }

    /// Prints every setting. Fails if a group of settings (`WebSearchTool`, `MCP`, `journal`) is invalid.
    pub(crate) fn print_settings(&self, json: bool) -> Result<ExitCode, CliError> {
        self.config.web_search()?;
        self.config.mcp_servers()?;
        journal_keep::journal_keep(&self.config)?;
        let entries = self.config.entries();
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
}
