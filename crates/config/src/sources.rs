//! [`ConfigSources`]: the sources of settings, which are merged to [`Settings`].

use std::collections::{BTreeMap, HashMap};
use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use super::display::is_readable_variable;
use super::error::ConfigError;
use super::file::ConfigFile;
use super::origin::Origin;
use super::value::Setting;
use super::{ENV_PREFIX, Settings, SettingsTable, env_var_name};

/// The sources of settings; the order of the calls does not matter.
///
/// # Examples
///
/// ```
/// # mod toolwright { pub use toolwright_config::*; }
/// use toolwright::ConfigSources;
///
/// let sources = ConfigSources::from_process().directory(".").flag("model", "demo", "--model");
/// let (settings, warnings) = sources.load()?;
/// for warning in &warnings {
///     eprintln!("warning: {warning}");
/// }
/// assert_eq!(settings.get::<String>("model")?, "demo");
/// # Ok::<(), toolwright::ConfigError>(())
/// ```
#[derive(Default)]
pub struct ConfigSources {
    defaults: Vec<(String, Setting)>,
    directory: Option<PathBuf>,
    file: Option<PathBuf>,
    variables: HashMap<String, Setting>,
    flags: Vec<(String, Setting)>,
}

impl ConfigSources {
    /// Makes an empty list of sources.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a list with the environment of this process.
    pub fn from_process() -> Self {
        Self::new().environment(env::vars_os().map(|(name, value)| {
            let name = name.to_string_lossy().into_owned();
            (name, value.to_string_lossy().into_owned())
        }))
    }

    /// Adds values that apply if no other source sets the key.
    #[must_use]
    pub fn defaults<K: Into<String>, V: Into<String>>(
        mut self,
        defaults: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let defaults = defaults.into_iter();
        self.defaults.extend(defaults.map(|(key, value)| {
            (key.into(), Setting::from_untyped_text(value.into(), Origin::Default))
        }));
        self
    }

    /// Sets the project's directory, in which `toolwright.toml`, else `toolwright.properties` is the file.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the file, which has to exist, instead of one in the project's directory.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// Adds environment variables.
    #[must_use]
    pub fn environment(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        for (variable, text) in variables {
            let origin = Origin::Environment { variable: variable.clone() };
            let setting = Setting::from_untyped_text(text, origin);
            self.variables.insert(variable, setting);
        }
        self
    }

    /// Adds a setting from the command line, given with the flag `name`.
    #[must_use]
    pub fn flag(
        mut self,
        key: impl Into<String>,
        value: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        let origin = Origin::Flag { name: name.into() };
        let setting = Setting::from_untyped_text(value.into(), origin);
        self.flags.push((key.into(), setting));
        self
    }

    /// Merges the sources: defaults < file < environment < flags.
    ///
    /// Returns the settings, and sentences about those that have no effect.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or is not well-formed, or the requested one does not exist.
    pub fn load(self) -> Result<(Settings, Vec<String>), ConfigError> {
        let file = match (&self.file, &self.directory) {
            (Some(path), _) => Some(ConfigFile::read_path(path)?),
            (None, Some(directory)) => ConfigFile::find_in(directory)?,
            (None, None) => None,
        };
        let (path, in_file, mut warnings) = match file {
            Some(file) => (Some(file.path), file.settings, file.warnings),
            None => Default::default(),
        };
        let mut variables = self.variables;
        variables.retain(|_, setting| !setting.value.is_blank());
        warnings.extend(unreadable_variable_warnings(&variables));

        let mut by_key = BTreeMap::new();
        by_key.extend(skip_blank(self.defaults));
        by_key.extend(skip_blank(in_file));
        for (key, setting) in &mut by_key {
            if let Some(variable) = variables.get(&env_var_name(key)) {
                *setting = variable.clone();
            }
        }
        by_key.extend(skip_blank(self.flags));
        let table = Arc::new(SettingsTable { by_key, variables, file: path });
        Ok((Settings { table, section: Arc::default() }, warnings))
    }
}

fn skip_blank(
    settings: impl IntoIterator<Item = (String, Setting)>,
) -> impl Iterator<Item = (String, Setting)> {
    let settings = settings.into_iter();
    settings.filter(|(_, setting)| !setting.value.is_blank())
}

fn unreadable_variable_warnings(variables: &HashMap<String, Setting>) -> Vec<String> {
    let settings = variables.keys().filter(|name| name.starts_with(ENV_PREFIX));
    let mut unread: Vec<_> = settings.filter(|name| !is_readable_variable(name)).collect();
    unread.sort();
    let warn = |name: &String| {
        let correct = env_var_name(name.strip_prefix(ENV_PREFIX).unwrap_or_default());
        format!("the variable {name} is never read: write {correct}")
    };
    unread.into_iter().map(warn).collect()
}
