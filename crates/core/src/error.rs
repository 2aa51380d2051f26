//! What can go wrong: inside a tool, in its definition, in a registry, in an invoker.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolwright_schema::SchemaError;

/// What a failure asks of whoever runs the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// The model should mend its call and try again; such tries are counted.
    Retry,
    /// The model reads the message and goes on.
    Failed,
    /// The turn ends.
    Fatal,
}

/// Why a tool did not succeed.
///
/// It is deliberately not an [`Error`] itself, so that `?` turns any error, `String` and
/// `anyhow::Error` included, into one.
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
    /// The model should mend its call and try again.
    pub fn retry(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Retry, message.into())
    }

    /// The model reads the message and goes on.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Failed, message.into())
    }

    /// The turn ends.
    pub fn fatal(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::with_cause(ErrorKind::Fatal, error.into())
    }

    fn new(kind: ErrorKind, message: String) -> Self {
        Self {
            kind,
            message,
            cause: None,
        }
    }

    fn with_cause(kind: ErrorKind, error: Box<dyn Error + Send + Sync>) -> Self {
        Self {
            kind,
            message: error.to_string(),
            cause: Some(error.into()),
        }
    }

    /// Returns what the failure asks of the turn.
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

/// Why a tool cannot be defined as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DefineError {
    /// The name is not one that every provider takes.
    #[error("`{name}` cannot be a name: use 1 to 64 letters, digits, `_` or `-`")]
    Name {
        /// The name as given.
        name: String,
    },
    /// There is no description.
    #[error("tool `{tool}` has no description: say what it does and when to use it")]
    Description {
        /// The tool.
        tool: String,
    },
    /// A parameter cannot be published as asked.
    #[error("tool `{tool}`, parameter `{parameter}`: {message}")]
    Parameter {
        /// The tool.
        tool: String,
        /// The parameter.
        parameter: String,
        /// What is wrong and what to write instead.
        message: String,
    },
    /// The input or output schema is not valid.
    #[error("tool `{tool}`, {part} schema")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        part: &'static str,
        /// What is wrong with it.
        source: SchemaError,
    },
    /// The input schema does not describe an object of arguments.
    #[error("tool `{tool}`: arguments must be an object, but the input schema says {found}")]
    NotAnObject {
        /// The tool.
        tool: String,
        /// What the schema describes instead.
        found: String,
    },
}

/// Why a registry refuses a change, or a view cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// A tool is not well defined.
    #[error(transparent)]
    Define(#[from] DefineError),
    /// Two tools would have one name.
    #[error(
        "two tools are named `{name}`: one of bundle `{first}`, one of bundle `{second}`; rename one or add a prefix"
    )]
    Duplicate {
        /// The name.
        name: String,
        /// The bundle that has the name already.
        first: String,
        /// The bundle that asks for it too.
        second: String,
    },
    /// Two prompts would have one name.
    #[error(
        "two prompts are named `{name}`: one of bundle `{first}`, one of bundle `{second}`; rename one or add a prefix"
    )]
    DuplicatePrompt {
        /// The name.
        name: String,
        /// The bundle that has the name already.
        first: String,
        /// The bundle that asks for it too.
        second: String,
    },
    /// A setting for a tool cannot be followed.
    #[error("{message}")]
    Setting {
        /// Which one, where it is set, and what is wrong with it.
        message: String,
    },
    /// A view binds a value that a parameter cannot take.
    #[error("`{tool}`: cannot bind `{parameter}`: {message}")]
    Bind {
        /// The tool or prompt.
        tool: String,
        /// The bound parameter.
        parameter: String,
        /// Why the value does not fit.
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
    #[error("no random numbers for a signing key: {message}; give one with `.approvals(…)`")]
    NoRandomness {
        /// What the system says.
        message: String,
    },
    /// A tool or prompt asks for something that nobody provides.
    #[error("`{tool}` cannot run here: {message}")]
    MissingDependency {
        /// The tool or prompt.
        tool: String,
        /// What it needs and how to provide it.
        message: String,
    },
}
