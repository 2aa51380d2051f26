//! [`ToolDefinition`]: reads one entry of an imported text.

use serde_json::{Map, Value};
use toolwright_schema::{Schema, SchemaFix};

use super::{Shape, custom, entry::EntryReader, error::EntryError, hosted, schemas};
use crate::{CustomToolFormat, Hints};

/// An imported tool definition.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// The name exactly as in the text: it may contain dots and be longer than some APIs allow.
    pub name: String,
    /// The display name, if there is one.
    pub title: Option<String>,
    /// What the tool does; empty if the text has no description.
    pub description: String,
    /// The schema of the arguments.
    pub input: Schema,
    /// The schema of the structured result, if there is one.
    pub output: Option<Schema>,
    /// The declared effects.
    pub hints: Hints,
    /// The `strict` flag, if there is one: whether providers have to enforce the schema.
    pub strict: Option<bool>,
    /// The format of its text, if it is a custom tool of OpenAI.
    pub custom_format: Option<CustomToolFormat>,
    /// The form of the entry.
    pub shape: Shape,
    /// The line, counted from 1, if the text is JSON Lines.
    pub line: Option<usize>,
    /// The JSON pointer of its entry in the text, or in its line.
    pub pointer: String,
    /// Everything that was normalised; the pointers are relative to the text.
    pub notes: Vec<SchemaFix>,
}

/// Reads one entry; `declared` is true for an element of Gemini's `functionDeclarations`.
pub(super) fn read_definition(
    entry: Map<String, Value>,
    declared: bool,
) -> Result<ToolDefinition, EntryError> {
    let (entry, custom_format) = match custom::as_function(&entry) {
        Some((function, format)) => (function, Some(format)),
        None => (entry, None),
    };
    if let Some(error) = hosted::reject_hosted(&entry) {
        return Err(error);
    }
    let mut entry = EntryReader::unwrap_envelope(entry, declared);
    if custom_format.is_some() {
        entry.note("", custom::NOTE);
    }
    let name = read_name(&mut entry)?;
    let mut definition = read_named(entry, &name).map_err(|error| error.with_name(name))?;
    definition.custom_format = custom_format;
    Ok(definition)
}

fn read_named(mut entry: EntryReader, name: &str) -> Result<ToolDefinition, EntryError> {
    let description = read_description(&mut entry);
    let strict = take_flag(&mut entry, "strict")?;
    let (hints, annotated_title) = read_annotations(&mut entry)?;
    let title = read_title(&mut entry).or(annotated_title);
    let output = schemas::read_output_schema(&mut entry)?;
    let input = schemas::read_input_schema(&mut entry)?;
    let (shape, notes) = entry.finish();
    Ok(ToolDefinition {
        name: name.to_owned(),
        title,
        description,
        input,
        output,
        hints,
        strict,
        custom_format: None,
        shape,
        line: None,
        pointer: String::new(),
        notes,
    })
}

fn read_name(entry: &mut EntryReader) -> Result<String, EntryError> {
    match entry.take("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => Ok(name),
        Some(Value::String(_)) => Err(entry.error_at("name", "the name is empty")),
        Some(other) => Err(entry.error_at("name", format!("expected text, got {other}"))),
        None if entry.looks_like_definition() => {
            Err(entry.error_at("", "a definition without a name"))
        }
        None => Err(EntryError::not_a_definition()),
    }
}

fn read_description(entry: &mut EntryReader) -> String {
    let description = match entry.take("description") {
        Some(Value::String(text)) => text,
        None => String::new(),
        Some(Value::Array(lines)) if lines.iter().all(Value::is_string) => {
            entry.note("description", "a list of lines read as text");
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            lines.join("\n")
        }
        Some(value) => {
            entry.note("description", "read as text, though it is none");
            value.to_string()
        }
    };
    if description.trim().is_empty() {
        entry.note("", "no description: a model cannot tell what it is for");
    }
    description
}

fn read_title(entry: &mut EntryReader) -> Option<String> {
    let title = entry.take("title")?;
    if !title.is_string() {
        entry.note("title", "left out: not text");
    }
    non_empty_text(title)
}

/// Returns the hints, and the title that MCP allows among them.
fn read_annotations(entry: &mut EntryReader) -> Result<(Hints, Option<String>), EntryError> {
    let mut annotations = match entry.take("annotations") {
        None => return Ok((Hints::default(), None)),
        Some(Value::Object(annotations)) => annotations,
        Some(_) => return Err(entry.error_at("annotations", "expected an object")),
    };
    let mut hint = |name: &str| {
        let Some(value) = annotations.shift_remove(name) else {
            return Ok(None);
        };
        // An invalid hint is an error, because it may be the one that requires approval.
        parse_flag(entry, &format!("annotations/{name}"), &value)
    };
    let hints = Hints {
        read_only: hint("readOnlyHint")?,
        destructive: hint("destructiveHint")?,
        idempotent: hint("idempotentHint")?,
        open_world: hint("openWorldHint")?,
    };
    let title = annotations.shift_remove("title").and_then(non_empty_text);
    Ok((hints, title))
}

fn take_flag(entry: &mut EntryReader, key: &str) -> Result<Option<bool>, EntryError> {
    match entry.take(key) {
        None => Ok(None),
        Some(value) => parse_flag(entry, key, &value),
    }
}

fn parse_flag(
    entry: &mut EntryReader,
    key: &str,
    value: &Value,
) -> Result<Option<bool>, EntryError> {
    let flag = match value {
        Value::Null => return Ok(None),
        Value::Bool(flag) => return Ok(Some(*flag)),
        Value::String(text) if text.eq_ignore_ascii_case("true") => true,
        Value::String(text) if text.eq_ignore_ascii_case("false") => false,
        _ => return Err(entry.error_at(key, "expected true or false")),
    };
    entry.note(key, format!("{value} read as {flag}"));
    Ok(Some(flag))
}

fn non_empty_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}
