//! Unions whose alternatives can be told apart, in the form the dialect has for them.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::json_text::kind;
use crate::lower::{Draft, Impossible, LIFT, Lookup, LookupMut, Seen, Severity};

/// More alternatives, which nobody writes, are not compared each with each.
const MOST_COMPARED: usize = 200;

/// Leaves out alternatives that have become the same, and reports those that cannot be told apart when they come back.
pub(crate) fn distinct(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["anyOf"]) {
        return Ok(());
    }
    draft.walk_up(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Array(branches)) = members.find_mut("anyOf") else {
            return;
        };
        let mut ambiguous = false;
        // Most unions are of something and null.
        if !matches!(branches.as_slice(), [one, other] if is_null(one) != is_null(other)) {
            ambiguous = are_confused(branches);
            without_twins(branches);
        }
        move_behind_words(members);
        fold_single(members);
        if ambiguous {
            spot.lose("anyOf", Severity::Narrower, None);
        }
    });
    Ok(())
}

/// Whether there are two that admit the same value and read it differently.
fn are_confused(branches: &[Value]) -> bool {
    if !branches.iter().any(is_rewritten) {
        return false;
    }
    branches.len() > MOST_COMPARED
        || branches.iter().enumerate().any(|(at, one)| {
            let mut others = branches.iter().skip(at + 1);
            others.any(|other| meet(one, other) && !read_alike(one, other))
        })
}

/// Leaves out branches in which a model sees the same as in an earlier one.
fn without_twins(branches: &mut Vec<Value>) {
    if branches.len() > MOST_COMPARED {
        return;
    }
    for branch in std::mem::take(branches) {
        if !branches.iter().any(|other| look_alike(other, &branch)) {
            branches.push(branch);
        }
    }
}

/// Puts the branches last, as normal form does: lowered again, the schema is written the same.
fn move_behind_words(members: &mut Map<String, Value>) {
    let last = members.keys().rfind(|keyword| *keyword != LIFT);
    if last.is_some_and(|last| last != "anyOf")
        && let Some(branches) = members.take_out("anyOf")
    {
        members.put("anyOf", branches);
    }
}

/// For dialects in which a reference stands alone: what is told about it stands around it.
pub(crate) fn around_references(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["$ref"]) {
        return Ok(());
    }
    draft.walk(|schema, _| {
        if let Value::Object(members) = schema
            && members.has("$ref")
            && members
                .keys()
                .any(|keyword| keyword != "$ref" && keyword != LIFT)
            && let Some(reference) = members.take_out("$ref")
        {
            members.put("anyOf", json!([{ "$ref": reference }]));
        }
    });
    draft.adds(Seen::of(&["anyOf"]));
    Ok(())
}

/// For dialects in which `anyOf` must be the only field: what stands beside it moves into its branches.
pub(crate) fn alone(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["anyOf"]) {
        return Ok(());
    }
    draft.walk(|schema, _| {
        let Value::Object(members) = schema else {
            return;
        };
        if !members.has("anyOf") || members.len() == 1 {
            return;
        }
        let told = members.take_out("description");
        let nullable = members.take_out("nullable");
        let Some(Value::Array(branches)) = members.find_mut("anyOf") else {
            return;
        };
        if let Some(Value::String(told)) = told
            && !told.trim().is_empty()
        {
            for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
                let own = branch.put("description", told.as_str().into());
                tell(
                    branch,
                    own.as_ref().and_then(Value::as_str).unwrap_or_default(),
                );
            }
            // Some may have differed only in telling what all of them tell now.
            without_twins(branches);
        }
        // One that admits null is enough.
        if let (Some(nullable), Some(Value::Object(first))) = (nullable, branches.first_mut()) {
            first.put("nullable", nullable);
        }
        fold_single(members);
    });
    Ok(())
}

/// A union of one is no union.
pub(super) fn fold_single(members: &mut Map<String, Value>) {
    if let Some(Value::Array(branches)) = members.find_mut("anyOf")
        && branches.len() == 1
        && let Some(Value::Object(only)) = branches.pop()
    {
        members.take_out("anyOf");
        fold(members, only);
    }
}

