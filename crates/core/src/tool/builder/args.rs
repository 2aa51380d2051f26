//! [`Args`]: the arguments that a builder's handler receives by default.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::ToolError;

/// The arguments of a call, by name.
///
/// # Examples
///
/// ```
/// use toolwright::Args;
///
/// let args: Args = serde_json::from_str(r#"{"width": 2.5}"#).unwrap();
/// assert_eq!(args.get::<f64>("width").unwrap(), 2.5);
/// assert_eq!(args.get::<Option<f64>>("height").unwrap(), None);
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Args(Map<String, Value>);

impl Args {
    /// Reads the argument `name` as a `T`; one that was not sent reads as `null`.
    ///
    /// # Errors
    ///
    /// When it is not a `T`.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<T, ToolError> {
        let value = self.0.get(name).unwrap_or(&Value::Null);
        T::deserialize(value).map_err(|error| ToolError::retry(format!("/{name}: {error}")))
    }

    /// Returns all arguments.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Converts into the map of all arguments.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }
}
