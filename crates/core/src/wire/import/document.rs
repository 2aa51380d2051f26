//! Finds the entries of a text, whatever they are wrapped in.
//!
//! The wrapping is only scanned, and each entry is parsed separately, so that a duplicate key in one does not affect the others.

use std::collections::HashMap;

use serde_json::{Value, value::RawValue};
use toolwright_schema::{InputLimits, SchemaFix, Tape};

use super::{
    ImportError, RejectedDefinition, ToolDefinition, definition,
    error::EntryError,
    hosted,
    scan::{
        MAX_WRAPPING_DEPTH, definition_lists, duplicate_key, for_each_element, parse_members,
        wrappers,
    },
};

/// The limits of one definition: twice those of its schema.
const ENTRY_LIMITS: InputLimits = InputLimits { bytes: 2 << 20, depth: 126 };

/// The maximum number of entries.
const MAX_ENTRIES: usize = 100_000;

/// The results so far, and the current location.
#[derive(Default)]
pub(super) struct DocumentReader {
    results: Vec<Result<ToolDefinition, RejectedDefinition>>,
    /// The index of the entry with a name, within one list of tools.
    names: HashMap<String, usize>,
    /// The number of entries that do not look like a definition.
    unrecognised: usize,
    line: Option<usize>,
    pointer: String,
}

impl DocumentReader {
    pub(super) fn read(
        text: &str,
    ) -> Result<Vec<Result<ToolDefinition, RejectedDefinition>>, ImportError> {
        let mut document = Self::default();
        match serde_json::from_str::<&RawValue>(text) {
            Ok(root) => document.read_value(root.get(), 0, false),
            Err(error) => document.read_lines(text).ok_or_else(|| syntax_error(&error))?,
        }
        if document.is_full() {
            return Err(ImportError::TooManyEntries { limit: MAX_ENTRIES });
        }
        if document.unrecognised > 0 && document.unrecognised == document.results.len() {
            return Err(ImportError::UnknownFormat);
        }
        Ok(document.results)
    }

    /// Reads JSON Lines; `None` if the text is not JSON Lines.
    fn read_lines(&mut self, text: &str) -> Option<()> {
        let lines = || {
            let numbered = text.lines().zip(1..);
            numbered.filter(|(line, _)| !line.trim().is_empty())
        };
        let (first, _) = lines().next()?;
        lines().nth(1)?;
        serde_json::from_str::<&RawValue>(first).ok()?;
        for (line, number) in lines() {
            if self.is_full() {
                break;
            }
            self.line = Some(number);
            match serde_json::from_str::<&RawValue>(line) {
                Ok(value) => self.read_value(value.get(), 1, false),
                Err(error) => {
                    let (message, column) = (message_without_position(&error), error.column());
                    self.reject(EntryError::new(
                        "",
                        format!("not JSON: {message} at column {column}"),
                    ));
                }
            }
        }
        Some(())
    }

    /// Reads the tool definitions in a JSON value: a list of them, an object that contains lists, or one definition.
    ///
    /// `declared` is true below Gemini's `functionDeclarations`, where a definition has no envelope.
    fn read_value(&mut self, raw: &str, depth: usize, declared: bool) {
        if depth > MAX_WRAPPING_DEPTH {
            return self.reject(EntryError::new(
                "",
                format!("wrapped more than {MAX_WRAPPING_DEPTH} times"),
            ));
        }
        match raw.as_bytes().first() {
            Some(b'[') => self.read_list(raw, depth, declared),
            Some(b'{') => self.read_object(raw, depth, declared),
            // Some collections store definitions as JSON text in a string.
            Some(b'"') if depth > 0 => match serde_json::from_str::<String>(raw) {
                Ok(text) if text.trim_start().starts_with(['[', '{']) => {
                    match serde_json::from_str::<&RawValue>(&text) {
                        Ok(inner) => self.read_value(inner.get(), depth + 1, declared),
                        Err(error) => {
                            self.reject(EntryError::new(
                                "",
                                format!("text that is not JSON: {error}"),
                            ));
                        }
                    }
                }
                _ => self.reject(EntryError::not_a_definition()),
            },
            _ => self.reject(EntryError::not_a_definition()),
        }
    }

