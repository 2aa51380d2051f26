//! The errors of tools, definitions, registries and invokers.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolwright_schema::SchemaError;

/// How a turn continues after a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The model should correct its call and try again; a turn limits the number of such attempts.
    Retry,
    /// The model reads the message and continues.
    Failed,
    /// The turn ends.
    Fatal,
}

/// Why a tool did not succeed.
///
/// Not an [`Error`] itself, so that `?` converts any error, including `String` and `anyhow::Error`.
///
/// # Examples
///
/// ```
/// use toolwright::ToolError;
///
/// fn parse(order: &str) -> Result<u32, ToolError> {
///     let number: u32 = order.parse()?;
///     if number == 0 {
///         return Err(ToolError::retry("order numbers start at 1"));
///     }
///     Ok(number)
/// }
/// assert_eq!(parse("x").unwrap_err().message(), "invalid digit found in string");
/// ```
#[derive(Clone)]
pub struct ToolError {
    kind: ErrorKind,
    message: String,
    cause: Option<Cause>,
}

/// An error kept for the host; the model never reads it.
pub(crate) type Cause = Arc<dyn Error + Send + Sync>;

impl ToolError {
    /// The model should correct its call and try again.
    pub fn retry(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Retry, message.into())
    }

    /// The model reads the message and continues.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message.into())
    }

    /// The turn ends.
    pub fn fatal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::with_cause(ErrorKind::Fatal, error.into())
    }

    fn new(kind: ErrorKind, message: String) -> Self {
        Self { kind, message, cause: None }
    }

    fn with_cause(kind: ErrorKind, error: Box<dyn Error + Send + Sync>) -> Self {
        Self { kind, message: error.to_string(), cause: Some(error.into()) }
    }

    /// Returns how the turn continues.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the message, before redaction.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn into_parts(self) -> (ErrorKind, String, Option<Cause>) {
        (self.kind, self.message, self.cause)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::with_cause(ErrorKind::Failed, error.into())
    }
}

/// Why a tool or prompt cannot be defined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DefineError {
    /// The name is not valid for every provider.
    #[error("`{name}` cannot be a name: use 1 to 64 letters, digits, `_` or `-`")]
    Name {
        /// The rejected name.
        name: String,
    },
    /// There is no description.
    #[error("tool `{tool}` has no description: say what it does and when to use it")]
    Description {
        /// The tool.
        tool: String,
    },
    /// A parameter cannot be part of the input schema.
    #[error("tool `{tool}`, parameter `{parameter}`: {message}")]
    Parameter {
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
        /// The problem, and what to write instead.
        message: String,
    },
    /// The input or output schema is not valid.
    #[error("tool `{tool}`, {part} schema")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        part: &'static str,
        /// The problem with the schema.
        source: SchemaError,
    },
    /// The input schema does not describe an object of arguments.
    #[error("tool `{tool}`: arguments must be an object, but the input schema allows {found}")]
    NotAnObject {
        /// The tool.
        tool: String,
        /// The types that the schema allows instead.
        found: String,
    },
}

impl DefineError {
    pub(crate) fn parameter(tool: impl ToString, parameter: &str, message: String) -> Self {
        Self::Parameter { tool: tool.to_string(), parameter: parameter.to_owned(), message }
    }
}

/// Why a registry rejects a change, or a view cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The definition of a tool is not valid.
    #[error(transparent)]
    Define(#[from] DefineError),
    /// Two tools or two prompts have the same name.
    #[error(
        "two {kind}s are named `{name}`: one of bundle `{first}`, one of bundle `{second}`; rename one or add a prefix"
    )]
    Duplicate {
        /// `tool` or `prompt`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The bundle that has the name already.
        first: String,
        /// The other bundle with the name.
        second: String,
    },
    /// A setting for a tool is not valid.
    #[error("{message}")]
    Setting {
        /// The setting, where it is set, and the problem with it.
        message: String,
    },
    /// A view binds a value that the parameter rejects.
    #[error("`{tool}`: cannot bind `{parameter}`: {message}")]
    Bind {
        /// The tool or prompt.
        tool: String,
        /// The bound parameter.
        parameter: String,
        /// Why the value is rejected.
        message: String,
    },
}

/// Why an invoker cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvokerError {
    /// The tools cannot be listed.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Approvals cannot be signed.
    #[error("no random numbers for a signing key: {message}; give one with `.approval_key(…)`")]
    NoRandomness {
        /// The operating system's error message.
        message: String,
    },
    /// A tool or prompt needs state or a setting that the invoker does not have.
    #[error("`{tool}` cannot run here: {message}")]
    MissingDependency {
        /// The tool or prompt.
        tool: String,
        /// What is missing and how to provide it.
        message: String,
    },
}
