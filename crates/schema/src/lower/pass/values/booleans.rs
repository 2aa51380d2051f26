//! Replaces the schemas `true` and `false` by objects, so that later passes handle only one form.

use serde_json::{Map, Value, json};

use crate::lower::{KeywordSet, LowerError, LoweringState, SubschemaShape, subschema_shape};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any(KeywordSet::BOOLEAN_SCHEMA) {
        return Ok(());
    }
    match state.schema {
        Value::Bool(true) => state.schema = always_schema(),
        Value::Bool(false) => return Err(never_valid_error()),
        _ => {}
    }
    let mut noted = BooleanUsage::default();
    state.visit_top_down(|schema, _| {
        if let Value::Object(members) = schema {
            expand_booleans(members, &mut noted);
        }
    });
    if noted.has_droppable_true {
        state.visit_top_down(|schema, _| {
            if let Value::Object(members) = schema {
                members.retain(|keyword, value| !(noted.can_drop_true(keyword) && is_empty(value)));
            }
        });
    }
    state.note_added_keywords(KeywordSet::from_keywords(&["not"]));
    Ok(())
}

/// The error for a root that is never valid.
pub(crate) fn never_valid_error() -> LowerError {
    LowerError::new("", "the schema admits no arguments at all")
}

/// What decides whether `true` can be dropped.
#[derive(Default)]
struct BooleanUsage {
    /// A `true` below one of the droppable keywords.
    has_droppable_true: bool,
    unevaluated_properties: bool,
    unevaluated_items: bool,
}

impl BooleanUsage {
    fn record(&mut self, keyword: &str, value: &Value) {
        match keyword {
            "unevaluatedProperties" => self.unevaluated_properties |= *value != Value::Bool(true),
            "unevaluatedItems" => self.unevaluated_items |= *value != Value::Bool(true),
            _ => {}
        }
    }

    /// `true` also marks everything as evaluated. The keyword that depends on it may be far away, behind a reference, so
    /// one such keyword anywhere keeps them all.
    fn can_drop_true(&self, keyword: &str) -> bool {
        match keyword {
            "additionalProperties" | "unevaluatedProperties" => !self.unevaluated_properties,
            "additionalItems" | "items" | "unevaluatedItems" => !self.unevaluated_items,
            _ => false,
        }
    }
}

fn expand_booleans(members: &mut Map<String, Value>, noted: &mut BooleanUsage) {
    members.retain(|keyword, value| {
        match value {
            Value::Null | Value::Number(_) | Value::String(_) => return true,
            _ => noted.record(keyword, value),
        }
        match value {
            Value::Bool(flag) => match subschema_shape(keyword) {
                SubschemaShape::Single | SubschemaShape::SingleOrList => {
                    return expand_keyword_boolean(keyword, *flag, value, noted);
                }
                _ => return true,
            },
            Value::Array(elements) if elements.iter().any(Value::is_boolean) => {
                if matches!(
                    subschema_shape(keyword),
                    SubschemaShape::List | SubschemaShape::SingleOrList
                ) {
                    elements.iter_mut().for_each(expand_boolean);
                }
            }
            Value::Object(named) if named.values().any(Value::is_boolean) => {
                if matches!(subschema_shape(keyword), SubschemaShape::Map) {
                    named.values_mut().for_each(expand_boolean);
                }
            }
            _ => {}
        }
        true
    });
}

/// Replaces a boolean that is a keyword's only schema; returns true if the keyword stays.
fn expand_keyword_boolean(
    keyword: &str,
    flag: bool,
    value: &mut Value,
    noted: &mut BooleanUsage,
) -> bool {
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
                noted.has_droppable_true = true;
                *value = always_schema();
            }
        }
        _ => expand_boolean(value),
    }
    true
}

fn expand_boolean(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = always_schema(),
        Value::Bool(false) => *schema = json!({"not": {}}),
        _ => {}
    }
}

fn always_schema() -> Value {
    Value::Object(Map::new())
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(Map::is_empty)
}
