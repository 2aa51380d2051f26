//! A schema that alone would use more than all strict tools of a request may share says it with less.
//!
//! What may be left out becomes null, as long as there is room for unions: that loses nothing. Then the heaviest properties
//! are written as JSON text.

use serde_json::{Map, Value, json};

use super::budgets::outline;
use super::json_text;
use super::optional::may_be_absent;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Part, Seen, Spot, weigh::weigh};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let budget = draft.rules.strict.budget;
    let weight = weigh(&draft.schema);
    if let (Some(optional), Some(unions)) = (budget.optional, budget.unions) {
        let mut over = weight.optional.saturating_sub(optional);
        let mut room = unions.saturating_sub(weight.unions);
        // Those that are unions already cost none.
        for cost in [0, 1] {
            if over == 0 {
                break;
            }
            draft.walk(|schema, spot| {
                if let Value::Object(members) = schema {
                    require(members, spot, cost, &mut over, &mut room);
                }
            });
        }
        draft.adds(Seen::of(&["anyOf"]).or(Seen::NULL));
    }
    loop {
        let weight = weigh(&draft.schema);
        let over = |has: usize, most: Option<usize>| most.is_some_and(|most| has > most);
        let (optional, unions) = (
            over(weight.optional, budget.optional),
            over(weight.unions, budget.unions),
        );
        if !optional && !unions {
            return Ok(());
        }
        let mut heaviest = (0, String::new());
        draft.walk(|schema, spot| {
            let path = spot.path.pointer();
            let is_property = path.rsplit('/').nth(1) == Some("properties");
            let weight = weigh(schema);
            let own = usize::from(
                schema.find("anyOf").is_some() || schema.find("type").is_some_and(Value::is_array),
            );
            let relief = usize::from(optional) * weight.optional
                + usize::from(unions) * (weight.unions + own);
            if is_property && relief > heaviest.0 {
                heaviest = (relief, path);
            }
        });
        let (relief, path) = heaviest;
        if relief == 0 {
            return Err(Impossible::new(
                "",
                format!(
                    "it has {} optional parameters and {} unions, and strict tools may have {} and {}",
                    weight.optional,
                    weight.unions,
                    budget.optional.unwrap_or(usize::MAX),
                    budget.unions.unwrap_or(usize::MAX),
                ),
            ));
        }
        draft.walk(|schema, spot| {
            if spot.path.pointer() == path {
                outline(schema, spot);
            }
            if let Value::Object(members) = schema {
                json_text::absorb(members);
            }
        });
    }
}

/// Requires optional properties that cost so many unions, while that is needed and there is room.
fn require(
    schema: &mut Map<String, Value>,
    spot: &mut Spot<'_>,
    cost: usize,
    over: &mut usize,
    room: &mut usize,
) {
    let mut required = match schema.find("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = schema.find_mut("properties") else {
        return;
    };
    let before = required.len();
    for (name, part) in properties {
        let Value::Object(part) = part else { continue };
        let costs = usize::from(!part.has("anyOf"));
        if *over == 0 || costs != cost || cost > *room || required.iter().any(|other| other == name)
        {
            continue;
        }
        may_be_absent(part, &mut spot.below("properties", Part::Named(name)));
        required.push(json!(name));
        *over -= 1;
        *room -= cost;
    }
    if required.len() > before {
        schema.put("required", Value::Array(required));
    }
}
