//! [`DisplayedSetting`]: the settings as `toolwright config show` prints them.

use std::collections::HashSet;
use std::fmt;

use super::origin::Origin;
use super::value::Setting;
use super::{ENV_PREFIX, SettingsTable, env_var_name};

/// A setting with secrets masked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DisplayedSetting {
    /// The whole key.
    pub key: String,
    /// The value as text, with `***` for secrets.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
}

impl DisplayedSetting {
    fn new(key: String, setting: &Setting) -> Self {
        Self { value: setting.value.to_redacted_text(&key), origin: setting.origin.clone(), key }
    }
}

impl fmt::Display for DisplayedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.key, self.value, self.origin)
    }
}

pub(super) fn displayed_settings(settings: &SettingsTable, section: &str) -> Vec<DisplayedSetting> {
    let keyed = settings.iter_under(section);
    let keyed = keyed.map(|(key, setting)| DisplayedSetting::new(key.to_owned(), setting));
    let mut entries: Vec<_> = keyed.chain(unmatched_variables(settings, section)).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

/// Returns the variables without a key in the defaults, the file or the flags.
fn unmatched_variables(
    settings: &SettingsTable,
    section: &str,
) -> impl Iterator<Item = DisplayedSetting> {
    let keyed: HashSet<_> = settings.by_key.keys().map(|key| env_var_name(key)).collect();
    let prefix = match section {
        "" => ENV_PREFIX.to_owned(),
        section => env_var_name(section) + "_",
    };
    let unmatched = settings.variables.iter().filter(move |(variable, _)| {
        variable.starts_with(&prefix)
            && is_readable_variable(variable)
            && !keyed.contains(*variable)
    });
    unmatched.filter_map(|(variable, setting)| {
        let name = variable.strip_prefix(ENV_PREFIX)?;
        let key = name.to_ascii_lowercase().replace('_', ".");
        Some(DisplayedSetting::new(key, setting))
    })
}

/// Returns true if some key has this variable.
pub(super) fn is_readable_variable(variable: &str) -> bool {
    !variable.contains(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '-'))
}
