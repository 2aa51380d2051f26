//! A text in, its entries out: whatever the definitions are wrapped in.
//!
//! The wrapping is only scanned, and each entry parsed by itself, so that one with a doubled key hides no other.

use std::collections::HashMap;

use serde_json::{Value, value::RawValue};
use toolwright_schema::{Limits, Note, Tape};

use super::{
    Definition, Refused, Unreadable, definition, hosted,
    refused::Fault,
    scan::{DEEPEST, doubled, each, lists, members, wrappers},
};

/// A definition may be this large: twice what its schema may be.
const ENTRY: Limits = Limits {
    bytes: 2 << 20,
    depth: 126,
};

/// More entries than these are not read.
const MOST: usize = 100_000;

/// What was found so far, and where we are.
#[derive(Default)]
pub(super) struct Document {
    found: Vec<Result<Definition, Refused>>,
    /// The entry that first had a name, within one list of tools.
    names: HashMap<String, usize>,
    /// How many entries look like nothing we know.
    formless: usize,
    line: Option<usize>,
    pointer: String,
}

impl Document {
    pub(super) fn read(text: &str) -> Result<Vec<Result<Definition, Refused>>, Unreadable> {
        let mut document = Self::default();
        match serde_json::from_str::<&RawValue>(text) {
            Ok(whole) => document.value(whole.get(), 0, false),
            Err(error) => document.lines(text).ok_or_else(|| syntax(&error))?,
        }
        if document.is_full() {
            return Err(Unreadable::TooMany { limit: MOST });
        }
        if document.formless > 0 && document.formless == document.found.len() {
            return Err(Unreadable::UnknownForm);
        }
        Ok(document.found)
    }

    /// Reads JSON Lines; `None` if the text is no such thing.
    fn lines(&mut self, text: &str) -> Option<()> {
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
                Ok(value) => self.value(value.get(), 1, false),
                Err(error) => {
                    let (message, column) = (plain(&error), error.column());
                    self.refuse(Fault::new(
                        "",
                        format!("not JSON: {message} at column {column}"),
                    ));
                }
            }
        }
        Some(())
    }

    /// Reads a value that may be anything: a list, an object with lists in it, an entry.
    fn value(&mut self, raw: &str, depth: usize, declared: bool) {
        if depth > DEEPEST {
            return self.refuse(Fault::new("", format!("wrapped more than {DEEPEST} times")));
        }
        match raw.as_bytes().first() {
            Some(b'[') => self.list(raw, depth, declared),
            Some(b'{') => self.object(raw, depth, declared),
            // Some collections keep their definitions as text within the text.
            Some(b'"') if depth > 0 => match serde_json::from_str::<String>(raw) {
                Ok(text) if text.trim_start().starts_with(['[', '{']) => {
                    match serde_json::from_str::<&RawValue>(&text) {
                        Ok(inner) => self.value(inner.get(), depth + 1, declared),
                        Err(error) => {
                            self.refuse(Fault::new("", format!("text that is not JSON: {error}")));
                        }
                    }
                }
                _ => self.refuse(Fault::formless()),
            },
            _ => self.refuse(Fault::formless()),
        }
    }

    fn list(&mut self, raw: &str, depth: usize, declared: bool) {
        each(raw, |at, element| {
            self.below(&at.to_string(), |document| {
                document.value(element.get(), depth + 1, declared);
            });
            !self.is_full()
        });
    }

    fn is_full(&self) -> bool {
        self.found.len() > MOST
    }

    fn object(&mut self, raw: &str, depth: usize, declared: bool) {
        let members = members(raw);
        if let Some(key) = doubled(&members) {
            return self.refuse(Fault::new("", format!("key `{key}` is named twice")));
        }
        let (lists, wrappers) = (lists(&members), wrappers(&members, depth));
        if lists.is_empty() && wrappers.is_empty() {
            return self.entry(raw, declared);
        }
        // Each record of a collection is a world of its own; the parts of one request are not.
        let is_part = |key: &str| matches!(key, "functionDeclarations" | "function_declarations");
        let whole = lists.iter().any(|(key, _)| !is_part(key));
        let outer = (depth > 0 && whole).then(|| std::mem::take(&mut self.names));
        for (key, value) in lists.iter().chain(&wrappers) {
            let declared = declared || is_part(key);
            self.below(key, |document| {
                document.value(value.get(), depth + 1, declared);
            });
        }
        let beside = members.iter().filter(|(key, _)| hosted::is_gemini(key));
        for (key, _) in beside.filter(|_| !whole) {
            self.below(key, |document| document.refuse(Fault::hosted(key)));
        }
        if let Some(outer) = outer {
            self.names = outer;
        }
    }

    fn entry(&mut self, raw: &str, declared: bool) {
        let read = match Tape::parse(raw, &ENTRY).map(|tape| tape.to_value()) {
            Ok(Value::Object(entry)) => definition::read(entry, declared),
            Ok(_) => Err(Fault::formless()),
            Err(error) => Err(Fault::new("", error.to_string())),
        };
        let index = self.found.len();
        match read {
            Err(fault) => self.refuse(fault),
            Ok(definition) => match self.names.get(&definition.name) {
                Some(first) => {
                    let message = format!(
                        "entry {index} has the name `{}`, and so has entry {first}",
                        definition.name
                    );
                    self.refuse(Fault::new("", message).named(definition.name));
                }
                None => {
                    self.names.insert(definition.name.clone(), index);
                    self.found.push(Ok(self.placed(definition)));
                }
            },
        }
    }

    fn placed(&self, mut definition: Definition) -> Definition {
        let placed = |note: Note| Note {
            pointer: format!("{}{}", self.pointer, note.pointer),
            ..note
        };
        definition.notes = definition.notes.into_iter().map(placed).collect();
        definition.line = self.line;
        definition.pointer = self.pointer.clone();
        definition
    }

    fn refuse(&mut self, fault: Fault) {
        self.formless += usize::from(fault.formless);
        self.found.push(Err(Refused {
            index: self.found.len(),
            name: fault.name,
            line: self.line,
            pointer: format!("{}{}", self.pointer, fault.pointer),
            message: fault.message,
            hosted: fault.hosted,
        }));
    }

    fn below(&mut self, step: &str, read: impl FnOnce(&mut Self)) {
        let here = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(step);
        read(self);
        self.pointer.truncate(here);
    }
}

fn syntax(error: &serde_json::Error) -> Unreadable {
    Unreadable::Syntax {
        message: plain(error),
        line: error.line(),
        column: error.column(),
    }
}

/// The message without the position that serde_json appends.
fn plain(error: &serde_json::Error) -> String {
    let whole = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    whole.strip_suffix(&position).unwrap_or(&whole).to_owned()
}
