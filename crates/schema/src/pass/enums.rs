//! Enums keep the kinds of values that the dialect lists; numbers and booleans are chosen by their text.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::json_text::kind;
use super::words::one_of;
use crate::dialect::Enums;
use crate::lower::{Draft, Impossible, LIFT, Lookup, LookupMut, Mark, Part, Spot, mark};
use crate::{Schema, Tape};

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let only_strings = match draft.rules.enums {
        Enums::Any => return Ok(()),
        Enums::Primitives => false,
        Enums::Strings => true,
    };
    if !draft.mentions(&["enum"]) {
        return Ok(());
    }
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        if members.has("enum") {
            alone(members, only_strings, spot);
        } else if only_strings && let Some(Value::Array(branches)) = members.find_mut("anyOf") {
            together(branches, spot);
        }
    });
    Ok(())
}

fn alone(members: &mut Map<String, Value>, only_strings: bool, spot: &mut Spot<'_>) {
    match kind(members) {
        Some("array" | "object") => give_up(members, spot),
        Some("boolean" | "integer" | "number") if only_strings => {
            as_text(members, &Texts::default(), spot);
        }
        Some("null") if only_strings => {
            members.take_out("enum");
        }
        Some("string") if only_strings && has_empty(members) => give_up(members, spot),
        _ => {}
    }
}

/// In a union a text must stand for one value only.
fn together(branches: &mut [Value], spot: &mut Spot<'_>) {
    let mut texts = Texts::default();
    let strings = |members: &&Map<String, Value>| kind(members) == Some("string");
    for branch in branches.iter().filter_map(Value::as_object).filter(strings) {
        texts.take(branch);
    }
    for (at, branch) in branches.iter_mut().enumerate() {
        if let Value::Object(members) = branch
            && members.has("enum")
            && matches!(kind(members), Some("boolean" | "integer" | "number"))
        {
            as_text(members, &texts, &mut spot.below("anyOf", Part::At(at)));
            texts.take(members);
        }
    }
}

/// The texts that mean something already.
#[derive(Default)]
struct Texts {
    all: bool,
    some: HashSet<String>,
}

impl Texts {
    fn take(&mut self, schema: &Map<String, Value>) {
        if kind(schema) != Some("string") {
            return;
        }
        match schema.find("enum") {
            Some(Value::Array(values)) if !has_empty(schema) => {
                let texts = values.iter().filter_map(Value::as_str);
                self.some.extend(texts.map(str::to_owned));
            }
            _ => self.all = true,
        }
    }

    fn holds(&self, text: &str) -> bool {
        self.all || self.some.contains(text)
    }
}

/// Makes an enum of numbers or booleans one of their texts.
fn as_text(members: &mut Map<String, Value>, taken: &Texts, spot: &mut Spot<'_>) {
    let Some((values, texts)) = admitted(members) else {
        return;
    };
    if kind(members) == Some("boolean") && values.len() == 2 {
        members.take_out("enum");
        return;
    }
    let ambiguous = texts.iter().any(|text| taken.holds(text));
    if ambiguous || texts.is_empty() {
        return give_up(members, spot);
    }
    members.retain(|keyword, _| is_plain(keyword));
    members.put("type", json!("string"));
    members.put("enum", texts.into());
    mark(members, Mark::Texts(values));
}

/// The values of an enum that the rest of the schema admits, each once, and their texts.
fn admitted(members: &Map<String, Value>) -> Option<(Vec<Value>, Vec<String>)> {
    let Some(Value::Array(listed)) = members.find("enum") else {
        return None;
    };
    let rest = (!members.keys().all(|keyword| is_plain(keyword))).then(|| {
        let mut rest = members.clone();
        rest.retain(|keyword, _| keyword != "enum" && keyword != LIFT);
        Schema::trusted(Value::Object(rest))
    });
    let admits = |value: &&Value| {
        let rest = rest.as_ref();
        rest.is_none_or(|rest| rest.is_valid(Tape::of(value).root()))
    };
    let mut seen = HashSet::new();
    Some(
        listed
            .iter()
            .filter(admits)
            .map(|value| (value.clone(), value.to_string()))
            .filter(|(_, text)| seen.insert(text.clone()))
            .unzip(),
    )
}

fn is_plain(keyword: &str) -> bool {
    matches!(keyword, "description" | "enum" | "type" | LIFT)
}

fn has_empty(members: &Map<String, Value>) -> bool {
    let values = members.find("enum").and_then(Value::as_array);
    values.is_some_and(|values| values.iter().any(|value| value == ""))
}

/// Tells an enum in words instead.
pub(super) fn give_up(members: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    if let Some(Value::Array(values)) = members.take_out("enum") {
        spot.spill(members, "enum", one_of(&values));
    }
}
