//! Imports tool definitions that other software wrote.
//!
//! Each definition is imported with notes about everything that was normalised, or rejected with its location, without an
//! effect on the others. An invalid schema is never replaced by an empty one: the tool would be called without arguments.

mod custom;
mod definition;
mod document;
mod entry;
mod error;
mod hosted;
mod scan;
mod schemas;
mod shape;

pub use definition::ToolDefinition;
pub use error::{ImportError, RejectedDefinition};
pub use shape::{Shape, UnknownShape};

use document::DocumentReader;

/// The maximum length of a text.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// Imports every tool definition of a text, in order.
///
/// The text is a request to a model, an MCP listing, a list of definitions, a single one, or JSON Lines of any of these, in
/// the form of OpenAI, Anthropic, Gemini, Ollama, Bedrock or MCP. The form of each entry is detected separately.
///
/// # Errors
///
/// When the text is too long, is not JSON, or has none of these forms. An error in one definition is in the list.
///
/// # Examples
///
/// ```
/// use toolwright::wire;
///
/// let text = r#"[
///     {"name": "weather.now", "description": "Returns the current weather.",
///      "parameters": {"type": "dict", "properties": {"city": {"type": "str"}}, "required": "city"}},
///     {"name": "time.now", "parameters": {"type": "dict", "properties": {"city": {"type": "strng"}}}}
/// ]"#;
/// let definitions = wire::import_definitions(text)?;
///
/// let weather = definitions[0].as_ref().unwrap();
/// assert_eq!(weather.input.as_value()["required"][0], "city");
/// assert_eq!(weather.notes[0].to_string(), r#"/0/parameters: type "dict" read as "object""#);
///
/// let rejected = definitions[1].as_ref().unwrap_err();
/// assert_eq!(rejected.pointer, "/1/parameters/properties/city/type");
/// # Ok::<(), wire::ImportError>(())
/// ```
pub fn import_definitions(
    text: &str,
) -> Result<Vec<Result<ToolDefinition, RejectedDefinition>>, ImportError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ImportError::TooLong { bytes: text.len(), limit: MAX_TEXT_BYTES });
    }
    DocumentReader::read(text.trim_start_matches('\u{feff}'))
}

#[cfg(test)]
mod tests;
