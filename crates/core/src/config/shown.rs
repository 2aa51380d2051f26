//! Settings in, what `toolwright config show` prints out.

use std::collections::HashSet;
use std::fmt;

use super::origin::Origin;
use super::value::Setting;
use super::{PREFIX, Settings, variable};

/// A setting as it may be shown to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shown {
    /// The whole key.
    pub key: String,
    /// The value as text, with `***` for what looks secret.
    pub value: String,
    /// Where the value came from.
    pub origin: Origin,
}

impl Shown {
    fn new(key: String, setting: &Setting) -> Self {
        Self {
            value: setting.value.shown(&key),
            origin: setting.origin.clone(),
            key,
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} ({})", self.key, self.value, self.origin)
    }
}

pub(super) fn entries(settings: &Settings, section: &str) -> Vec<Shown> {
    let named = settings.under(section);
    let named = named.map(|(key, setting)| Shown::new(key.to_owned(), setting));
    let mut entries: Vec<_> = named.chain(lone(settings, section)).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

/// The variables that belong to no named key.
fn lone(settings: &Settings, section: &str) -> impl Iterator<Item = Shown> {
    let named: HashSet<_> = settings.named.keys().map(|key| variable(key)).collect();
    let start = match section {
        "" => PREFIX.to_owned(),
        section => variable(section) + "_",
    };
    let lone = settings.variables.iter().filter(move |(variable, _)| {
        variable.starts_with(&start) && is_read(variable) && !named.contains(*variable)
    });
    lone.filter_map(|(variable, setting)| {
        let name = variable.strip_prefix(PREFIX)?;
        let key = name.to_ascii_lowercase().replace('_', ".");
        Some(Shown::new(key, setting))
    })
}

/// Tells whether there is a key that is looked up under this variable.
pub(super) fn is_read(variable: &str) -> bool {
    !variable.contains(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '-'))
}
