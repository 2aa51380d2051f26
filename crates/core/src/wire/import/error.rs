//! The errors of a whole import and of one entry.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

/// An entry of a text that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RejectedDefinition {
    /// The index of the entry, counted from 0.
    pub index: usize,
    /// The name of the tool, if it has one.
    pub name: Option<String>,
    /// The line, counted from 1, if the text is JSON Lines.
    pub line: Option<usize>,
    /// The JSON pointer of the error in the text, or in its line.
    pub pointer: String,
    /// The error.
    pub message: String,
    /// Whether it is a tool hosted by the API: it is valid, but has no definition.
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

/// Why a whole text could not be imported.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The text is too long; it was not parsed.
    #[error("{bytes} bytes of tool definitions where at most {limit} are read")]
    TooLong {
        /// The length of the text.
        bytes: usize,
        /// The maximum length.
        limit: usize,
    },
    /// The text has too many entries.
    #[error("more than {limit} entries, which is as many as are read")]
    TooManyEntries {
        /// The maximum number of entries.
        limit: usize,
    },
    /// The text is neither JSON nor JSON Lines.
    #[error("not JSON: {message} at line {line} column {column}")]
    Syntax {
        /// The error, without the position.
        message: String,
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
    },
    /// The text is JSON, but contains nothing like a tool definition.
    #[error(
        "no tool definitions found; accepted are one definition, a list of them, an object with `tools`, `result.tools`, \
         `functions`, `function`, `functionDeclarations` or `toolConfig.tools`, and JSON Lines of these, each definition in \
         the form of OpenAI, Anthropic, Gemini, Ollama, Bedrock or MCP"
    )]
    UnknownFormat,
}

/// The error of one entry; the pointer is relative to the entry.
pub(super) struct EntryError {
    pub(super) pointer: String,
    pub(super) message: String,
    pub(super) name: Option<String>,
    pub(super) hosted: bool,
    /// Whether the entry does not look like a definition at all.
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

    pub(super) fn hosted(tool: &str) -> Self {
        let message = format!("`{tool}` is hosted by the API: there is nothing to define");
        Self { hosted: true, ..Self::new("", message) }
    }

    pub(super) fn with_name(self, name: String) -> Self {
        let name = Some(name);
        Self { name, ..self }
    }
}
