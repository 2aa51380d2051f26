//! Replaces `oneOf` by `anyOf`, which is equivalent if the alternatives are disjoint.

mod disjoint;

use serde_json::Value;

use self::disjoint::DisjointnessProver;
use super::all_of::{SchemaMerger, UNEVALUATED_KEYWORDS};
use crate::lower::{
    JsonObject, KeywordLookup, LowerError, LoweringState, SchemaCursor, any_object,
    for_each_subschema,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["oneOf"]) {
        return Ok(());
    }
    let definitions = state.schema.keyword("$defs").cloned().unwrap_or_default();
    let mut proof = DisjointnessProver::new(&definitions);
    if let (Value::Object(schema), mut cursor) = state.root() {
        visit_one_of(schema, &mut cursor, &mut proof);
    }
    state.check_size()
}

/// Returns true if the alternatives are provably disjoint.
pub(crate) fn are_disjoint(branches: &[Value], parent: &JsonObject) -> bool {
    DisjointnessProver::new(&Value::Null).all_disjoint(branches, parent)
}

/// Visits a schema before its subschemas, except those in which a wider schema makes the whole narrower.
fn visit_one_of(
    members: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    proof: &mut DisjointnessProver<'_>,
) {
    if let Some(Value::Array(branches)) = members.remove_keyword("oneOf") {
        one_of_to_any_of(members, branches, cursor, proof);
    }
    let turns_around = |keyword: &str| match keyword {
        "not" | "if" | "oneOf" => true,
        "contains" => members.has_keyword("maxContains"),
        _ => false,
    };
    let turning: Vec<String> =
        members.keys().filter(|keyword| turns_around(keyword)).cloned().collect();
    let set_aside: Vec<Value> = turning
        .iter()
        .filter_map(|keyword| members.keyword_mut(keyword).map(std::mem::take))
        .collect();
    for_each_subschema(members, cursor, &mut |subschema, cursor| {
        visit_one_of(subschema, cursor, proof);
    });
    for (keyword, subschema) in turning.iter().zip(set_aside) {
        members.set_keyword(keyword, subschema);
    }
}

fn one_of_to_any_of(
    members: &mut JsonObject,
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
    let unevaluated = &mut |members: &JsonObject| members.has_any_keyword(&UNEVALUATED_KEYWORDS);
    if any_object(these, unevaluated) || any_object(those, unevaluated) {
        return None;
    }
    let union = |branches: &Value| JsonObject::from_iter([("anyOf".to_owned(), branches.clone())]);
    let mut merge = SchemaMerger::new(definitions);
    let mut both = merge.merge(union(these), union(those));
    let union = both.remove_keyword("anyOf").filter(|_| both.is_empty());
    union.filter(|_| merge.conflicts.is_empty())
}
