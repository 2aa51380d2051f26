//! [`Setting`]: a value and its origin.

use toolwright_schema::{looks_secret_value, redact};

use super::origin::Origin;
use super::secret::Secret;
use super::secret_key::is_secret_key;

/// Replaces secrets.
const MASK: &str = "***";

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) value: SettingValue,
    pub(super) origin: Origin,
}

impl Setting {
    /// Makes a setting of text that is converted to a number, a list… when it is read as one.
    pub(super) fn from_untyped_text(text: String, origin: Origin) -> Self {
        let value = SettingValue::UntypedText(Secret::new(text));
        Self { value, origin }
    }
}

/// The value of a source. Any text may be a secret, so all text is stored as one.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "toml"), expect(dead_code, reason = "only TOML has typed values"))]
pub(super) enum SettingValue {
    /// Text of a source without types, such as the environment.
    UntypedText(Secret),
    /// Text of a source with types: a string in TOML.
    Text(Secret),
    Bool(bool),
    Integer(i64),
    Float(f64),
    List(Vec<SettingValue>),
    /// Only inside a list: elsewhere the entries of a table are settings of their own.
    Table(Vec<(String, SettingValue)>),
}

impl SettingValue {
    /// Returns true for blank text, which counts as unset.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self, Self::UntypedText(text) | Self::Text(text) if text.expose().trim().is_empty())
    }

    /// Returns the value as text without secrets: nothing of it if the key names one, else without what looks like one.
    pub(super) fn to_redacted_text(&self, key: &str) -> String {
        if is_secret_key(key) {
            return MASK.to_owned();
        }
        match self {
            Self::UntypedText(text) | Self::Text(text) => mask_secrets(text.expose()),
            other => other.to_toml(),
        }
    }

    /// Returns true for a flag such as `--api-key`, whose value is the next item of a list of arguments.
    fn is_secret_flag(&self) -> bool {
        matches!(self, Self::Text(text) if text.expose().starts_with('-') && is_secret_key(text.expose()))
    }

    /// Returns the value in TOML syntax, without secrets.
    fn to_toml(&self) -> String {
        match self {
            Self::UntypedText(text) | Self::Text(text) => {
                format!("{:?}", mask_secrets(text.expose()))
            }
            Self::Bool(yes) => yes.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => format!("{number:?}"),
            Self::List(items) => {
                let before = std::iter::once(None).chain(items.iter().map(Some));
                let items = items.iter().zip(before).map(|(item, before)| match before {
                    Some(before) if before.is_secret_flag() => format!("{MASK:?}"),
                    _ => item.to_toml(),
                });
                format!("[{}]", items.collect::<Vec<_>>().join(", "))
            }
            Self::Table(entries) => {
                let entries: Vec<_> = entries.iter().map(entry_to_toml).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }
}

fn entry_to_toml((name, value): &(String, SettingValue)) -> String {
    if is_secret_key(name) {
        return format!("{name} = {MASK:?}");
    }
    format!("{name} = {}", value.to_toml())
}

fn mask_secrets(text: &str) -> String {
    if looks_secret_value(text) {
        return MASK.to_owned();
    }
    redact(text).into_owned()
}
