//! Replaces the schemas `true` and `false` by objects, so that later passes handle only one form.

use serde_json::{Value, json};

use crate::lower::{JsonObject, KeywordSet, LowerError, LoweringState, subschemas_of_mut};

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
    state.visit_top_down(|members, _| expand_booleans(members, &mut noted));
    if noted.has_droppable_true {
        state.visit_top_down(|members, _| {
            members.retain(|keyword, value| !(noted.can_drop_true(keyword) && is_empty(value)));
        });
    }
    state.note_added_keywords(KeywordSet::from_keywords(&["not"]));
    Ok(())
}

/// The error for a root that is never valid.
pub(crate) fn never_valid_error() -> LowerError {
    LowerError::new("the schema admits no arguments at all")
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

fn expand_booleans(members: &mut JsonObject, noted: &mut BooleanUsage) {
    members.retain(|keyword, value| {
        if matches!(value, Value::Null | Value::Number(_) | Value::String(_)) {
            return true;
        }
        noted.record(keyword, value);
        match (keyword.as_str(), &value) {
            ("not", Value::Bool(false)) => return false,
            (keyword, Value::Bool(flag)) if BooleanUsage::default().can_drop_true(keyword) => {
                noted.has_droppable_true |= flag;
                if *flag {
                    *value = always_schema();
                }
            }
            _ => subschemas_of_mut(keyword, value).for_each(expand_boolean),
        }
        true
    });
}

fn expand_boolean(schema: &mut Value) {
    match schema {
        Value::Bool(true) => *schema = always_schema(),
        Value::Bool(false) => *schema = json!({"not": {}}),
        _ => {}
    }
}

fn always_schema() -> Value {
    Value::Object(JsonObject::new())
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(JsonObject::is_empty)
}
