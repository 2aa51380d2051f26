//! [`Settings`]: values from defaults < file < environment < flags, each with its origin.
//!
//! Untyped text is converted when it is read, because only the reader knows the type.

#![cfg_attr(docsrs, feature(doc_cfg))]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolwright_schema::{is_misspelling, nearest};

mod deserialize;
mod display;
mod error;
mod file;
mod hosted_tools;
mod origin;
mod secret;
mod secret_key;
mod sources;
mod value;

pub use display::DisplayedSetting;
pub use error::ConfigError;
pub use hosted_tools::{McpAttachMode, McpServerConfig, WebSearchConfig};
pub use origin::Origin;
pub use secret::Secret;
pub use sources::ConfigSources;

use value::{Setting, SettingValue};

/// The prefix of all environment variables that are settings.
const ENV_PREFIX: &str = "TOOLWRIGHT_";

/// The settings of a program, by dotted keys; cheap to clone.
///
/// The variable of a key is `TOOLWRIGHT_` and the key in upper case, with `_` for every `.` and `-`: `server.port` is
/// `TOOLWRIGHT_SERVER_PORT`. A blank value of any source counts as unset: a lower source then applies.
///
/// # Examples
///
/// ```
/// # mod toolwright { pub use toolwright_config::*; }
/// use toolwright::ConfigSources;
///
/// let environment = [("TOOLWRIGHT_SERVER_PORT".to_owned(), "9000".to_owned())];
/// let sources = ConfigSources::new()
///     .defaults([("server.port", "8080"), ("server.host", "localhost")])
///     .environment(environment)
///     .flag("model", "demo", "--model");
/// let (settings, _) = sources.load()?;
///
/// assert_eq!(settings.get::<u16>("server.port")?, 9000);
/// assert_eq!(settings.get_or("server.threads", 4)?, 4);
///
/// let shown: Vec<_> = settings.entries().iter().map(|entry| entry.to_string()).collect();
/// assert_eq!(shown, [
///     "model = demo (--model)",
///     "server.host = localhost (default)",
///     "server.port = 9000 (TOOLWRIGHT_SERVER_PORT)",
/// ]);
/// # Ok::<(), toolwright::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Settings {
    table: Arc<SettingsTable>,
    /// The section that keys are relative to; empty for the root.
    section: Arc<str>,
}

#[derive(Default)]
struct SettingsTable {
    /// The effective value of every key in the defaults, the file or the flags.
    by_key: BTreeMap<String, Setting>,
    /// All environment variables.
    variables: HashMap<String, Setting>,
    file: Option<PathBuf>,
}

impl Settings {
    /// Reads a setting.
    ///
    /// Text from the environment, flags, defaults and properties is converted to `T`: a number, a bool (`true`,
    /// `yes`, `on`, `1` and their opposites), a list (comma separated) or a variant of an enum. A struct is read
    /// from the keys below this one, field by field; the empty key is the root.
    ///
    /// # Errors
    ///
    /// When it is missing, or cannot be read as a `T`.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod toolwright { pub use toolwright_config::*; }
    /// use toolwright::{ConfigSources, Secret};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Mail {
    ///     host: String,
    ///     to: Vec<String>,
    ///     password: Secret,
    /// }
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("mail.host", "localhost"),
    ///     ("mail.to", "ada@example.org, bob@example.org"),
    ///     ("mail.password", "hunter2"),
    /// ]);
    /// let (settings, _) = sources.load()?;
    /// let mail: Mail = settings.get("mail")?;
    /// assert_eq!(mail.to, ["ada@example.org", "bob@example.org"]);
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Result<T, ConfigError> {
        deserialize::deserialize(&self.table, self.full_key(key))
    }

