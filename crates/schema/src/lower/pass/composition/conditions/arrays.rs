//! Conditions on the elements of arrays.

use serde_json::Value;

use super::sentences::describe_value;
use super::{
    admits_anything, admits_nothing, as_count, lower_maximum, raise_minimum, take_unsupported,
};
use crate::lower::{JsonObject, KeywordLookup, SchemaCursor};

/// Ends an array before an element that is never valid.
pub(super) fn end_before_unsatisfiable(members: &mut JsonObject) {
    let Some(Value::Array(first)) = members.keyword_mut("prefixItems") else {
        return;
    };
    let Some(end) = first.iter().position(admits_nothing) else {
        return;
    };
    first.truncate(end);
    if end == 0 {
        members.remove_keyword("prefixItems");
    }
    members.remove_keyword("items");
    lower_maximum(members, "maxItems", end as u64);
}

/// `contains`, `minContains` and `maxContains`.
pub(super) fn describe_contains(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let [contained, min, max] = ["contains", "minContains", "maxContains"]
        .map(|keyword| take_unsupported(members, cursor, keyword));
    let Some(contained) = contained else {
        return;
    };
    let min = min.as_ref().and_then(as_count).unwrap_or(1);
    let max = max.as_ref().and_then(as_count);
    if admits_anything(&contained) {
        if min > 0 {
            raise_minimum(members, "minItems", min);
        }
        if let Some(max) = max {
            lower_maximum(members, "maxItems", max);
        }
        return;
    }
    let frequency = match (min, max) {
        (0, None) => return,
        (_, Some(0)) => "no".to_owned(),
        (0, Some(max)) => format!("at most {max}"),
        (min, None) => format!("at least {min}"),
        (min, Some(max)) if min == max => format!("exactly {max}"),
        (min, Some(max)) => format!("{min} to {max}"),
    };
    let items = match max.unwrap_or(min) {
        0 | 1 => "item is",
        _ => "items are",
    };
    let words = format!("{frequency} {items} {}", describe_value(&contained));
    cursor.move_to_description(members, "contains", words);
}

pub(super) fn describe_unique_items(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let Some(Value::Bool(true)) = take_unsupported(members, cursor, "uniqueItems") else {
        return;
    };
    if members.keyword("maxItems").and_then(as_count).is_none_or(|max| max > 1) {
        cursor.move_to_description(members, "uniqueItems", "no item comes twice".to_owned());
    }
}
