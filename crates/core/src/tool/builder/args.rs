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
/// use toolwright::{Args, HandlerContext, Tool, ToolError};
///
/// fn area(args: Args, _: HandlerContext) -> Result<f64, ToolError> {
///     let height: Option<f64> = args.get("height")?;
///     Ok(args.get::<f64>("width")? * height.unwrap_or(1.0))
/// }
///
/// let tool = Tool::builder("area", "Area of a rectangle.")
///     .param::<f64>("width", "In metres.")
///     .param::<Option<f64>>("height", "In metres, else 1.")
///     .run(area)?;
/// # Ok::<(), toolwright::DefineError>(())
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