    /// Reads a setting that may be missing.
    ///
    /// # Errors
    ///
    /// When it cannot be read as a `T`.
    pub fn get_optional<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ConfigError> {
        match self.get(key) {
            Ok(value) => Ok(Some(value)),
            Err(ConfigError::Missing { key: missing, .. }) if missing == self.full_key(key) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a setting; returns `default` if it is missing.
    ///
    /// # Errors
    ///
    /// When it is set, but cannot be read as a `T`.
    pub fn get_or<T: DeserializeOwned>(&self, key: &str, default: T) -> Result<T, ConfigError> {
        Ok(self.get_optional(key)?.unwrap_or(default))
    }

    /// Reads a secret setting that may be missing.
    ///
    /// # Errors
    ///
    /// When it is not text; the error does not contain the value.
    pub fn secret(&self, key: &str) -> Result<Option<Secret>, ConfigError> {
        self.get_optional(key)
    }

    /// Returns an environment variable with a name of another program, such as `OPENAI_API_KEY`, unless it is blank.
    pub fn env_var(&self, name: &str) -> Option<Secret> {
        match &self.table.variables.get(name)?.value {
            SettingValue::UntypedText(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns the environment variable that sets a key.
    pub fn variable_name(&self, key: &str) -> String {
        env_var_name(&self.full_key(key))
    }

    /// Returns the environment variables that may be settings below a key, in order; for the empty key all of them.
    pub fn variables_under(&self, key: &str) -> Vec<&str> {
        let prefix = match self.full_key(key).as_str() {
            "" => ENV_PREFIX.to_owned(),
            key => env_var_name(key) + "_",
        };
        let names = self.table.variables.keys().map(String::as_str);
        let mut names: Vec<&str> = names.filter(|name| name.starts_with(&prefix)).collect();
        names.sort_unstable();
        names
    }

    /// Returns the environment variables whose first word is nearly the prefix of settings, and therefore set nothing.
    pub fn variables_with_misspelt_prefix(&self) -> Vec<&str> {
        let is_misspelt = |name: &&str| {
            let prefix = name.split('_').next().unwrap_or_default();
            is_misspelling(prefix, ENV_PREFIX.trim_end_matches('_'))
        };
        let names = self.table.variables.keys().map(String::as_str);
        let mut names: Vec<&str> = names.filter(is_misspelt).collect();
        names.sort_unstable();
        names
    }

    /// Returns the origin of a setting, if it is set.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let setting = self.table.get(&self.full_key(key))?;
        Some(&setting.origin)
    }

    /// Returns the config file that was read, if one was.
    pub fn file(&self) -> Option<&Path> {
        self.table.file.as_deref()
    }

    /// Returns the settings below a key; their keys are relative to it.
    #[must_use]
    pub fn section(&self, key: &str) -> Self {
        Self { table: Arc::clone(&self.table), section: self.full_key(key).into() }
    }

    /// Returns the keys below a key, in order.
    ///
    /// A key that only the environment sets is not included: its dots are not known from the variable's name.
    pub fn keys_under(&self, key: &str) -> Vec<&str> {
        let prefix_len = match &*self.section {
            "" => 0,
            section => section.len() + 1,
        };
        let keys = self.table.iter_under(&self.full_key(key));
        keys.filter_map(|(key, _)| key.get(prefix_len..)).collect()
    }

    /// Returns true if a key below this one is set, or a variable of the environment that may be the one of such a key.
    pub fn has_any_under(&self, key: &str) -> bool {
        !self.variables_under(key).is_empty()
            || self.table.iter_under(&self.full_key(key)).next().is_some()
    }

    /// Rejects keys below `key` that do not start with one of the `known` names: a misspelt setting has no effect.
    ///
    /// # Errors
    ///
    /// For the first such key, with its origin and the most similar known name.
    ///
    /// # Examples
    ///
    /// ```
    /// # mod toolwright { pub use toolwright_config::*; }
    /// use toolwright::ConfigSources;
    ///
    /// let sources = ConfigSources::new().defaults([("mail.hots", "localhost")]);
    /// let (settings, _) = sources.load()?;
    /// let error = settings.reject_unknown("mail", &["host", "to"]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "setting `mail.hots` (default): there is no such setting; did you mean `host`?"
    /// );
    /// # Ok::<(), toolwright::ConfigError>(())
    /// ```
    pub fn reject_unknown(&self, key: &str, known: &[&str]) -> Result<(), ConfigError> {
        let section = self.section(key);
        for below in section.keys_under("") {
            let name = below.split('.').next().unwrap_or(below);
            if known.contains(&name) {
                continue;
            }
            let hint = match nearest(name, known.iter().copied(), 1).first() {
                Some(suggestion) => format!("did you mean `{suggestion}`?"),
                None => format!("there are {}", known.join(", ")),
            };
            return Err(ConfigError::Invalid {
                key: section.full_key(below),
                origin: section.origin(below).cloned().unwrap_or(Origin::Default),
                problem: format!("there is no such setting; {hint}"),
            });
        }
        Ok(())
    }

    /// Returns the existing groups of a name (`MCP`, `MCP_1`, `MCP_2`…), in the order of their numbers.
    pub fn numbered_groups(&self, name: &str) -> Vec<String> {
        let keys = self.keys_under("").into_iter();
        let in_keys = keys.filter_map(|key| parse_group_number(key.strip_prefix(name)?, '.'));
        let prefix = env_var_name(&self.full_key(name));
        let variables = self.table.variables.keys();
        let in_variables = variables
            .filter_map(|variable| parse_group_number(variable.strip_prefix(&prefix)?, '_'));
        let groups: BTreeSet<_> = in_keys.chain(in_variables).collect();
        groups.into_iter().map(|(_, suffix)| format!("{name}{suffix}")).collect()
    }

    /// Returns every setting with secrets masked, in the order of the keys.
    ///
    /// The value of a key that names a secret is `***`, and so is what looks like one inside any other value. A variable without a key in the defaults, the file
    /// or the flags is listed under a key that reads it: its name in lower case, with `.` for every `_`.
    pub fn entries(&self) -> Vec<DisplayedSetting> {
        display::displayed_settings(&self.table, &self.section)
    }

    fn full_key(&self, key: &str) -> String {
        join_key(&self.section, key)
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries();
        let origins = entries.iter().map(|entry| (&entry.key, &entry.origin));
        f.debug_map().entries(origins).finish()
    }
}

impl SettingsTable {
    fn get(&self, key: &str) -> Option<&Setting> {
        let setting = self.by_key.get(key);
        setting.or_else(|| self.variables.get(&env_var_name(key)))
    }

    fn iter_under<'s>(
        &'s self,
        key: &str,
    ) -> impl Iterator<Item = (&'s str, &'s Setting)> + use<'s> {
        let start = match key {
            "" => String::new(),
            key => format!("{key}."),
        };
        self.by_key
            .range(start.clone()..)
            .take_while(move |(key, _)| key.starts_with(&start))
            .map(|(key, setting)| (key.as_str(), setting))
    }

    fn missing_error(&self, key: String) -> ConfigError {
        let name = self.file.as_deref().and_then(Path::file_name);
        let file = name.unwrap_or(file::TOML_FILE_NAME.as_ref());
        ConfigError::Missing {
            file: file.to_string_lossy().into_owned(),
            variable: env_var_name(&key),
            key,
        }
    }
}

fn join_key(parent: &str, child: &str) -> String {
    match (parent, child) {
        ("", key) | (key, "") => key.to_owned(),
        (parent, child) => format!("{parent}.{child}"),
    }
}

fn env_var_name(key: &str) -> String {
    let name = key.chars().map(|c| match c {
        '.' | '-' => '_',
        other => other.to_ascii_uppercase(),
    });
    ENV_PREFIX.chars().chain(name).collect()
}

/// Parses the rest of a key after a group's name, `.url` or `_12.url`, into the number and its text.
fn parse_group_number(rest: &str, separator: char) -> Option<(Option<u64>, String)> {
    let numbered = rest.strip_prefix('_').and_then(|rest| {
        let (digits, _) = rest.split_once(separator)?;
        let is_number = digits.bytes().all(|b| b.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| is_number)?;
        Some((Some(number), format!("_{digits}")))
    });
    numbered.or_else(|| rest.starts_with(separator).then(|| (None, String::new())))
}

#[cfg(test)]
mod tests;
