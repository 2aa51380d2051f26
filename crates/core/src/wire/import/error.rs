//! Why an entry, or a whole text, gave no definition.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// An entry of a text that gave no definition, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectedDefinition {
    /// Which entry of the text it is, counted from 0.
    pub index: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The line it stands on, counted from 1, where the text is JSON Lines.
    pub line: Option<usize>,
    /// The JSON pointer of the guilty part in the text, or in its line.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
    /// Whether it is a tool that the API itself hosts: nothing is wrong with it, but there is nothing to define.
    pub hosted: bool,
}

impl fmt::Display for RejectedDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.pointer.as_str()) {
            (Some(line), "") => write!(f, "line {line}: ")?,
            (Some(line), pointer) => write!(f, "line {line}, {pointer}: ")?,
            (None, "") => {}
            (None, pointer) => write!(f, "{pointer}: ")?,
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for RejectedDefinition {}

/// Why a whole text could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The text is too long; it was not looked at.
    #[error("{bytes} bytes of tool definitions where at most {limit} are read")]
    TooLong {
        /// How long the text is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The text has too many entries.
    #[error("more than {limit} entries, which is as many as are read")]
    TooManyEntries {
        /// How many it may have.
        limit: usize,
    },
    /// The text is neither JSON nor JSON Lines.
    #[error("not JSON: {message} at line {line} column {column}")]
    Syntax {
        /// What is wrong, without the position.
        message: String,
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
    },
    /// The text is JSON, but holds nothing that looks like a tool definition.
    #[error(
        "no tool definitions found; accepted are one definition, a list of them, an object with `tools`, `result.tools`, \
         `functions`, `function`, `functionDeclarations` or `toolConfig.tools`, and JSON Lines of these, each definition in \
         the form of OpenAI, Anthropic, Gemini, Ollama, Bedrock or MCP"
    )]
    UnknownFormat,
}

/// Why an entry is refused; the pointer starts at the entry.
pub(super) struct EntryError {
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) name: Option<String>,
    pub(super) hosted: bool,
    /// Whether it does not even look like a definition.
    pub(super) not_a_definition: bool,
}

impl EntryError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            name: None,
            hosted: false,
            not_a_definition: false,
        }
    }

    pub(super) fn not_a_definition() -> Self {
        Self {
            not_a_definition: true,
            ..Self::new("", "not a tool definition in any form we know")
        }
    }

    pub(super) fn hosted(what: &str) -> Self {
        let message = format!("`{what}` is hosted by the API: there is nothing to define");
        Self {
            hosted: true,
            ..Self::new("", message)
        }
    }

    pub(super) fn with_name(self, name: String) -> Self {
        let name = Some(name);
        Self { name, ..self }
    }
}
