//! [`EntryReader`]: one entry of an imported text while its keys are read.

use serde_json::{Map, Value};
use toolwright_schema::SchemaFix;

use super::{Shape, error::EntryError, schemas::INPUT_SCHEMA_KEYS};

/// Keys of some API that a definition does not need.
const IGNORED_KEYS: [&str; 12] = [
    "type",
    "id",
    "_meta",
    "icons",
    "execution",
    "behavior",
    "cache_control",
    "cacheControl",
    "cachePoint",
    "defer_loading",
    "allowed_callers",
    "eager_input_streaming",
];

/// Keys that people and collections of definitions add; they never contain the parameters.
const METADATA_KEYS: [&str; 10] = [
    "tags",
    "keywords",
    "category",
    "categories",
    "metadata",
    "examples",
    "returns",
    "return",
    "output",
    "errors",
];

/// Keys of a definition that are sometimes written outside its wrapper.
const DEFINITION_KEYS: [&str; 7] =
    ["name", "title", "description", "strict", "annotations", "properties", "required"];

/// An entry while its keys are read.
pub(super) struct EntryReader {
    /// The members that were not read yet.
    pub(super) remaining: Map<String, Value>,
    /// The JSON pointer of the body in the entry: empty, or for example `/function`.
    wrapper_pointer: &'static str,
    shape: Shape,
    notes: Vec<SchemaFix>,
}

impl EntryReader {
    /// Unwraps a definition from the object that some APIs put around it; `declared` is true for an element of Gemini's
    /// `functionDeclarations`.
    pub(super) fn unwrap_envelope(mut entry: Map<String, Value>, declared: bool) -> Self {
        let wrappers = [
            ("function", "/function", Shape::OpenAiChat),
            ("toolSpec", "/toolSpec", Shape::Bedrock),
            ("tool_spec", "/tool_spec", Shape::Bedrock),
        ];
        for (key, wrapper_pointer, shape) in wrappers {
            if let Some(Value::Object(_)) = entry.get(key)
                && let Some(Value::Object(body)) = entry.shift_remove(key)
            {
                let mut reader =
                    Self { remaining: body, wrapper_pointer, shape, notes: Vec::new() };
                reader.merge_outer_keys(entry);
                return reader;
            }
        }
        Self {
            shape: detect_shape(&entry, declared),
            remaining: entry,
            wrapper_pointer: "",
            notes: Vec::new(),
        }
    }

    /// Moves keys of the definition that are written outside the wrapper into the body.
    fn merge_outer_keys(&mut self, outer: Map<String, Value>) {
        for (key, value) in outer {
            let name = key.as_str();
            let message = if IGNORED_KEYS.contains(&name) || value.is_null() {
                continue;
            } else if !DEFINITION_KEYS.contains(&name) && !INPUT_SCHEMA_KEYS.contains(&name) {
                format!("`{key}` left out: no part of a definition")
            } else if self.remaining.contains_key(name) {
                format!("`{key}` left out: the definition has its own")
            } else {
                let message = format!("`{key}` read as part of the definition");
                self.remaining.insert(key, value);
                message
            };
            self.notes.push(SchemaFix { pointer: String::new(), message });
        }
    }

    /// Removes and returns a value; `null` counts as absent.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.remaining.shift_remove(key).filter(|value| !value.is_null())
    }

    /// Returns true if the entry has a key of a definition, and so is not just any object.
    pub(super) fn looks_like_definition(&self) -> bool {
        let is_function = self.remaining.get("type").is_some_and(|kind| kind == "function");
        !self.wrapper_pointer.is_empty()
            || is_function
            || INPUT_SCHEMA_KEYS.iter().any(|key| self.remaining.contains_key(*key))
    }

    /// Returns the first unknown key whose value could be the parameters.
    pub(super) fn unknown_container(&self) -> Option<&str> {
        let is_container = |value: &Value| match value {
            Value::String(text) => text.trim_start().starts_with(['{', '[']),
            value => value.is_object() || value.is_array(),
        };
        self.unknown_keys()
            .find(|(key, value)| is_container(value) && !METADATA_KEYS.contains(key))
            .map(|(key, _)| key)
    }

    fn unknown_keys(&self) -> impl Iterator<Item = (&str, &Value)> {
        let members = self.remaining.iter();
        members
            .filter(|(key, value)| {
                !IGNORED_KEYS.contains(&key.as_str()) && !key.starts_with("x-") && !value.is_null()
            })
            .map(|(key, value)| (key.as_str(), value))
    }

    pub(super) fn note(&mut self, key: &str, message: impl Into<String>) {
        self.notes.push(SchemaFix { pointer: self.pointer_to(key), message: message.into() });
    }

    pub(super) fn error_at(&self, key: &str, message: impl Into<String>) -> EntryError {
        EntryError::new(self.pointer_to(key), message)
    }

    /// Returns the pointer, relative to the entry, of a key of the body or of a pointer into the body.
    fn pointer_to(&self, key: &str) -> String {
        let slash = if key.is_empty() || key.starts_with('/') { "" } else { "/" };
        format!("{}{slash}{key}", self.wrapper_pointer)
    }

    /// Adds a note for each key that was not read.
    pub(super) fn finish(mut self) -> (Shape, Vec<SchemaFix>) {
        let unread: Vec<String> = self
            .unknown_keys()
            .map(|(key, _)| format!("`{key}` left out: no part of a definition"))
            .collect();
        for message in unread {
            self.note("", message);
        }
        (self.shape, self.notes)
    }
}

/// Detects the shape of a definition without a wrapper by its keys.
fn detect_shape(body: &Map<String, Value>, declared: bool) -> Shape {
    let has = |key: &str| body.contains_key(key);
    let kind = body.get("type").and_then(Value::as_str);
    let upper_case = || {
        let kind = body.get("parameters").and_then(|schema| schema.get("type"));
        kind.is_some_and(|kind| kind == "OBJECT")
    };
    if declared || has("parametersJsonSchema") || has("parameters_json_schema") {
        Shape::Gemini
    } else if has("input_schema") || kind == Some("custom") {
        Shape::Anthropic
    } else if body.get("inputSchema").is_some_and(|schema| schema.get("json").is_some()) {
        Shape::Bedrock
    } else if has("inputSchema") || has("outputSchema") || has("annotations") {
        Shape::Mcp
    } else if kind == Some("function") {
        Shape::OpenAiResponses
    } else if upper_case() {
        Shape::Gemini
    } else {
        Shape::OpenAiChat
    }
}
