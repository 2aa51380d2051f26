//! Adds `propertyOrdering`: without it Gemini writes properties in alphabetic order.

use serde_json::Value;

use crate::lower::{KeywordLookup, KeywordSet, LowerError, LoweringState};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    state.visit_top_down(|members, _| {
        let Some(Value::Object(properties)) = members.keyword("properties") else {
            return;
        };
        if properties.len() > 1 {
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            let names = Value::from(names);
            members.set_keyword("propertyOrdering", names);
        }
    });
    state.note_added_keywords(KeywordSet::OTHER_KEYWORD);
    Ok(())
}
