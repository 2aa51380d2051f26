//! [`IntoToolOutput`]: the return types of a builder's handler.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Content;
use crate::call::result::ToolResult;
use crate::error::ToolError;
use crate::tool::encode::{Encode, Encoders, IntoToolError, Json, ToolOutput, Updates};

/// A return type of a builder's handler: a `Result`, or one of the common plain values.
///
/// `#[tool]` distinguishes a `Result` from a plain value, which a closure's type does not allow: any
/// other `Serialize` type is returned as `Ok::<_, ToolError>(value)` or as [`Json`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a builder's handler returns",
    label = "cannot be encoded for the model",
    note = "return `Ok::<_, toolwright::ToolError>(value)`, text, `Content`, `Json<T>`, or `ToolResult`"
)]
pub trait IntoToolOutput {
    /// Converts the value into a result.
    ///
    /// # Errors
    ///
    /// When the handler failed, or its value cannot be JSON.
    fn into_tool_output(self, encoders: &Encoders) -> Result<ToolOutput, ToolError>;
}

impl<T: Encode, E: IntoToolError> IntoToolOutput for Result<T, E> {
    fn into_tool_output(self, encoders: &Encoders) -> Result<ToolOutput, ToolError> {
        self.map_err(E::into_tool_error)?.encode(encoders)
    }
}

macro_rules! impl_for_plain_values {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {
        $(impl<$($generics)*> IntoToolOutput for $type {
            fn into_tool_output(self, encoders: &Encoders) -> Result<ToolOutput, ToolError> {
                self.encode(encoders)
            }
        })*
    };
}

impl_for_plain_values! {
    [] String, [] &'static str, [] (), [] bool, [] i32, [] i64, [] u32, [] u64, [] usize, [] f64,
    [] Value, [] Content, [] Vec<Content>, [] Vec<String>, [] ToolResult,
    [T: Serialize + JsonSchema] Json<T>,
    [S: futures::Stream<Item: Encode> + Send + 'static] Updates<S>,
}
