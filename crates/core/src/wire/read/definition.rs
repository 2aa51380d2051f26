//! One entry in, our definition of its tool out.

use serde_json::{Map, Value};
use toolwright_schema::{Note, Schema};

use super::{Shape, entry::Entry, hosted, input, refused::Fault};
use crate::Hints;

/// A tool definition as other software wrote it, in our form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// The name exactly as given: it may hold dots, and be longer than some APIs allow.
    pub name: String,
    /// The name people read, where there is one.
    pub title: Option<String>,
    /// What it does; empty where that was not said.
    pub description: String,
    /// What its arguments must satisfy.
    pub input: Schema,
    /// What its structured result satisfies, if that was said.
    pub output: Option<Schema>,
    /// What its author declares about its effects.
    pub hints: Hints,
    /// Whether providers were asked to hold the model to the schema.
    pub strict: Option<bool>,
    /// The form it was written in.
    pub shape: Shape,
    /// The line it stands on, counted from 1, where the text is JSON Lines.
    pub line: Option<usize>,
    /// The JSON pointer of its entry in the text, or in its line.
    pub pointer: String,
    /// Everything that was read otherwise than it was written; the pointers lead into the text.
    pub notes: Vec<Note>,
}

/// Reads one entry; `declared` says that it stands among Gemini's declarations.
pub(super) fn read(entry: Map<String, Value>, declared: bool) -> Result<Definition, Fault> {
    if let Some(refusal) = hosted::refusal(&entry) {
        return Err(refusal);
    }
    let mut entry = Entry::open(entry, declared);
    let name = name(&mut entry)?;
    named(entry, &name).map_err(|fault| fault.named(name))
}

fn named(mut entry: Entry, name: &str) -> Result<Definition, Fault> {
    let description = description(&mut entry);
    let strict = flag(&mut entry, "strict")?;
    let (hints, hinted_title) = annotations(&mut entry)?;
    let title = title(&mut entry).or(hinted_title);
    let output = input::read_output(&mut entry)?;
    let input = input::read(&mut entry)?;
    let (shape, notes) = entry.finish();
    Ok(Definition {
        name: name.to_owned(),
        title,
        description,
        input,
        output,
        hints,
        strict,
        shape,
        line: None,
        pointer: String::new(),
        notes,
    })
}

fn name(entry: &mut Entry) -> Result<String, Fault> {
    match entry.take("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => Ok(name),
        Some(Value::String(_)) => Err(entry.fault("name", "the name is empty")),
        Some(other) => Err(entry.fault("name", format!("expected text, got {other}"))),
        None if entry.looks_like_definition() => {
            Err(entry.fault("", "a definition without a name"))
        }
        None => Err(Fault::formless()),
    }
}

fn description(entry: &mut Entry) -> String {
    let given = match entry.take("description") {
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
    if given.trim().is_empty() {
        entry.note("", "no description: a model cannot tell what it is for");
    }
    given
}

fn title(entry: &mut Entry) -> Option<String> {
    let given = entry.take("title")?;
    if !given.is_string() {
        entry.note("title", "left out: not text");
    }
    text(given)
}

/// The hints, and the title that stands among them.
fn annotations(entry: &mut Entry) -> Result<(Hints, Option<String>), Fault> {
    let mut given = match entry.take("annotations") {
        None => return Ok((Hints::default(), None)),
        Some(Value::Object(given)) => given,
        Some(_) => return Err(entry.fault("annotations", "expected an object")),
    };
    let mut hint = |name: &str| {
        let Some(value) = given.shift_remove(name) else {
            return Ok(None);
        };
        // A hint that is not understood may be the one that asks for approval.
        read_flag(entry, &format!("annotations/{name}"), &value)
    };
    let hints = Hints {
        read_only: hint("readOnlyHint")?,
        destructive: hint("destructiveHint")?,
        idempotent: hint("idempotentHint")?,
        open_world: hint("openWorldHint")?,
    };
    Ok((hints, given.shift_remove("title").and_then(text)))
}

fn flag(entry: &mut Entry, key: &str) -> Result<Option<bool>, Fault> {
    match entry.take(key) {
        None => Ok(None),
        Some(value) => read_flag(entry, key, &value),
    }
}

fn read_flag(entry: &mut Entry, key: &str, value: &Value) -> Result<Option<bool>, Fault> {
    let spelled = match value {
        Value::Null => return Ok(None),
        Value::Bool(flag) => return Ok(Some(*flag)),
        Value::String(text) if text.eq_ignore_ascii_case("true") => true,
        Value::String(text) if text.eq_ignore_ascii_case("false") => false,
        _ => return Err(entry.fault(key, "expected true or false")),
    };
    entry.note(key, format!("{value} read as {spelled}"));
    Ok(Some(spelled))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}
