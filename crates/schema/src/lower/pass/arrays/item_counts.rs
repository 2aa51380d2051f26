//! Drops the largest `maxItems` where the sum of all in a request is limited.

use serde_json::Value;

use crate::lower::pass::describe::drop_keyword;
use crate::lower::{KeywordLookup, LowerError, LoweringState, cost};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let Some(max_total) = state.rules.max_items_total else {
        return Ok(());
    };
    if !state.contains_any_keyword(&["maxItems"]) {
        return Ok(());
    }
    let mut bounds: Vec<u64> = Vec::new();
    if let Value::Object(schema) = &state.schema {
        cost::for_each_max_items(schema, &mut |bound| bounds.push(bound));
    }
    bounds.sort_unstable();
    let mut remaining = max_total;
    let exceeds = |bound: &u64| match remaining.checked_sub(*bound) {
        Some(rest) => {
            remaining = rest;
            false
        }
        None => true,
    };
    let Some(too_long) = bounds.into_iter().find(exceeds) else {
        return Ok(());
    };
    state.visit_top_down(|members, cursor| {
        let bound = members.keyword("maxItems").and_then(Value::as_u64);
        let Some(bound) = bound.filter(|bound| *bound >= too_long) else {
            return;
        };
        members.remove_keyword("maxItems");
        drop_keyword(members, cursor, "maxItems", &Value::from(bound));
    });
    Ok(())
}