/// Makes the schema that holds the last branch left of a union that branch: what the union told comes first.
pub(super) fn fold(outer: &mut Map<String, Value>, mut inner: Map<String, Value>) {
    // Words come first, as in a union: lowered again, the schema is written the same.
    if !outer.has("description")
        && let Some(told) = inner.take_out("description")
    {
        outer.put("description", told);
    }
    for (keyword, value) in inner {
        match (keyword.as_str(), value) {
            ("description", Value::String(told)) => tell(outer, &told),
            (LIFT, Value::Object(marks)) => match outer.find_mut(LIFT) {
                Some(Value::Object(known)) => known.extend(marks),
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

/// Adds sentences to a description.
fn tell(schema: &mut Map<String, Value>, more: &str) {
    let told = schema.find("description").and_then(Value::as_str);
    let told = told.unwrap_or_default().trim_end();
    let text = match (told, more.trim()) {
        (_, "") => return,
        ("", more) => more.to_owned(),
        (told, more) if told.contains(more) => return,
        (told, more) if told.ends_with(['.', '!', '?', ':']) => format!("{told} {more}"),
        (told, more) => format!("{told}. {more}"),
    };
    schema.put("description", text.into());
}

/// Whether a model sees the same in both.
fn look_alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let shown =
                |members: &Map<String, Value>| members.len() - usize::from(members.has(LIFT));
            shown(one) == shown(other)
                && one
                    .iter()
                    .filter(|(keyword, _)| *keyword != LIFT)
                    .all(|(keyword, value)| {
                        other
                            .get(keyword)
                            .is_some_and(|other| look_alike(value, other))
                    })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| look_alike(one, other))
        }
        _ => one == other,
    }
}

/// Whether some value may be meant by both; properties that an object does not declare are left out of account.
fn meet(one: &Value, other: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return true;
    };
    if let Some(Value::Array(branches)) = a.find("anyOf") {
        return branches.iter().any(|branch| meet(branch, other));
    }
    if let Some(Value::Array(branches)) = b.find("anyOf") {
        return branches.iter().any(|branch| meet(one, branch));
    }
    let both_listed = (
        a.find("enum").and_then(Value::as_array),
        b.find("enum").and_then(Value::as_array),
    );
    if let (Some(a), Some(b)) = both_listed {
        let texts: HashSet<String> = a.iter().map(Value::to_string).collect();
        return b.iter().any(|value| texts.contains(&value.to_string()));
    }
    match (kind(a), kind(b)) {
        (Some("object"), Some("object")) => lacks_nothing(a, b) && lacks_nothing(b, a),
        (Some("array"), Some("array")) => {
            let (own, others) = (own_marks(a), own_marks(b));
            // All others read an empty array as an empty array.
            own != others
                || a.find("items")
                    .zip(b.find("items"))
                    .is_none_or(|(a, b)| meet(a, b))
        }
        (Some(a), Some(b)) => {
            a == b || matches!((a, b), ("integer", "number") | ("number", "integer"))
        }
        _ => true,
    }
}

/// Whether an object of the first kind can have all that the second requires.
fn lacks_nothing(first: &Map<String, Value>, second: &Map<String, Value>) -> bool {
    let wanted = second.find("properties");
    let Some(Value::Array(required)) = second.find("required") else {
        return true;
    };
    let declared = first.find("properties").and_then(Value::as_object);
    let Some(declared) = declared.filter(|declared| !declared.is_empty()) else {
        return first.find("additionalProperties") != Some(&Value::Bool(false))
            || required.is_empty();
    };
    required.iter().filter_map(Value::as_str).all(|name| {
        let wanted = wanted.and_then(|wanted| wanted.get(name));
        declared
            .get(name)
            .is_some_and(|own| wanted.is_none_or(|wanted| meet(own, wanted)))
    })
}

/// Whether a value that both admit is read as the same by both.
fn read_alike(one: &Value, other: &Value) -> bool {
    if !is_rewritten(one) && !is_rewritten(other) {
        return true;
    }
    let (Value::Object(a), Value::Object(b)) = (one, other) else {
        return false;
    };
    if own_marks(a) != own_marks(b) {
        return false;
    }
    match (kind(a), kind(b)) {
        (Some("object"), Some("object")) => {
            let (a, b) = (a.find("properties"), b.find("properties"));
            let mut own = a.and_then(Value::as_object).into_iter().flatten();
            own.all(|(name, part)| {
                let others = b.and_then(|b| b.get(name));
                others.is_none_or(|other| read_alike(part, other))
            })
        }
        (Some("array"), Some("array")) => a
            .find("items")
            .zip(b.find("items"))
            .is_some_and(|(a, b)| read_alike(a, b)),
        _ => one == other,
    }
}

/// The marks of a schema by which its values are read.
fn own_marks(schema: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let marks = schema.find(LIFT).and_then(Value::as_object);
    marks
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_reading(name))
        .collect()
}

/// Null for what is left out is the same in all branches.
fn is_reading(mark: &str) -> bool {
    !matches!(mark, "absent" | "never_null")
}

/// Whether anything in it is read as something else.
fn is_rewritten(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(is_rewritten),
        Value::Object(members) => {
            !own_marks(members).is_empty() || members.values().any(is_rewritten)
        }
        _ => false,
    }
}

pub(super) fn is_null(branch: &Value) -> bool {
    branch.find("type").is_some_and(|kind| kind == "null")
}
