//! [`IntoToolOutput`]: the return types of a builder's handler.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::Content;
use crate::call::result::ToolResult;
use crate::error::ToolError;
use crate::tool::encode::{Encode, Encoders, IntoToolError, Json, ToolOutput, Updates};

/// A return type of a builder's handler: those of a `#[tool]` function, encoded in the same way.
///
/// A type of your own is a `#[tool_type]`. Any other `Serialize` type, in itself, is returned as `Ok::<_, ToolError>(value)`:
/// it may be a `Result`, which `#[tool]` distinguishes from other types and the type of a closure cannot.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be what a builder's handler returns",
    label = "cannot be encoded for the model",
    note = "for a type of your own: write `#[toolwright::tool_type]` on `{Self}`",
    note = "for any other `Serialize` type: return `Ok::<_, toolwright::ToolError>(value)`"
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
        $(impl<$($generics)*> IntoToolOutput for $type
        where
            Self: Encode,
        {
            fn into_tool_output(self, encoders: &Encoders) -> Result<ToolOutput, ToolError> {
                self.encode(encoders)
            }
        })*
    };
}

impl_for_plain_values! {
    [] String, [] &'static str, [] Cow<'static, str>, [] Box<str>, [] Arc<str>, [] char, [] (), [] bool,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize, [] u8, [] u16, [] u32, [] u64, [] u128, [] usize,
    [] f32, [] f64, [] Value, [] Map<String, Value>, [] Content, [] ToolResult,
    [T] Option<T>, [T] Box<T>, [T] Arc<T>, [T] Vec<T>, [T, const N: usize] [T; N],
    [T] BTreeSet<T>, [K, V] BTreeMap<K, V>, [T, S] HashSet<T, S>, [K, V, S] HashMap<K, V, S>,
    [A, B] (A, B), [A, B, C] (A, B, C),
    [T] Json<T>, [S] Updates<S>,
}
