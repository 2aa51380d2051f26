//! Shrinks a schema that alone exceeds the limits that all strict tools of a request share.
//!
//! Optional properties become nullable, as long as the limit on unions allows it: that loses nothing. Then the largest
//! properties are replaced by JSON text.

use serde_json::{Value, json};

use crate::lower::pass::json_text;
use crate::lower::pass::optional_as_null::allow_null_for_absent;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, PathSegment, SchemaCost,
    SchemaCursor,
    cost::{is_union, schema_cost},
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let budget = state.rules.strict_budget;
    let (Some(max_optional), Some(max_unions)) =
        (budget.max_optional_parameters, budget.max_union_parameters)
    else {
        return Ok(());
    };
    let cost_of = |schema: &Value| schema.as_object().map(schema_cost).unwrap_or_default();
    let fits = |weight: SchemaCost| weight.optional <= max_optional && weight.unions <= max_unions;
    let weight = cost_of(&state.schema);
    if fits(weight) {
        return Ok(());
    }
    let mut over = weight.optional.saturating_sub(max_optional);
    let mut room = max_unions.saturating_sub(weight.unions);
    // Properties that are unions already cost no additional union.
    for cost in [0, 1] {
        if over > 0 {
            state.visit_top_down(|members, cursor| {
                require_optional(members, cursor, cost, &mut over, &mut room);
            });
        }
    }
    state.note_added_keywords(KeywordSet::from_keywords(&["anyOf"]).union(KeywordSet::NULL_TYPE));
    loop {
        let weight = cost_of(&state.schema);
        if fits(weight) {
            return Ok(());
        }
        let (optional, unions) = (weight.optional > max_optional, weight.unions > max_unions);
        let mut heaviest = (0, String::new());
        state.visit_top_down(|members, cursor| {
            let path = cursor.path.json_pointer();
            let is_property = path.rsplit('/').nth(1) == Some("properties");
            let weight = schema_cost(members);
            let own = usize::from(is_union(members));
            let relief = usize::from(optional) * weight.optional
                + usize::from(unions) * (weight.unions + own);
            if is_property && relief > heaviest.0 {
                heaviest = (relief, path);
            }
        });
        let (relief, path) = heaviest;
        if relief == 0 {
            return Err(LowerError::new(format!(
                "it has {} optional parameters and {} unions, and strict tools may have {max_optional} and {max_unions}",
                weight.optional, weight.unions,
            )));
        }
        state.visit_top_down(|members, cursor| {
            if cursor.path.json_pointer() == path {
                json_text::describe_as_json_text(members, cursor);
            }
            json_text::merge_string_branches(members);
        });
    }
}

/// Requires optional properties that cost `cost` unions each, while the limits make it necessary and possible.
fn require_optional(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    cost: usize,
    over: &mut usize,
    room: &mut usize,
) {
    let mut required = schema.list("required").unwrap_or_default().to_vec();
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
