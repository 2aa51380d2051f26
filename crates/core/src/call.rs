//! [`ToolCall`]: the model's request to run one tool, as plain data.

use serde::{Deserialize, Serialize};

mod arguments;
mod call_id;
pub(crate) mod content;
pub(crate) mod context;
pub(crate) mod result;

pub use arguments::Arguments;
pub use call_id::CallId;

/// One request by the model to run one tool.
///
/// A call is plain data: holding one runs nothing. Hand it to [`Invoker::invoke`](crate::Invoker::invoke).
///
/// # Examples
///
/// ```
/// use toolwright::ToolCall;
///
/// let call = ToolCall::new("get_weather", r#"{"city": "Paris"}"#).with_id("call_7");
/// assert_eq!(call.name.as_str(), "get_weather");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolCall {
    /// Chosen by the model or its wire adapter; echoed in the result.
    pub id: CallId,
    /// The tool's name as the model sent it, perhaps not the name of any tool.
    pub name: ToolName,
    /// The arguments exactly as the model sent them, perhaps not even JSON.
    pub arguments: Arguments,
}

impl ToolCall {
    /// Makes a call with an id of its own, unique in this process.
    pub fn new(name: impl Into<ToolName>, arguments: impl Into<Arguments>) -> Self {
        Self { id: CallId::next(), name: name.into(), arguments: arguments.into() }
    }

    /// Replaces the id with the one the model chose.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<CallId>) -> Self {
        self.id = id.into();
        self
    }
}

/// Implements the traits that names, ids and arguments have in common, by their `as_str`.
macro_rules! text_traits {
    ($name:ident) => {
        impl From<&$name> for $name {
            fn from(name: &$name) -> Self {
                name.clone()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.as_str() == other.as_str()
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.as_str().cmp(other.as_str())
            }
        }

        impl std::hash::Hash for $name {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.as_str().hash(state);
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer).map(Self::from)
            }
        }
    };
}
pub(crate) use text_traits;

/// Declares a newtype over `Arc<str>`: ids and names of calls are cloned often.
macro_rules! shared_text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        // `None` is the empty text: a result that has no tool yet needs no allocation.
        #[derive(Clone)]
        pub struct $name(Option<std::sync::Arc<str>>);

        impl $name {
            /// A placeholder until the invoker fills in the real value.
            #[allow(dead_code, reason = "only results have a placeholder")]
            pub(crate) const EMPTY: Self = Self(None);

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                self.0.as_deref().unwrap_or_default()
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Some(text.into()))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Some(text.into()))
            }
        }

        $crate::call::text_traits!($name);
    };
}
pub(crate) use shared_text;

shared_text! {
    /// A tool's name as the model sees it.
    ///
    /// Any text is accepted here, because a model may send any text; defining a tool requires a name
    /// that [`ToolName::is_valid`] accepts.
    ToolName
}

impl ToolName {
    /// Returns true if every provider accepts the name: 1 to 64 ASCII letters, digits, `_` or `-`.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::ToolName;
    ///
    /// assert!(ToolName::is_valid("get_weather"));
    /// assert!(!ToolName::is_valid("get weather"));
    /// ```
    pub fn is_valid(name: &str) -> bool {
        (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }
}
