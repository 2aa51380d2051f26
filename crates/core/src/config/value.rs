//! One setting: a value, and where it came from.

use toolwright_schema::{looks_secret_name, looks_secret_value, redact};

use super::origin::Origin;
use super::secret::Secret;

/// What stands for anything secret.
const MASK: &str = "***";

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

impl Setting {
    /// Makes a setting of text that becomes a number, a list… when it is read as one.
    pub(super) fn loose(text: String, origin: Origin) -> Self {
        let value = Value::Loose(Secret::new(text));
        Self { value, origin }
    }
}

/// A value as its source wrote it; any text may be a secret, so all of it is kept as one.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Text from where everything is text.
    Loose(Secret),
    /// Text from where it could have been something else.
    Text(Secret),
    Bool(bool),
    Whole(i64),
    Number(f64),
    List(Vec<Value>),
    /// Only inside a list: elsewhere its entries are settings of their own.
    Table(Vec<(String, Value)>),
}

impl Value {
    /// Tells whether it counts as unset.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self, Self::Loose(text) | Self::Text(text) if text.expose().trim().is_empty())
    }

    /// Returns it as text without secrets; its name may give it away as one.
    pub(super) fn shown(&self, name: &str) -> String {
        if looks_secret_name(name) {
            return MASK.to_owned();
        }
        match self {
            Self::Loose(text) | Self::Text(text) => masked(text.expose()),
            other => other.literal(),
        }
    }

    /// Writes it as TOML would.
    fn literal(&self) -> String {
        match self {
            Self::Loose(text) | Self::Text(text) => format!("{:?}", masked(text.expose())),
            Self::Bool(yes) => yes.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => format!("{number:?}"),
            Self::List(items) => {
                let items: Vec<_> = items.iter().map(Self::literal).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Table(entries) => {
                let entries: Vec<_> = entries.iter().map(entry).collect();
                format!("{{ {} }}", entries.join(", "))
            }
        }
    }
}

fn entry((name, value): &(String, Value)) -> String {
    if looks_secret_name(name) {
        return format!("{name} = {MASK:?}");
    }
    format!("{name} = {}", value.literal())
}

fn masked(text: &str) -> String {
    if looks_secret_value(text) {
        return MASK.to_owned();
    }
    redact(text).into_owned()
}
