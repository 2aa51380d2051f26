//! Rewrites tuples to arrays of a union, or to the form of Draft 7.

use serde_json::{Value, json};

use crate::lower::pass::applies_to::is_assertion;
use crate::lower::pass::conditions::{
    admits_anything, admits_nothing, any_of, as_count, describe_value, lower_maximum,
};
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, SchemaCursor, Severity,
    append_to_description,
};
use crate::text::english::truncated;

/// More elements are not described.
const MAX_DESCRIBED_ITEMS: usize = 8;

/// Longer descriptions of one element are truncated.
const MAX_SHOWN_CHARS: usize = 80;

/// For dialects without `prefixItems`.
pub(crate) fn tuples_to_arrays(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any(
        KeywordSet::NON_SCHEMA_ITEMS
            .union(KeywordSet::from_keywords(&["additionalItems", "not", "prefixItems"])),
    ) {
        return Ok(());
    }
    state.visit_top_down(|members, cursor| {
        let concerns = |(keyword, value): (&String, &Value)| match keyword.as_str() {
            "additionalItems" | "prefixItems" => true,
            "items" => value.is_array() || admits_nothing(value),
            _ => false,
        };
        if members.iter().any(concerns) {
            tuple_to_array(members, cursor);
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["anyOf", "items", "maxItems"]));
    Ok(())
}

/// For dialects with `prefixItems`: expresses `items: false` by `maxItems`.
pub(crate) fn close_tuples(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any(KeywordSet::NON_SCHEMA_ITEMS.union(KeywordSet::from_keywords(&["not"])))
    {
        return Ok(());
    }
    state.visit_top_down(|members, _| {
        if members.keyword("items").is_some_and(admits_nothing) {
            members.remove_keyword("items");
            let prefix = members.list("prefixItems").map_or(0, <[Value]>::len);
            lower_maximum(members, "maxItems", prefix as u64);
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["maxItems"]));
    Ok(())
}

fn tuple_to_array(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let (mut prefix, rest) = take_item_schemas(members);
    // An array ends before an element that is never valid.
    let end = prefix.iter().position(admits_nothing);
    prefix.truncate(end.unwrap_or(prefix.len()));
    if end.is_some() || rest.as_ref().is_some_and(admits_nothing) {
        lower_maximum(members, "maxItems", prefix.len() as u64);
    }
    let max = members.keyword("maxItems").and_then(as_count).unwrap_or(u64::MAX);
    let rest = match max > prefix.len() as u64 {
        true => Some(rest.unwrap_or_else(|| json!({}))),
        false => None,
    };
    prefix.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    if prefix.is_empty() {
        if let Some(rest) = rest.filter(|rest| !admits_anything(rest)) {
            members.set_keyword("items", rest);
        }
        return;
    }
    let text = describe_order(&prefix, rest.as_ref());
    let all: Vec<Value> = prefix.into_iter().chain(rest).collect();
    if let Some((first, others)) = all.split_first()
        && others.iter().all(|other| other == first)
    {
        if !admits_anything(first) {
            members.set_keyword("items", first.clone());
        }
        return;
    }
    let same = all.windows(2).all(|pair| {
        matches!(pair, [one, other] if without_annotations(one) == without_annotations(other))
    });
    if let Some(items) = item_union(all, same) {
        members.set_keyword("items", items);
    }
    append_to_description(members, &text);
    let severity = if same { Severity::Note } else { Severity::Wider };
    cursor.report_loss("prefixItems", severity, Some(text));
}

/// Removes the schemas by position, and the schema of the elements after them.
fn take_item_schemas(members: &mut JsonObject) -> (Vec<Value>, Option<Value>) {
    let [first, items, additional] =
        ["prefixItems", "items", "additionalItems"].map(|keyword| members.remove_keyword(keyword));
    match (first, items) {
        (_, Some(Value::Array(prefix))) => (prefix, additional),
        (Some(Value::Array(prefix)), rest) => (prefix, rest),
        (_, rest) => (Vec::new(), rest),
    }
}

/// The assertions of a schema.
fn without_annotations(schema: &Value) -> Vec<(&String, &Value)> {
    let members = schema.as_object().into_iter().flatten();
    members.filter(|(keyword, _)| is_assertion(keyword)).collect()
}

/// The schema of an element at any position; `None` if any value is valid.
fn item_union(all: Vec<Value>, same: bool) -> Option<Value> {
    if !same {
        return any_of(all.into_iter());
    }
    // Annotations only apply to their own position.
    let mut first = all.into_iter().next().filter(|first| !admits_anything(first))?;
    first.as_object_mut()?.retain(|keyword, _| is_assertion(keyword));
    Some(first)
}

/// `in this order: a string, then an integer`.
fn describe_order(prefix: &[Value], rest: Option<&Value>) -> String {
    let mut descriptions: Vec<String> =
        prefix.iter().take(MAX_DESCRIBED_ITEMS).map(describe_element).collect();
    if prefix.len() > MAX_DESCRIBED_ITEMS {
        descriptions.push("…".to_owned());
    }
    match rest {
        Some(rest) if admits_anything(rest) => descriptions.push("anything after that".to_owned()),
        Some(rest) => descriptions.push(format!("each further item {}", describe_element(rest))),
        None => {}
    }
    format!("in this order: {}", descriptions.join(", then "))
}

fn describe_element(element: &Value) -> String {
    let text = describe_value(element);
    match element.text("description") {
        Some(more) => format!("{text} ({})", truncated(more.trim(), MAX_SHOWN_CHARS)),
        None => text,
    }
}

/// For a dialect that reads schemas as Draft 7.
pub(crate) fn tuples_to_draft_7(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["prefixItems"]) {
        return Ok(());
    }
    state.visit_top_down(|members, _| {
        let Some(Value::Array(prefix)) = members.remove_keyword("prefixItems") else {
            return;
        };
        // Draft 7 has no `prefixItems` and allows no empty list; beside a list of `items` it had no effect.
        if prefix.is_empty() || members.keyword("items").is_some_and(Value::is_array) {
            return;
        }
        members.remove_keyword("additionalItems");
        if let Some(rest) = members.set_keyword("items", Value::Array(prefix)) {
            members.set_keyword("additionalItems", rest);
        }
    });
    state.invalidate_keywords();
    Ok(())
}
