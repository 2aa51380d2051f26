//! One setting: a value, and where it came from.

use toolwright_schema::{looks_secret_name, looks_secret_value, redact};

use super::origin::Origin;
use super::secret::Secret;

/// What stands for anything secret.
const MASK: &str = "***";

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) value: SettingValue,
    pub(super) origin: Origin,
}

impl Setting {
    /// Makes a setting of text that becomes a number, a list… when it is read as one.
    pub(super) fn from_untyped_text(text: String, origin: Origin) -> Self {
        let value = SettingValue::UntypedText(Secret::new(text));
        Self { value, origin }
    }
}

/// A value as its source wrote it; any text may be a secret, so all of it is kept as one.
#[derive(Clone, Debug)]
pub(super) enum SettingValue {
    /// Text from where everything is text.
    UntypedText(Secret),
    /// Text from where it could have been something else.
    Text(Secret),
    Bool(bool),
    Integer(i64),
    Float(f64),
    List(Vec<SettingValue>),
    /// Only inside a list: elsewhere its entries are settings of their own.
    Table(Vec<(String, SettingValue)>),
}

impl SettingValue {
    /// Tells whether it counts as unset.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self, Self::UntypedText(text) | Self::Text(text) if text.expose().trim().is_empty())
    }

    /// Returns it as text without secrets; its name may give it away as one.
    pub(super) fn to_redacted_text(&self, name: &str) -> String {
        if looks_secret_name(name) {
            return MASK.to_owned();
        }
        match self {
            Self::UntypedText(text) | Self::Text(text) => mask_secrets(text.expose()),
            other => other.to_toml(),
        }
    }

    /// Writes it as TOML would.
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
