//! [`Secret`]: text that cannot be printed by accident.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use zeroize::Zeroizing;

/// A value that is not printed, logged or serialised, and is wiped from memory when dropped.
///
/// # Examples
///
/// ```
/// # mod toolwright { pub use toolwright_config::*; }
/// use toolwright::Secret;
///
/// let key = Secret::new("hunter2");
/// assert_eq!(format!("{key:?}"), "Secret(***)");
/// assert_eq!(key.expose(), "hunter2");
/// ```
///
/// It can be read as part of typed settings, but never written:
///
/// ```compile_fail,E0277
/// # mod toolwright { pub use toolwright_config::*; }
/// serde_json::to_string(&toolwright::Secret::new("hunter2"));
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<Box<str>>);

/// The expected type in errors; an error with it never contains the value.
pub(super) const EXPECTED_SECRET: &str = "a secret as text";

impl Secret {
    /// Makes a secret of a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into().into_boxed_str()))
    }

    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecretVisitor;

        impl Visitor<'_> for SecretVisitor {
            type Value = Secret;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTED_SECRET)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Secret, E> {
                Ok(Secret::new(text))
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Secret, E> {
                Ok(Secret::new(text))
            }
        }

        deserializer.deserialize_string(SecretVisitor)
    }
}
