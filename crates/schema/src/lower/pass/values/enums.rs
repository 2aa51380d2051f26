//! Reduces enums to scalars, or to strings, where numbers and booleans become text.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::lower::pass::describe::describe_enum;
use crate::lower::{
    JsonObject, KeywordLookup, LIFT_KEYWORD, LiftMark, LowerError, LoweringState, PathSegment,
    SchemaCursor, add_lift_mark,
};
use crate::{Schema, Tape};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let only_strings = state.rules.enums_of_strings_only;
    if !state.contains_any_keyword(&["enum"]) {
        return Ok(());
    }
    state.visit_top_down(|members, cursor| {
        if members.has_keyword("enum") {
            rewrite_enum(members, only_strings, cursor);
        } else if only_strings && let Some(Value::Array(branches)) = members.keyword_mut("anyOf") {
            rewrite_union_enums(branches, cursor);
        }
    });
    Ok(())
}

fn rewrite_enum(members: &mut JsonObject, only_strings: bool, cursor: &mut SchemaCursor<'_>) {
    match members.text("type") {
        Some("array" | "object") => move_enum_to_description(members, cursor),
        Some("boolean" | "integer" | "number") if only_strings => {
            enum_to_strings(members, &UsedStrings::default(), cursor);
        }
        Some("null") if only_strings => {
            members.remove_keyword("enum");
        }
        Some("string") if only_strings && has_empty_string(members) => {
            move_enum_to_description(members, cursor)
        }
        _ => {}
    }
}

/// In a union a string must stand for one value only.
fn rewrite_union_enums(branches: &mut [Value], cursor: &mut SchemaCursor<'_>) {
    let mut texts = UsedStrings::default();
    let strings = |members: &&JsonObject| members.text("type") == Some("string");
    for branch in branches.iter().filter_map(Value::as_object).filter(strings) {
        texts.add(branch);
    }
    for (at, branch) in branches.iter_mut().enumerate() {
        if let Value::Object(members) = branch
            && members.has_keyword("enum")
            && matches!(members.text("type"), Some("boolean" | "integer" | "number"))
        {
            enum_to_strings(members, &texts, &mut cursor.child("anyOf", PathSegment::Index(at)));
            texts.add(members);
        }
    }
}

/// The strings that are in use already.
#[derive(Default)]
struct UsedStrings {
    any_string: bool,
    strings: HashSet<String>,
}

impl UsedStrings {
    fn add(&mut self, schema: &JsonObject) {
        if schema.text("type") != Some("string") {
            return;
        }
        match schema.keyword("enum") {
            Some(Value::Array(values)) if !has_empty_string(schema) => {
                let texts = values.iter().filter_map(Value::as_str);
                self.strings.extend(texts.map(str::to_owned));
            }
            _ => self.any_string = true,
        }
    }

    fn contains(&self, text: &str) -> bool {
        self.any_string || self.strings.contains(text)
    }
}

/// Replaces an enum of numbers or booleans by their text.
fn enum_to_strings(members: &mut JsonObject, taken: &UsedStrings, cursor: &mut SchemaCursor<'_>) {
    let Some((values, texts)) = admitted_values(members) else {
        return;
    };
    if members.text("type") == Some("boolean") && values.len() == 2 {
        members.remove_keyword("enum");
        return;
    }
    let ambiguous = texts.iter().any(|text| taken.contains(text));
    if ambiguous || texts.is_empty() {
        return move_enum_to_description(members, cursor);
    }
    members.retain(|keyword, _| is_annotation(keyword));
    members.set_keyword("type", json!("string"));
    members.set_keyword("enum", texts.into());
    add_lift_mark(members, LiftMark::EnumAsText(values));
}

/// The values of an enum that the rest of the schema accepts, without duplicates, and their texts.
fn admitted_values(members: &JsonObject) -> Option<(Vec<Value>, Vec<String>)> {
    let listed = members.list("enum")?;
    let rest = (!members.keys().all(|keyword| is_annotation(keyword))).then(|| {
        let mut rest = members.clone();
        rest.retain(|keyword, _| keyword != "enum" && keyword != LIFT_KEYWORD);
        Schema::trusted(Value::Object(rest))
    });
    let admits = |value: &&Value| {
        let rest = rest.as_ref();
        rest.is_none_or(|rest| rest.is_valid(Tape::from_value(value).root()))
    };
    let mut seen = HashSet::new();
    let admitted = listed.iter().filter(admits).map(|value| (value.clone(), value.to_string()));
    Some(admitted.filter(|(_, text)| seen.insert(text.clone())).unzip())
}

fn is_annotation(keyword: &str) -> bool {
    matches!(keyword, "description" | "enum" | "type" | LIFT_KEYWORD)
}

fn has_empty_string(members: &JsonObject) -> bool {
    members.list("enum").is_some_and(|values| values.iter().any(|value| value == ""))
}

/// Replaces an enum by its description.
pub(crate) fn move_enum_to_description(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    if let Some(Value::Array(values)) = members.remove_keyword("enum") {
        cursor.move_to_description(members, "enum", describe_enum(&values));
    }
}
