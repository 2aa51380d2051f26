//! Converts arguments of the wrong JSON type to the type that the schema asks for, where nothing is lost.
//!
//! A value is changed only where its own subschema rejects it, and only if exactly one conversion is valid there.

mod candidates;
mod subschema_path;

use std::fmt;

use serde_json::Value;

use crate::{
    Schema, escape_pointer_token, json_pointer::write_message_at, schema::violation::excerpt,
};
use candidates::{as_integer, candidates};
pub(crate) use candidates::{parse_json_container, parse_number};
use subschema_path::{child_subschema_path, type_names};

/// How many values are visited; the rest is left unchanged.
const MAX_VISITED_VALUES: usize = 10_000;

/// How many levels of nesting are visited.
const MAX_DEPTH: usize = 64;

/// One value that was converted to another JSON type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coercion {
    /// The JSON pointer of the value, empty for the whole document.
    pub pointer: String,
    /// The value that was sent, shortened and with secrets redacted.
    pub from: String,
    /// The value it was converted to, shortened and with secrets redacted.
    pub to: String,
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_message_at(f, &self.pointer, format_args!("{} read as {}", self.from, self.to))
    }
}

/// Converts values to the JSON type that the schema asks for, where nothing is lost; returns one note per conversion.
///
/// `"5"` becomes 5, `5` becomes `"5"`, `"true"` becomes true, `x` becomes `[x]`, an enum member gets its letter case, and
/// text that contains the expected object becomes that object. Valid values stay, except that an integer written `5.0`
/// becomes `5` where an integer is expected.
pub fn coerce(value: &mut Value, schema: &Schema) -> Vec<Coercion> {
    let mut coercer = Coercer {
        schema,
        remaining_visits: MAX_VISITED_VALUES,
        inside_wrapped_array: false,
        coercions: Vec::new(),
    };
    coercer.walk(value, "#", "", false, MAX_DEPTH);
    coercer.coercions
}

struct Coercer<'s> {
    schema: &'s Schema,
    remaining_visits: usize,
    /// Inside an array that this coercer added; a second array around it would be a guess.
    inside_wrapped_array: bool,
    coercions: Vec<Coercion>,
}

impl Coercer<'_> {
    fn walk(&mut self, value: &mut Value, path: &str, pointer: &str, valid: bool, depth: usize) {
        let (Some(left), Some(depth)) =
            (self.remaining_visits.checked_sub(1), depth.checked_sub(1))
        else {
            return;
        };
        self.remaining_visits = left;
        let valid = valid || self.schema.admits_at(path, value).unwrap_or(true);
        self.descend(value, path, pointer, valid, depth);
        if valid || self.schema.admits_at(path, value).unwrap_or(true) {
            if let Some(whole) = self.as_integer(value, path) {
                self.replace(value, whole, pointer);
            }
            return;
        }
        let mut fitting = Vec::new();
        for (mut candidate, wraps) in candidates(self.schema.as_value(), path, value) {
            if wraps && self.inside_wrapped_array {
                continue;
            }
            let before = self.coercions.len();
            let outer = self.inside_wrapped_array;
            self.inside_wrapped_array |= wraps;
            self.descend(&mut candidate, path, pointer, false, depth);
            self.inside_wrapped_array = outer;
            let inner = self.coercions.split_off(before);
            if self.schema.admits_at(path, &candidate) == Some(true) {
                fitting.push((candidate, inner));
            }
        }
        // Two valid candidates are ambiguous: neither is used.
        if fitting.len() == 1
            && let Some((candidate, inner)) = fitting.pop()
        {
            let converted = self.as_integer(&candidate, path).unwrap_or(candidate);
            self.replace(value, converted, pointer);
            self.coercions.extend(inner);
        }
    }

    fn as_integer(&self, value: &Value, path: &str) -> Option<Value> {
        let whole = as_integer(value)?;
        let types = type_names(self.schema.as_value(), path);
        (types.contains(&"integer") && !types.contains(&"number")).then_some(whole)
    }

    fn descend(&mut self, value: &mut Value, path: &str, pointer: &str, valid: bool, depth: usize) {
        let root = self.schema.as_value();
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter_mut().take(self.remaining_visits) {
                    if let Some(path) = child_subschema_path(root, path, Ok(key)) {
                        let step = escape_pointer_token(key);
                        self.walk(member, &path, &format!("{pointer}/{step}"), valid, depth);
                    }
                }
            }
            Value::Array(elements) => {
                for (at, element) in elements.iter_mut().enumerate().take(self.remaining_visits) {
                    if let Some(path) = child_subschema_path(root, path, Err(at)) {
                        self.walk(element, &path, &format!("{pointer}/{at}"), valid, depth);
                    }
                }
            }
            _ => {}
        }
    }

    fn replace(&mut self, value: &mut Value, by: Value, pointer: &str) {
        self.coercions.push(Coercion {
            pointer: pointer.to_owned(),
            from: excerpt(value, pointer),
            to: excerpt(&by, pointer),
        });
        *value = by;
    }
}

#[cfg(test)]
mod tests;
