//! A text in, its entries out: whatever the definitions are wrapped in.
//!
//! The wrapping is only scanned, and each entry parsed by itself, so that one with a doubled key hides no other.

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

/// A definition may be this large: twice what its schema may be.
const ENTRY_LIMITS: InputLimits = InputLimits {
    bytes: 2 << 20,
    depth: 126,
};

/// More entries than these are not read.
const MAX_ENTRIES: usize = 100_000;

/// What was found so far, and where we are.
#[derive(Default)]
pub(super) struct DocumentReader {
    results: Vec<Result<ToolDefinition, RejectedDefinition>>,
    /// The entry that first had a name, within one list of tools.
    names: HashMap<String, usize>,
    /// How many entries look like nothing we know.
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
            Ok(whole) => document.read_value(whole.get(), 0, false),
            Err(error) => document
                .read_lines(text)
                .ok_or_else(|| syntax_error(&error))?,
        }
        if document.is_full() {
            return Err(ImportError::TooManyEntries { limit: MAX_ENTRIES });
        }
        if document.unrecognised > 0 && document.unrecognised == document.results.len() {
            return Err(ImportError::UnknownFormat);
        }
        Ok(document.results)
    }

    /// Reads JSON Lines; `None` if the text is no such thing.
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

    /// Reads a value that may be anything: a list, an object with lists in it, an entry.
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
            // Some collections keep their definitions as text within the text.
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
        for_each_element(raw, |at, element| {
            self.with_pointer_step(&at.to_string(), |document| {
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
        // Each record of a collection is a world of its own; the parts of one request are not.
        let is_part = |key: &str| matches!(key, "functionDeclarations" | "function_declarations");
        let whole = lists.iter().any(|(key, _)| !is_part(key));
        let outer = (depth > 0 && whole).then(|| std::mem::take(&mut self.names));
        for (key, value) in lists.iter().chain(&wrappers) {
            let declared = declared || is_part(key);
            self.with_pointer_step(key, |document| {
                document.read_value(value.get(), depth + 1, declared);
            });
        }
        let beside = members
            .iter()
            .filter(|(key, _)| hosted::is_gemini_hosted(key));
        for (key, _) in beside.filter(|_| !whole) {
            self.with_pointer_step(key, |document| document.reject(EntryError::hosted(key)));
        }
        if let Some(outer) = outer {
            self.names = outer;
        }
    }

    fn read_entry(&mut self, raw: &str, declared: bool) {
        let read = match Tape::parse(raw, &ENTRY_LIMITS).map(|tape| tape.to_value()) {
            Ok(Value::Object(entry)) => definition::read_definition(entry, declared),
            Ok(_) => Err(EntryError::not_a_definition()),
            Err(error) => Err(EntryError::new("", error.to_string())),
        };
        let index = self.results.len();
        match read {
            Err(fault) => self.reject(fault),
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
        let placed = |note: SchemaFix| SchemaFix {
            pointer: format!("{}{}", self.pointer, note.pointer),
            ..note
        };
        definition.notes = definition.notes.into_iter().map(placed).collect();
        definition.line = self.line;
        definition.pointer = self.pointer.clone();
        definition
    }

    fn reject(&mut self, fault: EntryError) {
        self.unrecognised += usize::from(fault.not_a_definition);
        self.results.push(Err(RejectedDefinition {
            index: self.results.len(),
            name: fault.name,
            line: self.line,
            pointer: format!("{}{}", self.pointer, fault.pointer),
            message: fault.message,
            hosted: fault.hosted,
        }));
    }

    fn with_pointer_step(&mut self, step: &str, read: impl FnOnce(&mut Self)) {
        let here = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        read(self);
        self.pointer.truncate(here);
    }
}

fn syntax_error(error: &serde_json::Error) -> ImportError {
    ImportError::Syntax {
        message: message_without_position(error),
        line: error.line(),
        column: error.column(),
    }
}

/// The message without the position that serde_json appends.
fn message_without_position(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    whole.strip_suffix(&position).unwrap_or(&whole).to_owned()
}