    fn read_list(&mut self, raw: &str, depth: usize, declared: bool) {
        for_each_element(raw, |index, element| {
            self.with_pointer_step(&index.to_string(), |document| {
                document.read_value(element.get(), depth + 1, declared);
            });
            !self.is_full()
        });
    }

    fn is_full(&self) -> bool {
        self.results.len() > MAX_ENTRIES
    }

    fn read_object(&mut self, raw: &str, depth: usize, declared: bool) {
        let members = parse_members(raw);
        if let Some(key) = duplicate_key(&members) {
            return self.reject(EntryError::new("", format!("key `{key}` is named twice")));
        }
        let (lists, wrappers) = (definition_lists(&members), wrappers(&members, depth));
        if lists.is_empty() && wrappers.is_empty() {
            return self.read_entry(raw, declared);
        }
        // Names must be unique within a record of a collection, but not across records. Gemini's declarations are
        // parts of one record.
        let is_part = |key: &str| matches!(key, "functionDeclarations" | "function_declarations");
        let is_record = lists.iter().any(|(key, _)| !is_part(key));
        let outer_names = (depth > 0 && is_record).then(|| std::mem::take(&mut self.names));
        for (key, value) in lists.iter().chain(&wrappers) {
            let declared = declared || is_part(key);
            self.with_pointer_step(key, |document| {
                document.read_value(value.get(), depth + 1, declared);
            });
        }
        let hosted = members.iter().filter(|(key, _)| hosted::is_gemini_hosted(key));
        for (key, _) in hosted.filter(|_| !is_record) {
            self.with_pointer_step(key, |document| document.reject(EntryError::hosted(key)));
        }
        if let Some(names) = outer_names {
            self.names = names;
        }
    }

    fn read_entry(&mut self, raw: &str, declared: bool) {
        let definition = match Tape::parse(raw, &ENTRY_LIMITS).map(|tape| tape.to_value()) {
            Ok(Value::Object(entry)) => definition::read_definition(entry, declared),
            Ok(_) => Err(EntryError::not_a_definition()),
            Err(error) => Err(EntryError::new("", error.to_string())),
        };
        let index = self.results.len();
        match definition {
            Err(error) => self.reject(error),
            Ok(definition) => match self.names.get(&definition.name) {
                Some(first) => {
                    let message = format!(
                        "entry {index} has the name `{}`, and so has entry {first}",
                        definition.name
                    );
                    self.reject(EntryError::new("", message).with_name(definition.name));
                }
                None => {
                    self.names.insert(definition.name.clone(), index);
                    self.results.push(Ok(self.with_location(definition)));
                }
            },
        }
    }

    fn with_location(&self, mut definition: ToolDefinition) -> ToolDefinition {
        let with_location = |note: SchemaFix| SchemaFix {
            pointer: format!("{}{}", self.pointer, note.pointer),
            ..note
        };
        definition.notes = definition.notes.into_iter().map(with_location).collect();
        definition.line = self.line;
        definition.pointer = self.pointer.clone();
        definition
    }

    fn reject(&mut self, error: EntryError) {
        self.unrecognised += usize::from(error.not_a_definition);
        self.results.push(Err(RejectedDefinition {
            index: self.results.len(),
            name: error.name,
            line: self.line,
            pointer: format!("{}{}", self.pointer, error.pointer),
            message: error.message,
            hosted: error.hosted,
        }));
    }

    fn with_pointer_step(&mut self, step: &str, read: impl FnOnce(&mut Self)) {
        let parent_len = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        read(self);
        self.pointer.truncate(parent_len);
    }
}

fn syntax_error(error: &serde_json::Error) -> ImportError {
    ImportError::Syntax {
        message: message_without_position(error),
        line: error.line(),
        column: error.column(),
    }
}

/// Removes the position that serde_json appends to its message.
fn message_without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&position).unwrap_or(&message).to_owned()
}
