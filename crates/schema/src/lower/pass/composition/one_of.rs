//! Replaces `oneOf` by `anyOf`, which is equivalent if the alternatives are disjoint.

mod disjoint;

use serde_json::{Map, Value};

use self::disjoint::DisjointnessProver;
use super::all_of::SchemaMerger;
use crate::lower::{
    KeywordLookup, KeywordLookupMut, LowerError, LoweringState, SchemaCursor, for_each_subschema,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["oneOf"]) {
        return Ok(());
    }
    let definitions = state.schema.keyword("$defs").cloned().unwrap_or_default();
    let mut proof = DisjointnessProver::new(&definitions);
    let (schema, mut cursor) = state.root();
    visit_one_of(schema, &mut cursor, &mut proof);
    state.check_size()
}

/// Returns true if the alternatives are provably disjoint.
pub(crate) fn are_disjoint(branches: &[Value], parent: &Map<String, Value>) -> bool {
    DisjointnessProver::new(&Value::Null).all_disjoint(branches, parent)
}

fn contains_keyword(value: &Value, keywords: &[&str]) -> bool {
    match value {
        Value::Array(elements) => {
            elements.iter().any(|element| contains_keyword(element, keywords))
        }
        Value::Object(members) => members.iter().any(|(keyword, value)| {
            keywords.contains(&keyword.as_str()) || contains_keyword(value, keywords)
        }),
        _ => false,
    }
}

/// Visits a schema before its subschemas, except those in which a wider schema makes the whole narrower.
fn visit_one_of(
    schema: &mut Value,
    cursor: &mut SchemaCursor<'_>,
    proof: &mut DisjointnessProver<'_>,
) {
    let Value::Object(members) = schema else {
        return;
    };
    let has =
        |members: &Map<String, Value>, keyword: &str| members.keys().any(|key| key == keyword);
    if has(members, "oneOf")
        && let Some(Value::Array(branches)) = members.remove_keyword("oneOf")
    {
        one_of_to_any_of(members, branches, cursor, proof);
    }
    let turns_around = |keyword: &str| match keyword {
        "not" | "if" | "oneOf" => true,
        "contains" => has(members, "maxContains"),
        _ => false,
    };
    let turning: Vec<String> =
        members.keys().filter(|keyword| turns_around(keyword)).cloned().collect();
    let set_aside: Vec<Value> = turning
        .iter()
        .filter_map(|keyword| members.keyword_mut(keyword).map(std::mem::take))
        .collect();
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        visit_one_of(subschema, cursor, proof);
    });
    for (keyword, subschema) in turning.iter().zip(set_aside) {
        if let Some(place) = schema.keyword_mut(keyword) {
            *place = subschema;
        }
    }
}

fn one_of_to_any_of(
    members: &mut Map<String, Value>,
    branches: Vec<Value>,
    cursor: &mut SchemaCursor<'_>,
    proof: &mut DisjointnessProver<'_>,
) {
    let exact = proof.all_disjoint(&branches, members);
    let branches = Value::Array(branches);
    let union = match members.keyword("anyOf") {
        None => branches,
        Some(others) => match union_product(others, &branches, proof.definitions) {
            Some(both) => both,
            None => {
                // Its alternatives still count for `unevaluatedProperties`; `conditions` describes it later.
                members.set_keyword("oneOf", branches);
                return;
            }
        },
    };
    members.set_keyword("anyOf", union);
    if !exact {
        let words = "exactly one of the alternatives".to_owned();
        cursor.move_to_description(members, "oneOf", words);
    }
}

/// Each alternative of one union combined with each of the other.
fn union_product(these: &Value, those: &Value, definitions: &Value) -> Option<Value> {
    let unevaluated = ["unevaluatedProperties", "unevaluatedItems"];
    if contains_keyword(these, &unevaluated) || contains_keyword(those, &unevaluated) {
        return None;
    }
    let union = |branches: &Value| Map::from_iter([("anyOf".to_owned(), branches.clone())]);
    let mut merge = SchemaMerger::new(definitions);
    let mut both = merge.merge(union(these), union(those));
    let union = both.remove_keyword("anyOf").filter(|_| both.is_empty());
    union.filter(|_| merge.conflicts.is_empty())
}
