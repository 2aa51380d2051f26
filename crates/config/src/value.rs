//! [`Setting`]: a value and its origin.

use toolwright_schema::{looks_secret_name, looks_secret_value, redact};

use super::origin::Origin;
use super::secret::Secret;

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

    /// Returns the value as text without secrets; a secret is recognised by its name or its form.
    pub(super) fn to_redacted_text(&self, name: &str) -> String {
        if looks_secret_name(name) {
            return MASK.to_owned();
        }
        match self {
            Self::UntypedText(text) | Self::Text(text) => mask_secrets(text.expose()),
            other => other.to_toml(),
        }
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
                let items: Vec<_> = items.iter().map(Self::to_toml).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(entries) => {
                let entries: Vec<_> = entries.iter().map(entry_to_toml).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }
}

fn entry_to_toml((name, value): &(String, SettingValue)) -> String {
    if looks_secret_name(name) {
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
