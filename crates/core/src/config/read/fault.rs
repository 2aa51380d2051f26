//! Why a value cannot be read, first without and then with its place.

use std::error::Error;
use std::fmt;

use serde::de::{self, Expected, Unexpected};
use toolwright_schema::{looks_secret_name, looks_secret_value, redact};

use super::Place;
use crate::config::error::ConfigError;
use crate::config::secret;
use crate::config::value::Value;

/// How much of a value an error shows.
const SHOWN: usize = 60;

#[derive(Debug)]
pub(super) enum Fault {
    /// Nothing is set there.
    Absent,
    /// A field is not set.
    Lacks(&'static str),
    /// Something else is set.
    Expected(String),
    /// The type has an objection of its own.
    Other(String),
    /// It lies deeper, and was placed there.
    Placed(Box<ConfigError>),
}

impl Fault {
    pub(super) fn one_of(names: &[&str]) -> Self {
        let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
        Self::Expected(format!("one of {}", names.join(", ")))
    }

    pub(super) fn at(self, place: &Place<'_>) -> ConfigError {
        let setting = place.setting();
        let key = &place.key;
        let is_secret = looks_secret_name(key)
            || matches!(setting.map(|setting| &setting.value),
                Some(Value::Loose(text) | Value::Text(text)) if looks_secret_value(text.expose()));
        let problem = match self {
            Self::Placed(error) => return *error,
            Self::Absent => return place.settings.missing(key.clone()),
            Self::Lacks(field) if setting.is_none() => {
                return place.settings.missing(place.below(field).key);
            }
            Self::Lacks(field) => format!("expected `{field}` in it"),
            Self::Expected(what) if is_secret || what == secret::EXPECTED => {
                format!("expected {what}, found something else")
            }
            Self::Expected(what) => match setting {
                Some(setting) => {
                    format!(
                        "expected {what}, found `{}`",
                        short(setting.value.shown(key))
                    )
                }
                None => format!("expected {what}, found a section"),
            },
            Self::Other(_) if is_secret => "the value is not a valid one".to_owned(),
            Self::Other(problem) => redact(&problem).into_owned(),
        };
        ConfigError::Wrong {
            key: key.clone(),
            origin: place.origin(),
            problem,
        }
    }
}

fn short(text: String) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Says in the user's words what a type's visitor says in Rust's.
fn plainly(expected: String) -> String {
    let range = |least: &dyn fmt::Display, most: &dyn fmt::Display| {
        format!("a whole number from {least} to {most}")
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

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        Self::Placed(Box::new(error))
    }
}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Other(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Expected(plainly(expected.to_string()))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Expected(plainly(expected.to_string()))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::Expected(plainly(expected.to_string()))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::one_of(expected)
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        match expected {
            [] => Self::Other("nothing reads it: remove it".to_owned()),
            names => Self::Other(format!(
                "nothing reads it: the names here are {}",
                names.join(", ")
            )),
        }
    }

    fn missing_field(field: &'static str) -> Self {
        Self::Lacks(field)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("missing"),
            Self::Lacks(field) => write!(f, "expected `{field}` in it"),
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::Other(problem) => f.write_str(problem),
            Self::Placed(error) => error.fmt(f),
        }
    }
}

impl Error for Fault {}
