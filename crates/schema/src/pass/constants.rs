//! `const` becomes `enum`, and every `enum` lists only values that can occur, beside their type.

pub(crate) mod kinds;

use std::collections::HashSet;

use jsonschema::json::cmp;
use serde_json::{Map, Value, json};

use self::kinds::Kinds;
use super::booleans::nothing_at_all;
use super::subject::asserts;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Seen};

/// Fewer values are compared each with each.
const FEW: usize = 16;

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["const", "enum"]) {
        return Ok(());
    }
    let mut possible = true;
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        let mut keywords = members.keys();
        if keywords.any(|keyword| keyword == "const" || keyword == "enum") && !settle(members) {
            possible &= !spot.path.is_root();
        }
    });
    draft.adds(Seen::NULL.or(Seen::of(&["enum", "not"])));
    if possible {
        Ok(())
    } else {
        Err(nothing_at_all())
    }
}

/// Tidies `const` and `enum` of one schema; returns whether any value is left.
pub(super) fn settle(members: &mut Map<String, Value>) -> bool {
    let only = members.take_out("const");
    let listed = match members.find_mut("enum") {
        Some(Value::Array(values)) => Some(std::mem::take(values)),
        _ => None,
    };
    let mut values = match (only, listed) {
        (Some(only), Some(listed)) if listed.iter().any(|value| cmp::equal(value, &only)) => {
            vec![only]
        }
        (Some(_), Some(_)) => Vec::new(),
        (Some(only), None) => vec![only],
        (None, Some(listed)) => listed,
        (None, None) => return true,
    };
    let admitted = members.find("type").map_or(Kinds::ALL, Kinds::named);
    values.retain(|value| admitted.has(Kinds::of(value)));
    drop_repeated(&mut values);
    if values.is_empty() {
        refuse_all(members);
        return false;
    }
    if !members.find("type").is_some_and(Value::is_string) {
        let kinds = values
            .iter()
            .fold(Kinds::NONE, |all, value| all.or(Kinds::of(value)));
        // Numbers that are not whole have no type of their own; the list of values decides anyway.
        let kinds = if kinds.has(Kinds::FRACTION) {
            kinds.or(Kinds::WHOLE)
        } else {
            kinds
        };
        if let Some(kind) = kinds.as_type() {
            members.put("type", kind);
        }
    }
    members.put("enum", Value::Array(values));
    true
}

/// Leaves only what informs, and that nothing is admitted.
pub(super) fn refuse_all(members: &mut Map<String, Value>) {
    members.retain(|keyword, _| !asserts(keyword));
    members.put("not", json!({}));
}

fn drop_repeated(values: &mut Vec<Value>) {
    if values.len() > FEW {
        // `1` and `1.0` both stay, which does no harm.
        let mut seen = HashSet::new();
        values.retain(|value| seen.insert(value.to_string()));
        return;
    }
    let mut at = 1;
    while let Some(value) = values.get(at) {
        if values.iter().take(at).any(|other| cmp::equal(other, value)) {
            values.remove(at);
        } else {
            at += 1;
        }
    }
}
