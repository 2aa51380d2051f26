//! Settings in, what `toolwright config show` prints out.

use std::collections::HashSet;
use std::fmt;

use super::origin::Origin;
use super::value::Setting;
use super::{ENV_PREFIX, SettingsTable, env_var_name};

/// A setting as it may be shown to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DisplayedSetting {
    /// The whole key.
    pub key: String,
    /// The value as text, with `***` for what looks secret.
    pub value: String,
    /// Where the value came from.
    pub origin: Origin,
}

impl DisplayedSetting {
    fn new(key: String, setting: &Setting) -> Self {
        Self {
            value: setting.value.to_redacted_text(&key),
            origin: setting.origin.clone(),
            key,
        }
    }
}

impl fmt::Display for DisplayedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.key, self.value, self.origin)
    }
}

pub(super) fn displayed_settings(settings: &SettingsTable, section: &str) -> Vec<DisplayedSetting> {
    let named = settings.iter_under(section);
    let named = named.map(|(key, setting)| DisplayedSetting::new(key.to_owned(), setting));
    let mut entries: Vec<_> = named
        .chain(unmatched_variables(settings, section))
        .collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

/// The variables that belong to no named key.
fn unmatched_variables(
    settings: &SettingsTable,
    section: &str,
) -> impl Iterator<Item = DisplayedSetting> {
    let named: HashSet<_> = settings
        .by_key
        .keys()
        .map(|key| env_var_name(key))
        .collect();
    let start = match section {
        "" => ENV_PREFIX.to_owned(),
        section => env_var_name(section) + "_",
    };
    let lone = settings.variables.iter().filter(move |(variable, _)| {
        variable.starts_with(&start) && is_readable_variable(variable) && !named.contains(*variable)
    });
    lone.filter_map(|(variable, setting)| {
        let name = variable.strip_prefix(ENV_PREFIX)?;
        let key = name.to_ascii_lowercase().replace('_', ".");
        Some(DisplayedSetting::new(key, setting))
    })
}

/// Tells whether there is a key that is looked up under this variable.
pub(super) fn is_readable_variable(variable: &str) -> bool {
    !variable.contains(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '-'))
}
