//! The schemas `true` and `false` become objects, so that later passes meet one kind of schema only.

use serde_json::{Map, Value, json};

use crate::lower::{Draft, Impossible, Parts, Seen, parts};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.has(Seen::BOOLEAN) {
        return Ok(());
    }
    match draft.schema {
        Value::Bool(true) => draft.schema = anything(),
        Value::Bool(false) => return Err(nothing_at_all()),
        _ => {}
    }
    let mut noted = Noted::default();
    draft.walk(|schema, _| {
        if let Value::Object(members) = schema {
            write_out(members, &mut noted);
        }
    });
    if noted.open {
        draft.walk(|schema, _| {
            if let Value::Object(members) = schema {
                members.retain(|keyword, value| !(noted.may_drop(keyword) && is_empty(value)));
            }
        });
    }
    draft.adds(Seen::of(&["not"]));
    Ok(())
}

/// For a schema whose root refuses everything.
pub(super) fn nothing_at_all() -> Impossible {
    Impossible::new("", "the schema admits no arguments at all")
}

/// What decides whether `true` says the same as silence.
#[derive(Default)]
struct Noted {
    /// A `true` below one of the keywords that may be left out.
    open: bool,
    unevaluated_properties: bool,
    unevaluated_items: bool,
}

impl Noted {
    fn note(&mut self, keyword: &str, value: &Value) {
        match keyword {
            "unevaluatedProperties" => self.unevaluated_properties |= *value != Value::Bool(true),
            "unevaluatedItems" => self.unevaluated_items |= *value != Value::Bool(true),
            _ => {}
        }
    }

    /// A schema that admits everything also marks everything as evaluated. What it is evaluated for may stand far away,
    /// behind a reference, so that one such keyword anywhere keeps them all.
    fn may_drop(&self, keyword: &str) -> bool {
        match keyword {
            "additionalProperties" | "unevaluatedProperties" => !self.unevaluated_properties,
            "additionalItems" | "items" | "unevaluatedItems" => !self.unevaluated_items,
            _ => false,
        }
    }
}

fn write_out(members: &mut Map<String, Value>, noted: &mut Noted) {
    members.retain(|keyword, value| {
        match value {
            Value::Null | Value::Number(_) | Value::String(_) => return true,
            _ => noted.note(keyword, value),
        }
        match value {
            Value::Bool(flag) => match parts(keyword) {
                Parts::One | Parts::OneOrMany => return one(keyword, *flag, value, noted),
                _ => return true,
            },
            Value::Array(elements) if elements.iter().any(Value::is_boolean) => {
                if matches!(parts(keyword), Parts::Many | Parts::OneOrMany) {
                    elements.iter_mut().for_each(as_object);
                }
            }
            Value::Object(named) if named.values().any(Value::is_boolean) => {
                if matches!(parts(keyword), Parts::Named) {
                    named.values_mut().for_each(as_object);
                }
            }
            _ => {}
        }
        true
    });
}

/// A boolean that is a keyword's only schema; returns whether the keyword stays.
fn one(keyword: &str, flag: bool, value: &mut Value, noted: &mut Noted) -> bool {
    match (keyword, flag) {
        ("not", false) => return false,
        (
            "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "additionalItems"
            | "unevaluatedItems",
            flag,
        ) => {
            if flag {
                noted.open = true;
                *value = anything();
            }
        }
        _ => as_object(value),
    }
    true
}

fn as_object(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = anything(),
        Value::Bool(false) => *schema = json!({"not": {}}),
        _ => {}
    }
}

fn anything() -> Value {
    Value::Object(Map::new())
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(Map::is_empty)
}
