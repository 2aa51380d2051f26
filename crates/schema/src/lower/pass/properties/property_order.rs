//! Adds `propertyOrdering`: without it Gemini writes properties in alphabetic order.

use serde_json::Value;

use crate::lower::{KeywordLookup, KeywordSet, LowerError, LoweringState};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    state.visit_top_down(|members, _| {
        let properties = members.object("properties").filter(|properties| properties.len() > 1);
        if let Some(properties) = properties {
            let names = properties.keys().map(|name| Value::from(name.as_str())).collect();
            members.set_keyword("propertyOrdering", names);
        }
    });
    state.note_added_keywords(KeywordSet::OTHER_KEYWORD);
    Ok(())
}
