//! The settings of a project, and the parts that they select.

use std::path::PathBuf;

use toolwright_core::{Config, ConfigSources, InvokerBuilder};

use crate::error::AppError;

pub(crate) mod assistant;
pub(crate) mod cluster;
pub(crate) mod conversation_store;
pub(crate) mod data_dir;
pub(crate) mod journal_keep;
mod known_keys;
pub(crate) mod model_selection;
pub(crate) mod tool_embeddings;

/// Where the settings come from, beside the environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectSources {
    /// The settings file; default: `toolwright.toml` in the project directory, if it exists.
    pub config_file: Option<PathBuf>,
    /// The directory that tools work in; default: none, and the settings are those of the current directory.
    pub project_dir: Option<PathBuf>,
    /// Keys and values that override file and environment, each with the flag that they come from.
    pub flags: Vec<(String, String, String)>,
    /// Keys and values of the program itself, which everything overrides.
    pub defaults: Vec<(String, String)>,
}

/// The project directory and its settings.
#[derive(Clone)]
pub(crate) struct Project {
    config: Config,
    project_dir: Option<PathBuf>,
    /// What the settings warn of, such as a variable with an empty value.
    pub warnings: Vec<String>,
    /// The sections of the file and the variables that only tools can read.
    pub settings_of_tools: Vec<String>,
    data_folder: String,
}

impl Project {
    /// Loads the settings of the program of this name.
    ///
    /// # Errors
    ///
    /// When a file cannot be read, or a setting is unknown or invalid.
    pub(crate) fn load(app_name: &str, sources: ProjectSources) -> Result<Self, AppError> {
        let project_dir = match sources.project_dir {
            None => None,
            Some(directory) => Some(directory.canonicalize().map_err(|error| {
                AppError::usage(format!("--project-dir {}: {error}", directory.display()))
            })?),
        };
        let mut config_sources = ConfigSources::from_process().defaults(sources.defaults);
        config_sources = match (sources.config_file, &project_dir) {
            (Some(file), _) => config_sources.file(file),
            (None, Some(directory)) => config_sources.directory(directory),
            (None, None) => config_sources.directory("."),
        };
        for (key, value, flag) in sources.flags {
            config_sources = config_sources.flag(key, value, flag);
        }
        let loaded = Config::load(config_sources)?;
        let settings_of_tools = known_keys::reject_unknown(&loaded.config)?;
        Ok(Self {
            settings_of_tools,
            config: loaded.config,
            project_dir,
            warnings: loaded.warnings.iter().map(ToString::to_string).collect(),
            data_folder: data_dir::folder_name(app_name),
        })
    }

    /// The project directory, by default `.`.
    pub(crate) fn project_dir_or_current(&self) -> PathBuf {
        self.project_dir.clone().unwrap_or_else(|| ".".into())
    }

    /// The name of the program, as its folders have it.
    pub(crate) fn program_name(&self) -> &str {
        &self.data_folder
    }

    /// The settings.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The path of a file in the program's folder of the user's data directory; `None` if there is no such directory.
    pub(crate) fn data_file(&self, file: &str) -> Option<PathBuf> {
        data_dir::data_file(&self.data_folder, file)
    }

    /// Sets the settings and the project directory of an invoker.
    pub(crate) fn configure_invoker(&self, invoker: InvokerBuilder) -> InvokerBuilder {
        let invoker = invoker.config(self.config.clone());
        match &self.project_dir {
            Some(directory) => invoker.project_dir(directory),
            None => invoker,
        }
    }
}
