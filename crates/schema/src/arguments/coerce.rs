//! An almost right value in, the value that was meant out.
//!
//! A value is only touched where its own subschema refuses it, and only for the one reading that this subschema admits.

mod candidates;
mod subschema_path;

use std::fmt;

use serde_json::Value;

use crate::{Schema, schema::violation::excerpt};
use candidates::{Candidate, as_integer, candidates};
use subschema_path::{child_subschema_path, type_names};

/// How many values are visited; what lies beyond is left as it is.
const MAX_VISITED_VALUES: usize = 10_000;

/// How deep values are followed.
const MAX_DEPTH: usize = 64;

/// One value that was read as another of the same meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coercion {
    /// The JSON pointer of the value, empty for the whole.
    pub pointer: String,
    /// What was sent, short and without secrets.
    pub from: String,
    /// What it was read as, short and without secrets.
    pub to: String,
}

impl fmt::Display for Coercion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        write!(f, "{} read as {}", self.from, self.to)
    }
}

/// Turns values of the wrong kind into the right kind where that loses nothing.
///
/// `"5"` becomes 5, `5` becomes `"5"`, `"true"` becomes true, `x` becomes `[x]`, an enum member gets its letter case, and
/// text that holds the wanted object becomes that object. A valid value stays, save that a whole number written `5.0`
/// becomes `5` where an integer is wanted.
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
    /// Inside a value we wrapped in an array ourselves; wrapping again would be guessing.
    inside_wrapped_array: bool,
    coercions: Vec<Coercion>,
}

impl Coercer<'_> {
    fn walk(&mut self, value: &mut Value, place: &str, pointer: &str, valid: bool, depth: usize) {
        let (Some(left), Some(depth)) =
            (self.remaining_visits.checked_sub(1), depth.checked_sub(1))
        else {
            return;
        };
        self.remaining_visits = left;
        let valid = valid || self.schema.admits_at(place, value).unwrap_or(true);
        self.descend(value, place, pointer, valid, depth);
        if valid || self.schema.admits_at(place, value).unwrap_or(true) {
            if let Some(whole) = self.as_integer(value, place) {
                self.replace(value, whole, pointer);
            }
            return;
        }
        let mut fitting = Vec::new();
        for reading in candidates(self.schema.as_value(), place, value) {
            let before = self.coercions.len();
            let (mut candidate, wraps) = match reading {
                Candidate::Converted(candidate) => (candidate, false),
                Candidate::Wrapped(_) if self.inside_wrapped_array => continue,
                Candidate::Wrapped(candidate) => (candidate, true),
            };
            let outer = self.inside_wrapped_array;
            self.inside_wrapped_array |= wraps;
            self.descend(&mut candidate, place, pointer, false, depth);
            self.inside_wrapped_array = outer;
            let inner = self.coercions.split_off(before);
            if self.schema.admits_at(place, &candidate) == Some(true) {
                fitting.push((candidate, inner));
            }
        }
        // Two readings that both fit would be a guess.
        if fitting.len() == 1
            && let Some((candidate, inner)) = fitting.pop()
        {
            let meant = self.as_integer(&candidate, place).unwrap_or(candidate);
            self.replace(value, meant, pointer);
            self.coercions.extend(inner);
        }
    }

    fn as_integer(&self, value: &Value, place: &str) -> Option<Value> {
        let whole = as_integer(value)?;
        let kinds = type_names(self.schema.as_value(), place);
        (kinds.contains(&"integer") && !kinds.contains(&"number")).then_some(whole)
    }

    fn descend(
        &mut self,
        value: &mut Value,
        place: &str,
        pointer: &str,
        valid: bool,
        depth: usize,
    ) {
        let root = self.schema.as_value();
        match value {
            Value::Object(members) => {
                for (key, member) in members.iter_mut().take(self.remaining_visits) {
                    if let Some(place) = child_subschema_path(root, place, Ok(key)) {
                        let step = key.replace('~', "~0").replace('/', "~1");
                        self.walk(member, &place, &format!("{pointer}/{step}"), valid, depth);
                    }
                }
            }
            Value::Array(elements) => {
                for (at, element) in elements.iter_mut().enumerate().take(self.remaining_visits) {
                    if let Some(place) = child_subschema_path(root, place, Err(at)) {
                        self.walk(element, &place, &format!("{pointer}/{at}"), valid, depth);
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
