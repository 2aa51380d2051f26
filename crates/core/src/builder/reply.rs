//! What a handler returns in, a result out.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Content;
use crate::encode::{Encode, Encoded, Encoders, IntoToolError, Json, Updates};
use crate::error::ToolError;
use crate::result::ToolResult;

/// What a builder's handler may return: a `Result`, or one of the common plain values.
///
/// A closure's type cannot be told apart as a function's can, so any other `Serialize` type is
/// returned as `Ok::<_, ToolError>(value)` or as [`Json`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a builder's handler returns",
    label = "cannot be encoded for the model",
    note = "return `Ok::<_, toolwright::ToolError>(value)`, text, `Content`, `Json<T>`, or `ToolResult`"
)]
pub trait Reply {
    /// Turns the value into a result.
    ///
    /// # Errors
    ///
    /// When the handler failed, or its value cannot be JSON.
    fn reply(self, encoders: &Encoders) -> Result<Encoded, ToolError>;
}

impl<T: Encode, E: IntoToolError> Reply for Result<T, E> {
    fn reply(self, encoders: &Encoders) -> Result<Encoded, ToolError> {
        self.map_err(E::into_tool_error)?.encode(encoders)
    }
}

macro_rules! plain_replies {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {
        $(impl<$($generics)*> Reply for $type {
            fn reply(self, encoders: &Encoders) -> Result<Encoded, ToolError> {
                self.encode(encoders)
            }
        })*
    };
}

plain_replies! {
    [] String, [] &'static str, [] (), [] bool, [] i32, [] i64, [] u32, [] u64, [] usize, [] f64,
    [] Value, [] Content, [] Vec<Content>, [] Vec<String>, [] ToolResult,
    [T: Serialize + JsonSchema] Json<T>,
    [S: futures::Stream<Item: Encode> + Send + 'static] Updates<S>,
}
