//! [`DeserializeError`]: the error of one value, converted to a [`ConfigError`] with its key.

use std::error::Error;
use std::fmt;

use serde::de::{self, Expected, Unexpected};
use toolwright_schema::{looks_secret_value, redact};

use super::KeyDeserializer;
use crate::error::ConfigError;
use crate::secret;
use crate::secret_key::is_secret_key;
use crate::value::SettingValue;

/// The maximum number of characters of a value in an error.
const MAX_SHOWN_CHARS: usize = 60;

#[derive(Debug)]
pub(super) enum DeserializeError {
    /// The key is not set.
    Missing,
    /// A field of the section is not set.
    MissingField(&'static str),
    /// The value has another type.
    Expected(String),
    /// An error of the type's `Deserialize`.
    Other(String),
    /// The error of a key below, which has its own location.
    Nested(Box<ConfigError>),
}

impl DeserializeError {
    pub(super) fn expected_one_of(names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        Self::Expected(format!("one of {}", names.join(", ")))
    }

    pub(super) fn into_config_error(self, location: &KeyDeserializer<'_>) -> ConfigError {
        let setting = location.setting();
        let key = &location.key;
        let is_secret = is_secret_key(key)
            || matches!(setting.map(|setting| &setting.value),
                Some(SettingValue::UntypedText(text) | SettingValue::Text(text)) if looks_secret_value(text.expose()));
        let problem = match self {
            Self::Nested(error) => return *error,
            Self::Missing => return location.settings.missing_error(key.clone()),
            Self::MissingField(field) if setting.is_none() => {
                return location.settings.missing_error(location.child(field).key);
            }
            Self::MissingField(field) => format!("expected `{field}` in it"),
            Self::Expected(what) if is_secret || what == secret::EXPECTED_SECRET => {
                format!("expected {what}, found something else")
            }
            Self::Expected(what) => match setting {
                Some(setting) => {
                    format!(
                        "expected {what}, found `{}`",
                        truncate(setting.value.to_redacted_text(key))
                    )
                }
                None => format!("expected {what}, found a section"),
            },
            Self::Other(_) if is_secret => "the value is not a valid one".to_owned(),
            Self::Other(problem) => redact(&problem).into_owned(),
        };
        ConfigError::Invalid { key: key.clone(), origin: location.origin(), problem }
    }
}

fn truncate(text: String) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Converts the `expecting` text of a Rust type to words for users.
fn describe_expected(expected: String) -> String {
    let range = |min: &dyn fmt::Display, max: &dyn fmt::Display| {
        format!("a whole number from {min} to {max}")
    };
    match expected.as_str() {
        "i8" => range(&i8::MIN, &i8::MAX),
        "i16" => range(&i16::MIN, &i16::MAX),
        "i32" => range(&i32::MIN, &i32::MAX),
        "u8" => range(&u8::MIN, &u8::MAX),
        "u16" => range(&u16::MIN, &u16::MAX),
        "u32" => range(&u32::MIN, &u32::MAX),
        "u64" | "u128" | "usize" => "a whole number that is not negative".to_owned(),
        "i64" | "i128" | "isize" => "a whole number".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a section".to_owned(),
        other if other.starts_with("struct ") => "a section".to_owned(),
        _ => expected,
    }
}

impl From<ConfigError> for DeserializeError {
    fn from(error: ConfigError) -> Self {
        Self::Nested(Box::new(error))
    }
}

impl de::Error for DeserializeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Expected(describe_expected(expected.to_string()))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Expected(describe_expected(expected.to_string()))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::Expected(describe_expected(expected.to_string()))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::expected_one_of(expected)
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        match expected {
            [] => Self::Other("nothing reads it: remove it".to_owned()),
            names => {
                Self::Other(format!("nothing reads it: the names here are {}", names.join(", ")))
            }
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::MissingField(field)
    }
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::MissingField(field) => write!(f, "expected `{field}` in it"),
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Other(problem) => f.write_str(problem),
            Self::Nested(error) => error.fmt(f),
        }
    }
}

impl Error for DeserializeError {}
