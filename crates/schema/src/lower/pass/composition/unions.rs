//! Removes duplicate alternatives of unions, and gives unions the form that the dialect has for them.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LIFT_KEYWORD, LowerError, LoweringState, Severity,
    any_object,
};

/// Larger unions, which are rare, are not compared pairwise.
const MAX_COMPARED_BRANCHES: usize = 200;

/// Removes alternatives that have become equal, and reports those that are ambiguous when arguments are lifted.
pub(crate) fn deduplicate_branches(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["anyOf"]) {
        return Ok(());
    }
    state.visit_bottom_up(|members, cursor| {
        let Some(Value::Array(branches)) = members.keyword_mut("anyOf") else {
            return;
        };
        let mut ambiguous = false;
        // Most unions are of one schema and null.
        if !matches!(branches.as_slice(), [one, other] if is_null_schema(one) != is_null_schema(other)) {
            ambiguous = are_ambiguous(branches);
            remove_duplicate_branches(branches);
        }
        move_any_of_last(members);
        unwrap_single_branch(members);
        if ambiguous {
            cursor.report_loss("anyOf", Severity::Narrower, None);
        }
    });
    Ok(())
}

/// Returns true if two branches accept the same value and lift it differently.
fn are_ambiguous(branches: &[Value]) -> bool {
    if !branches.iter().any(has_value_lift_marks) {
        return false;
    }
    branches.len() > MAX_COMPARED_BRANCHES
        || branches.iter().enumerate().any(|(at, one)| {
            let mut others = branches.iter().skip(at + 1);
            others.any(|other| may_overlap(one, other) && !lift_identically(one, other))
        })
}

/// Removes branches that look the same to a model as an earlier one.
fn remove_duplicate_branches(branches: &mut Vec<Value>) {
    if branches.len() > MAX_COMPARED_BRANCHES {
        return;
    }
    for branch in std::mem::take(branches) {
        if !branches.iter().any(|other| look_identical(other, &branch)) {
            branches.push(branch);
        }
    }
}

/// Moves the branches to the end, as in normal form, so that lowering is idempotent.
fn move_any_of_last(members: &mut JsonObject) {
    let last = members.keys().rfind(|keyword| *keyword != LIFT_KEYWORD);
    if last.is_some_and(|last| last != "anyOf")
        && let Some(branches) = members.remove_keyword("anyOf")
    {
        members.set_keyword("anyOf", branches);
    }
}

/// For dialects in which a reference may have no siblings: moves its annotations to a wrapper.
pub(crate) fn wrap_described_refs(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["$ref"]) {
        return Ok(());
    }
    state.visit_top_down(|members, _| {
        if members.has_keyword("$ref")
            && members.keys().any(|keyword| keyword != "$ref" && keyword != LIFT_KEYWORD)
            && let Some(reference) = members.remove_keyword("$ref")
        {
            members.set_keyword("anyOf", json!([{ "$ref": reference }]));
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["anyOf"]));
    Ok(())
}

/// For dialects in which `anyOf` must be the only keyword: moves its siblings into the branches.
pub(crate) fn isolate_any_of(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["anyOf"]) {
        return Ok(());
    }
    state.visit_top_down(|members, _| {
        if !members.has_keyword("anyOf") || members.len() == 1 {
            return;
        }
        let description = members.remove_keyword("description");
        let nullable = members.remove_keyword("nullable");
        let Some(Value::Array(branches)) = members.keyword_mut("anyOf") else {
            return;
        };
        if let Some(Value::String(description)) = description
            && !description.trim().is_empty()
        {
            for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                let own = branch.set_keyword("description", description.as_str().into());
                append_sentences(branch, own.as_ref().and_then(Value::as_str).unwrap_or_default());
            }
            // Some branches may have differed only in their descriptions.
            remove_duplicate_branches(branches);
        }
        // One branch that accepts null is enough.
        if let (Some(nullable), Some(Value::Object(first))) = (nullable, branches.first_mut()) {
            first.set_keyword("nullable", nullable);
        }
        unwrap_single_branch(members);
    });
    Ok(())
}

/// Replaces a union with one branch by that branch.
pub(crate) fn unwrap_single_branch(members: &mut JsonObject) {
    if let Some(Value::Array(branches)) = members.keyword_mut("anyOf")
        && branches.len() == 1
        && let Some(Value::Object(only)) = branches.pop()
    {
        members.remove_keyword("anyOf");
        merge_branch(members, only);
    }
}

/// Merges the last branch of a union into the schema that contains it; the description of the union comes first.
pub(crate) fn merge_branch(outer: &mut JsonObject, mut inner: JsonObject) {
    // The description comes first, as in a union, so that lowering is idempotent.
    if !outer.has_keyword("description")
        && let Some(description) = inner.remove_keyword("description")
    {
        outer.set_keyword("description", description);
    }
    for (keyword, value) in inner {
        match (keyword.as_str(), value) {
            ("description", Value::String(description)) => append_sentences(outer, &description),
            (LIFT_KEYWORD, Value::Object(marks)) => match outer.keyword_mut(LIFT_KEYWORD) {
                Some(Value::Object(existing)) => existing.extend(marks),
                _ => {
                    outer.insert(keyword, Value::Object(marks));
                }
            },
            (_, value) => {
                outer.insert(keyword, value);
            }
        }
    }
}

