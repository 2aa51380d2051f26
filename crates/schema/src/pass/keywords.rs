//! Keywords that a dialect does not read are taken out, those that bind a value told in words.

use serde_json::{Map, Value};

use super::formats;
use super::subject::{admits_all, asserts};
use super::words::{short, words};
use crate::lower::{
    Draft, Impossible, LIFT, Lookup, LookupMut, Parts, Seen, Severity, Spot, describe, parts,
};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    draft.walk(|schema, spot| {
        if let Value::Object(members) = schema {
            give_up_unread(members, spot);
        }
    });
    draft.adds(Seen::of(&["additionalProperties"]));
    Ok(())
}

/// Gives up whatever the dialect does not read of one schema.
pub(super) fn give_up_unread(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let rules = spot.rules;
    let takes = |keyword: &str| keyword == LIFT || rules.keeps(keyword);
    keep_to(members, &takes, spot);
}

/// Gives up the keywords with schemas in them that are not read, before those schemas are given another form.
pub(super) fn give_up_parts(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let rules = spot.rules;
    let takes = |keyword: &str| matches!(parts(keyword), Parts::None) || rules.keeps(keyword);
    keep_to(members, &takes, spot);
}

fn keep_to(members: &mut Map<String, Value>, takes: &impl Fn(&str) -> bool, spot: &mut Spot<'_>) {
    if members.keys().all(|keyword| takes(keyword)) {
        return;
    }
    let misled = misled(members, takes);
    give_up(
        members,
        |keyword| takes(keyword) && !misled.contains(&keyword),
        spot,
    );
}

fn give_up(members: &mut Map<String, Value>, takes: impl Fn(&str) -> bool, spot: &mut Spot<'_>) {
    let map = !members.has("properties") && !members.has("patternProperties");
    let tuple = members.has("prefixItems");
    let mut gone: Vec<(String, Value)> = Vec::new();
    members.retain(|keyword, value| {
        let stays = takes(keyword);
        if !stays && asserts(keyword) && binds(keyword, value) {
            gone.push((keyword.clone(), value.take()));
        }
        stays
    });
    // Words in one pair of brackets, losses one by one.
    let mut said = String::new();
    for (keyword, value) in gone {
        let spilled = match keyword.as_str() {
            "format" => {
                formats::give_up(members, &value, spot);
                continue;
            }
            "additionalProperties" | "unevaluatedProperties" if value == false => {
                spot.lose_closing(&keyword);
                continue;
            }
            "additionalProperties" if map && value.is_object() => {
                Some(format!("each property is {}", short(&value)))
            }
            "items" if tuple => words("additionalItems", &value),
            keyword => words(keyword, &value),
        };
        if let Some(words) = &spilled {
            said.push_str(if said.is_empty() { "" } else { "; " });
            said.push_str(words);
        }
        spot.lose(&keyword, Severity::Wider, spilled);
    }
    if !said.is_empty() {
        describe(members, &said);
    }
}

/// The keywords that would stay, but refuse too much once another is gone that they look at.
fn misled(members: &mut Map<String, Value>, takes: &impl Fn(&str) -> bool) -> Vec<&'static str> {
    let mut misled = Vec::new();
    if members.has("unevaluatedProperties") && !takes("unevaluatedProperties") {
        settle(members);
    }
    let going = |keyword: &str| members.find(keyword).filter(|_| !takes(keyword));
    if going("patternProperties").is_some_and(|value| *value != Value::Object(Map::new())) {
        misled.push("additionalProperties");
    }
    if going("prefixItems").is_some() {
        misled.push("items");
    }
    if going("minContains").and_then(Value::as_f64) == Some(0.0) {
        members.take_out("minContains");
        members.take_out("contains");
    }
    misled
}

/// Where nothing else evaluates properties, the unevaluated ones are the additional ones.
pub(super) fn settle(members: &mut Map<String, Value>) {
    const IN_PLACE: [&str; 10] = [
        "$dynamicRef",
        "$ref",
        "allOf",
        "anyOf",
        "dependentSchemas",
        "else",
        "if",
        "not",
        "oneOf",
        "then",
    ];
    if !members.has("unevaluatedProperties") || IN_PLACE.iter().any(|keyword| members.has(keyword))
    {
        return;
    }
    if let Some(rest) = members.take_out("unevaluatedProperties")
        && !members.has("additionalProperties")
    {
        members.put("additionalProperties", rest);
    }
}

/// Whether there is a value that the keyword refuses.
pub(super) fn binds(keyword: &str, value: &Value) -> bool {
    let vacuous = |schema: &Value| match schema {
        Value::Object(members) => admits_all(members),
        other => *other == Value::Bool(true),
    };
    match keyword {
        "minItems" | "minLength" | "minProperties" => value.as_f64() != Some(0.0),
        "uniqueItems" => *value != Value::Bool(false),
        "additionalItems"
        | "additionalProperties"
        | "else"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => !vacuous(value),
        "allOf" | "items" | "prefixItems" => match value {
            Value::Array(parts) => !parts.iter().all(vacuous),
            one => !vacuous(one),
        },
        "dependentSchemas" | "patternProperties" | "properties" => !value
            .as_object()
            .is_some_and(|parts| parts.values().all(vacuous)),
        "dependentRequired" => value.as_object().is_none_or(|names| !names.is_empty()),
        "required" => value.as_array().is_none_or(|names| !names.is_empty()),
        _ => true,
    }
}
