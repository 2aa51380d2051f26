//! A schema that is larger than the dialect allows is made smaller, if that can be done.

use std::{cmp::Reverse, collections::HashSet};

use serde_json::{Map, Value};

use super::enums;
use super::json_text::{self, kind};
use super::words::short;
use crate::dialect::Budget;
use crate::lower::{Draft, Impossible, Lookup, Parts, Severity, Spot, each_part, parts};

/// An enum of more strings is a long one.
const MANY: usize = 250;

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let budget = draft.rules.budget;
    let mut size = Size::default();
    size.add(&draft.schema, 0, &budget);
    if over(budget.depth, size.depth).is_some() {
        let most = budget.depth.unwrap_or(usize::MAX);
        let (schema, mut spot) = draft.root();
        flatten(schema, &mut spot, 0, most);
        size = Size::default();
        size.add(&draft.schema, 0, &budget);
    }
    if size.long_enum || over(budget.enum_values, size.enum_values).is_some() {
        drop_enums(draft, &budget);
        size = Size::default();
        size.add(&draft.schema, 0, &budget);
    }
    let refused = |has: usize, of: &str, most: usize| {
        Err(Impossible::new(
            "",
            format!("it has {has} {of}, of which {most} are allowed"),
        ))
    };
    if let Some(most) = over(budget.properties, size.properties) {
        return refused(size.properties, "properties", most);
    }
    if let Some(most) = over(budget.characters, size.characters) {
        return refused(
            size.characters,
            "characters in its names and enum values",
            most,
        );
    }
    Ok(())
}

/// The bound that is exceeded.
fn over(most: Option<usize>, has: usize) -> Option<usize> {
    most.filter(|most| has > *most)
}

/// How large a schema is, as its dialect counts.
#[derive(Default)]
struct Size {
    depth: usize,
    properties: usize,
    characters: usize,
    enum_values: usize,
    long_enum: bool,
}

impl Size {
    fn add(&mut self, schema: &Value, level: usize, budget: &Budget) {
        let Value::Object(members) = schema else {
            return;
        };
        let level = level + usize::from(nests(members));
        self.depth = self.depth.max(level);
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => {
                    self.properties += named.len();
                    self.name(named);
                }
                ("$defs", Value::Object(named)) => self.name(named),
                ("enum", Value::Array(values)) => {
                    self.enum_values += values.len();
                    self.characters += values.iter().map(length).sum::<usize>();
                    self.long_enum |= is_too_long(values, budget.long_enum);
                }
                _ => {}
            }
            // Each definition is counted for itself.
            let level = if keyword == "$defs" { 0 } else { level };
            match (parts(keyword), value) {
                (Parts::One | Parts::OneOrMany, Value::Object(_)) => self.add(value, level, budget),
                (Parts::Many | Parts::OneOrMany, Value::Array(parts)) => {
                    parts.iter().for_each(|part| self.add(part, level, budget));
                }
                (Parts::Named, Value::Object(parts)) => {
                    parts
                        .values()
                        .for_each(|part| self.add(part, level, budget));
                }
                _ => {}
            }
        }
    }

    fn name(&mut self, named: &Map<String, Value>) {
        self.characters += named.keys().map(String::len).sum::<usize>();
    }
}

fn nests(schema: &Map<String, Value>) -> bool {
    matches!(kind(schema), Some("array" | "object"))
}

/// Writes what lies too deep as JSON text.
fn flatten(schema: &mut Value, spot: &mut Spot<'_>, level: usize, most: usize) {
    let Value::Object(members) = schema else {
        return;
    };
    let level = level + usize::from(nests(members));
    if level > most {
        return outline(schema, spot);
    }
    each_part(schema, spot, &mut |part, spot| {
        let level = if spot.path.is_definition() { 0 } else { level };
        flatten(part, spot, level, most);
    });
    if let Value::Object(members) = schema {
        json_text::absorb(members);
    }
}

pub(super) fn outline(schema: &mut Value, spot: &mut Spot<'_>) {
    let words = format!("{}, as JSON text", short(schema));
    if let Value::Object(members) = schema {
        json_text::write(members, &words);
        spot.lose("type", Severity::Wider, Some(words));
    }
}

/// Gives up long enums, then those with the most values until the rest fits.
fn drop_enums(draft: &mut Draft, budget: &Budget) {
    let mut enums: Vec<(usize, String)> = Vec::new();
    draft.walk(|schema, spot| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Array(values)) = members.find("enum") else {
            return;
        };
        if is_too_long(values, budget.long_enum) {
            enums::give_up(members, spot);
        } else {
            enums.push((values.len(), spot.path.pointer()));
        }
    });
    let mut left = enums.iter().map(|(values, _)| values).sum();
    enums.sort_by_key(|(values, _)| Reverse(*values));
    enums.retain(|(values, _)| {
        let goes = over(budget.enum_values, left).is_some();
        left -= if goes { *values } else { 0 };
        goes
    });
    let gone: HashSet<String> = enums.into_iter().map(|(_, path)| path).collect();
    draft.walk(|schema, spot| {
        if let Value::Object(members) = schema
            && members.has("enum")
            && gone.contains(&spot.path.pointer())
        {
            enums::give_up(members, spot);
        }
    });
}

fn is_too_long(values: &[Value], most: Option<usize>) -> bool {
    values.len() > MANY
        && values.iter().all(Value::is_string)
        && over(most, values.iter().map(length).sum()).is_some()
}

/// Counted in bytes, which are never fewer than characters.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}
