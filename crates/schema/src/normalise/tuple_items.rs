//! Converts the tuples of drafts 4 to 7.

use serde_json::Value;

use super::{JsonObject, NormaliseResult, Normaliser};

/// Replaces `items` and `additionalItems` of older drafts by `prefixItems` and `items`.
pub(super) fn normalise_tuple_items(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    let is_list = members.get("items").is_some_and(Value::is_array);
    if is_list && members.contains_key("prefixItems") {
        return Err(normaliser.error_at("items", "a list of schemas beside `prefixItems`"));
    }
    if is_list && let Some(Value::Array(elements)) = members.shift_remove("items") {
        if elements.is_empty() {
            normaliser.add_fix("`items: []` dropped");
        } else {
            normaliser.add_fix("a list in `items` read as `prefixItems`");
            members.insert("prefixItems".to_owned(), Value::Array(elements));
        }
    }
    match members.shift_remove("additionalItems") {
        None => {}
        Some(rest) if members.contains_key("prefixItems") && !members.contains_key("items") => {
            normaliser.add_fix("`additionalItems` read as `items`");
            members.insert("items".to_owned(), rest);
        }
        Some(_) => normaliser
            .add_fix("`additionalItems` dropped: only after a list of items it means something"),
    }
    Ok(())
}
