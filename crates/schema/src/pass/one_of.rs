//! `oneOf` becomes `anyOf`, which says the same where no value fits two of the alternatives.

mod apart;

use serde_json::{Map, Value};

use self::apart::Proof;
use super::all_of::Merge;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Spot, each_part};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["oneOf"]) {
        return Ok(());
    }
    let definitions = draft.schema.find("$defs").cloned().unwrap_or_default();
    let mut proof = Proof::new(&definitions);
    let (schema, mut spot) = draft.root();
    down(schema, &mut spot, &mut proof);
    draft.bounded()
}

/// Whether no value fits two of the alternatives, as far as can be told.
pub(super) fn are_apart(branches: &[Value], around: &Map<String, Value>) -> bool {
    Proof::new(&Value::Null).all_apart(branches, around)
}

fn mentions(value: &Value, keywords: &[&str]) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| mentions(element, keywords)),
        Value::Object(members) => members.iter().any(|(keyword, value)| {
            keywords.contains(&keyword.as_str()) || mentions(value, keywords)
        }),
        _ => false,
    }
}

/// Visits a schema before the schemas in it, except those whose widening would narrow the whole.
fn down(schema: &mut Value, spot: &mut Spot<'_>, proof: &mut Proof<'_>) {
    let Value::Object(members) = schema else {
        return;
    };
    let has =
        |members: &Map<String, Value>, keyword: &str| members.keys().any(|key| key == keyword);
    if has(members, "oneOf")
        && let Some(Value::Array(branches)) = members.take_out("oneOf")
    {
        convert(members, branches, spot, proof);
    }
    let turns_around = |keyword: &str| match keyword {
        "not" | "if" | "oneOf" => true,
        "contains" => has(members, "maxContains"),
        _ => false,
    };
    let turning: Vec<String> = members
        .keys()
        .filter(|keyword| turns_around(keyword))
        .cloned()
        .collect();
    let set_aside: Vec<Value> = turning
        .iter()
        .filter_map(|keyword| members.find_mut(keyword).map(std::mem::take))
        .collect();
    each_part(schema, spot, &mut |part, spot| {
        down(part, spot, proof);
    });
    for (keyword, part) in turning.iter().zip(set_aside) {
        if let Some(place) = schema.find_mut(keyword) {
            *place = part;
        }
    }
}

fn convert(
    members: &mut Map<String, Value>,
    branches: Vec<Value>,
    spot: &mut Spot<'_>,
    proof: &mut Proof<'_>,
) {
    let exact = proof.all_apart(&branches, members);
    let branches = Value::Array(branches);
    let union = match members.find("anyOf") {
        None => branches,
        Some(others) => match joined(others, &branches, proof.definitions) {
            Some(both) => both,
            None => {
                // What its alternatives evaluate still counts; `conditions` tells it when that does not matter any more.
                members.put("oneOf", branches);
                return;
            }
        },
    };
    members.put("anyOf", union);
    if !exact {
        let words = "exactly one of the alternatives".to_owned();
        spot.spill(members, "oneOf", words);
    }
}

/// The alternatives of two unions, each with each.
fn joined(these: &Value, those: &Value, definitions: &Value) -> Option<Value> {
    let unevaluated = ["unevaluatedProperties", "unevaluatedItems"];
    if mentions(these, &unevaluated) || mentions(those, &unevaluated) {
        return None;
    }
    let union = |branches: &Value| Map::from_iter([("anyOf".to_owned(), branches.clone())]);
    let mut merge = Merge::new(definitions);
    let mut both = merge.merge(union(these), union(those));
    let union = both.take_out("anyOf").filter(|_| both.is_empty());
    union.filter(|_| merge.conflicts.is_empty())
}
