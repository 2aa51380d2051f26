//! `config show`, and the settings that every command runs under.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use toolwright_core::{Config, ConfigSources, InvokerBuilder};

use crate::args::GlobalArgs;
use crate::cli_error::CliError;
use crate::terminal::output;

pub(crate) mod conversation_store;
pub(crate) mod data_dir;
mod known_keys;
pub(crate) mod model_selection;
pub(crate) mod prices;

/// Where and under which settings a command runs.
pub(crate) struct ProjectConfig {
    config: Config,
    project_dir: Option<PathBuf>,
}

impl ProjectConfig {
    /// Reads the settings, telling stderr what is odd about them.
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
        let loaded = Config::load(sources).map_err(|error| CliError::from_error(&error))?;
        known_keys::reject_unknown_keys(&loaded.config)
            .map_err(|error| CliError::from_error(&error))?;
        for warning in &loaded.warnings {
            output::print_stderr(&format!("warning: {warning}\n"));
        }
        Ok(Self {
            config: loaded.config,
            project_dir,
        })
    }

    /// The project directory, or where we are.
    pub(crate) fn project_dir_or_current(&self) -> PathBuf {
        self.project_dir.clone().unwrap_or_else(|| ".".into())
    }

    /// The settings.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Sets an invoker up with them.
    pub(crate) fn configure_invoker(&self, invoker: InvokerBuilder) -> InvokerBuilder {
        let invoker = invoker.config(self.config.clone());
        match &self.project_dir {
            Some(directory) => invoker.project_dir(directory),
            None => invoker,
        }
    }

    /// Prints every setting; those that are read as groups are checked as such.
    pub(crate) fn print_settings(&self, json: bool) -> Result<ExitCode, CliError> {
        self.config
            .web_search()
            .map_err(|error| CliError::from_error(&error))?;
        self.config
            .mcp_servers()
            .map_err(|error| CliError::from_error(&error))?;
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
