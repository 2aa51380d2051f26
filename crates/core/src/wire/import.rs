//! Text in which other software defines tools in, our definitions out.
//!
//! A definition is read with notes about everything that was normalised, or refused with its place, and then it does not hide
//! the others. None is ever quietly emptied: it would be called without the arguments it needs.

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

/// Longer text is not read.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// Reads every tool definition of a text, in the order they stand there.
///
/// The text is a request to a model, an MCP listing, a list of definitions, a single one, or JSON Lines of any of these, in
/// the form of OpenAI, Anthropic, Gemini, Ollama, Bedrock or MCP. Each entry is recognised by itself.
///
/// # Errors
///
/// Refuses as a whole only what is too long, is not JSON, or has none of these forms.
///
/// # Examples
///
/// ```
/// use toolwright_core::wire;
///
/// let text = r#"[
///     {"name": "weather.now", "description": "Tells the weather.",
///      "parameters": {"type": "dict", "properties": {"city": {"type": "str"}}, "required": "city"}},
///     {"name": "time.now", "parameters": {"type": "dict", "properties": {"city": {"type": "strng"}}}}
/// ]"#;
/// let found = wire::read(text)?;
///
/// let weather = found[0].as_ref().unwrap();
/// assert_eq!(weather.input.as_value()["required"][0], "city");
/// assert_eq!(weather.notes[0].to_string(), r#"/0/parameters: type "dict" read as "object""#);
///
/// let refused = found[1].as_ref().unwrap_err();
/// assert_eq!(refused.pointer, "/1/parameters/properties/city/type");
/// # Ok::<(), wire::Unreadable>(())
/// ```
pub fn import_definitions(
    text: &str,
) -> Result<Vec<Result<ToolDefinition, RejectedDefinition>>, ImportError> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(ImportError::TooLong {
            bytes: text.len(),
            limit: MAX_TEXT_BYTES,
        });
    }
    DocumentReader::read(text.trim_start_matches('\u{feff}'))
}

#[cfg(test)]
mod tests;