/// Appends sentences to a description.
fn append_sentences(schema: &mut JsonObject, more: &str) {
    let description = schema.text("description").unwrap_or_default().trim_end();
    let text = match (description, more.trim()) {
        (_, "") => return,
        ("", more) => more.to_owned(),
        (description, more) if description.contains(more) => return,
        (description, more) if description.ends_with(['.', '!', '?', ':']) => {
            format!("{description} {more}")
        }
        (description, more) => format!("{description}. {more}"),
    };
    schema.set_keyword("description", text.into());
}

/// Returns true if both look the same to a model.
fn look_identical(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let shown = |members: &JsonObject| {
                members.len() - usize::from(members.has_keyword(LIFT_KEYWORD))
            };
            shown(one) == shown(other)
                && one.iter().filter(|(keyword, _)| *keyword != LIFT_KEYWORD).all(
                    |(keyword, value)| {
                        other.get(keyword).is_some_and(|other| look_identical(value, other))
                    },
                )
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| look_identical(one, other))
        }
        _ => one == other,
    }
}

/// Returns true if a value may be valid for both; undeclared properties are ignored.
fn may_overlap(one: &Value, other: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return true;
    };
    if let Some(Value::Array(branches)) = a.keyword("anyOf") {
        return branches.iter().any(|branch| may_overlap(branch, other));
    }
    if let Some(Value::Array(branches)) = b.keyword("anyOf") {
        return branches.iter().any(|branch| may_overlap(one, branch));
    }
    if let (Some(a), Some(b)) = (a.list("enum"), b.list("enum")) {
        let texts: HashSet<String> = a.iter().map(Value::to_string).collect();
        return b.iter().any(|value| texts.contains(&value.to_string()));
    }
    match (a.text("type"), b.text("type")) {
        (Some("object"), Some("object")) => {
            can_satisfy_required(a, b) && can_satisfy_required(b, a)
        }
        (Some("array"), Some("array")) => {
            let (own, others) = (value_lift_marks(a), value_lift_marks(b));
            // All other forms lift an empty array as an empty array.
            own != others
                || a.keyword("items").zip(b.keyword("items")).is_none_or(|(a, b)| may_overlap(a, b))
        }
        (Some(a), Some(b)) => {
            a == b || matches!((a, b), ("integer", "number") | ("number", "integer"))
        }
        _ => true,
    }
}

/// Returns true if an object of the first schema can have all properties that the second requires.
fn can_satisfy_required(first: &JsonObject, second: &JsonObject) -> bool {
    let wanted = second.keyword("properties");
    let declared = first.object("properties");
    let Some(declared) = declared.filter(|declared| !declared.is_empty()) else {
        return !first.is_false("additionalProperties")
            || second.list("required").is_none_or(<[Value]>::is_empty);
    };
    second.required_names().all(|name| {
        let wanted = wanted.and_then(|wanted| wanted.get(name));
        declared.get(name).is_some_and(|own| wanted.is_none_or(|wanted| may_overlap(own, wanted)))
    })
}

/// Returns true if a value that is valid for both is lifted to the same value.
fn lift_identically(one: &Value, other: &Value) -> bool {
    if !has_value_lift_marks(one) && !has_value_lift_marks(other) {
        return true;
    }
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return false;
    };
    if value_lift_marks(a) != value_lift_marks(b) {
        return false;
    }
    match (a.text("type"), b.text("type")) {
        (Some("object"), Some("object")) => {
            let b = b.keyword("properties");
            let mut own = a.object("properties").into_iter().flatten();
            own.all(|(name, subschema)| {
                let others = b.and_then(|b| b.get(name));
                others.is_none_or(|other| lift_identically(subschema, other))
            })
        }
        (Some("array"), Some("array")) => {
            a.keyword("items").zip(b.keyword("items")).is_some_and(|(a, b)| lift_identically(a, b))
        }
        _ => one == other,
    }
}

/// The marks of a schema that change its values.
fn value_lift_marks(schema: &JsonObject) -> Vec<(&String, &Value)> {
    let marks = schema.object(LIFT_KEYWORD).into_iter().flatten();
    // Null for an absent property is the same in all branches.
    marks.filter(|(name, _)| !matches!(name.as_str(), "absent" | "never_null")).collect()
}

/// Returns true if any value inside changes when it is lifted.
fn has_value_lift_marks(value: &Value) -> bool {
    any_object(value, &mut |members| !value_lift_marks(members).is_empty())
}

pub(crate) fn is_null_schema(branch: &Value) -> bool {
    branch.keyword("type").is_some_and(|json_type| json_type == "null")
}
