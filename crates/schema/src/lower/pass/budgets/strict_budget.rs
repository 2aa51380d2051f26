//! Shrinks a schema that alone exceeds the limits that all strict tools of a request share.
//!
//! Optional properties become nullable, as long as the limit on unions allows it: that loses nothing. Then the largest
//! properties are replaced by JSON text.

use serde_json::{Map, Value, json};

use super::size_limits::replace_by_json_text;
use crate::lower::pass::json_text;
use crate::lower::pass::optional_as_null::allow_null_for_absent;
use crate::lower::{
    KeywordLookup, KeywordLookupMut, KeywordSet, LowerError, LoweringState, PathSegment,
    SchemaCursor, cost::schema_cost,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let budget = state.rules.strict_mode.request_budget;
    let weight = schema_cost(&state.schema);
    if let (Some(optional), Some(unions)) =
        (budget.max_optional_parameters, budget.max_union_parameters)
    {
        let mut over = weight.optional.saturating_sub(optional);
        let mut room = unions.saturating_sub(weight.unions);
        // Properties that are unions already cost no additional union.
        for cost in [0, 1] {
            if over == 0 {
                break;
            }
            state.visit_top_down(|schema, cursor| {
                if let Value::Object(members) = schema {
                    require_optional(members, cursor, cost, &mut over, &mut room);
                }
            });
        }
        state.note_added_keywords(
            KeywordSet::from_keywords(&["anyOf"]).union(KeywordSet::NULL_TYPE),
        );
    }
    loop {
        let weight = schema_cost(&state.schema);
        let over = |has: usize, limit: Option<usize>| limit.is_some_and(|limit| has > limit);
        let (optional, unions) = (
            over(weight.optional, budget.max_optional_parameters),
            over(weight.unions, budget.max_union_parameters),
        );
        if !optional && !unions {
            return Ok(());
        }
        let mut heaviest = (0, String::new());
        state.visit_top_down(|schema, cursor| {
            let path = cursor.path.json_pointer();
            let is_property = path.rsplit('/').nth(1) == Some("properties");
            let weight = schema_cost(schema);
            let own = usize::from(
                schema.keyword("anyOf").is_some()
                    || schema.keyword("type").is_some_and(Value::is_array),
            );
            let relief = usize::from(optional) * weight.optional
                + usize::from(unions) * (weight.unions + own);
            if is_property && relief > heaviest.0 {
                heaviest = (relief, path);
            }
        });
        let (relief, path) = heaviest;
        if relief == 0 {
            return Err(LowerError::new(
                "",
                format!(
                    "it has {} optional parameters and {} unions, and strict tools may have {} and {}",
                    weight.optional,
                    weight.unions,
                    budget.max_optional_parameters.unwrap_or(usize::MAX),
                    budget.max_union_parameters.unwrap_or(usize::MAX),
                ),
            ));
        }
        state.visit_top_down(|schema, cursor| {
            if cursor.path.json_pointer() == path {
                replace_by_json_text(schema, cursor);
            }
            if let Value::Object(members) = schema {
                json_text::merge_string_branches(members);
            }
        });
    }
}

/// Requires optional properties that cost `cost` unions each, while the limits make it necessary and possible.
fn require_optional(
    schema: &mut Map<String, Value>,
    cursor: &mut SchemaCursor<'_>,
    cost: usize,
    over: &mut usize,
    room: &mut usize,
) {
    let mut required = match schema.keyword("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = schema.keyword_mut("properties") else {
        return;
    };
    let before = required.len();
    for (name, subschema) in properties {
        let Value::Object(subschema) = subschema else {
            continue;
        };
        let costs = usize::from(!subschema.has_keyword("anyOf"));
        if *over == 0 || costs != cost || cost > *room || required.iter().any(|other| other == name)
        {
            continue;
        }
        allow_null_for_absent(subschema, &mut cursor.child("properties", PathSegment::Name(name)));
        required.push(json!(name));
        *over -= 1;
        *room -= cost;
    }
    if required.len() > before {
        schema.set_keyword("required", Value::Array(required));
    }
}
