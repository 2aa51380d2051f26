//! Shrinks a schema that exceeds the size limits of the dialect, or rejects it.

use std::{cmp::Reverse, collections::HashSet};

use serde_json::Value;

use crate::dialect::SizeLimits;
use crate::lower::pass::enums;
use crate::lower::pass::json_text;
use crate::lower::{
    JsonObject, KeywordLookup, LowerError, LoweringState, SchemaCursor, for_each_subschema,
    subschemas_of,
};

/// From this many strings on an enum has its own limit on characters.
const LONG_ENUM_THRESHOLD: usize = 250;

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let Some(limits) = state.rules.size_limits else {
        return Ok(());
    };
    let mut size = SchemaSize::of(&state.schema, &limits);
    if size.depth > limits.max_depth {
        if let (Value::Object(schema), mut cursor) = state.root() {
            flatten_below_depth(schema, &mut cursor, 0, limits.max_depth);
        }
        size = SchemaSize::of(&state.schema, &limits);
    }
    if size.long_enum || size.enum_values > limits.max_enum_values {
        drop_enums(state, &limits);
        size = SchemaSize::of(&state.schema, &limits);
    }
    let rejected = |has: usize, of: &str, limit: usize| {
        Err(LowerError::new(format!("it has {has} {of}, of which {limit} are allowed")))
    };
    if size.properties > limits.max_properties {
        return rejected(size.properties, "properties", limits.max_properties);
    }
    if size.characters > limits.max_characters {
        let of = "characters in its names and enum values";
        return rejected(size.characters, of, limits.max_characters);
    }
    Ok(())
}

/// The size of a schema, as its dialect counts it.
#[derive(Default)]
struct SchemaSize {
    depth: usize,
    properties: usize,
    characters: usize,
    enum_values: usize,
    long_enum: bool,
}

impl SchemaSize {
    fn of(schema: &Value, limits: &SizeLimits) -> Self {
        let mut size = Self::default();
        size.measure(schema, 0, limits);
        size
    }

    fn measure(&mut self, schema: &Value, level: usize, limits: &SizeLimits) {
        let Value::Object(members) = schema else {
            return;
        };
        let level = level + usize::from(is_container(members));
        self.depth = self.depth.max(level);
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties" | "$defs", Value::Object(named)) => {
                    self.properties += if keyword == "properties" { named.len() } else { 0 };
                    self.characters += named.keys().map(String::len).sum::<usize>();
                }
                ("enum", Value::Array(values)) => {
                    self.enum_values += values.len();
                    self.characters += values.iter().map(value_length).sum::<usize>();
                    self.long_enum |= is_too_long(values, limits.max_long_enum_characters);
                }
                _ => {}
            }
            // The depth of each definition is counted from its own root.
            let level = if keyword == "$defs" { 0 } else { level };
            for subschema in subschemas_of(keyword, value) {
                self.measure(subschema, level, limits);
            }
        }
    }
}

fn is_container(schema: &JsonObject) -> bool {
    matches!(schema.text("type"), Some("array" | "object"))
}

/// Replaces schemas below the maximum depth by JSON text.
fn flatten_below_depth(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    level: usize,
    limit: usize,
) {
    let level = level + usize::from(is_container(schema));
    if level > limit {
        return json_text::describe_as_json_text(schema, cursor);
    }
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        let level = if cursor.path.is_definition() { 0 } else { level };
        flatten_below_depth(subschema, cursor, level, limit);
    });
    json_text::merge_string_branches(schema);
}

/// Drops enums that are too long, then the largest until the rest fits.
fn drop_enums(state: &mut LoweringState, limits: &SizeLimits) {
    let mut enums: Vec<(usize, String)> = Vec::new();
    state.visit_top_down(|members, cursor| {
        let Some(values) = members.list("enum") else {
            return;
        };
        if is_too_long(values, limits.max_long_enum_characters) {
            enums::move_enum_to_description(members, cursor);
        } else {
            enums.push((values.len(), cursor.path.json_pointer()));
        }
    });
    let mut left: usize = enums.iter().map(|(values, _)| values).sum();
    enums.sort_by_key(|(values, _)| Reverse(*values));
    enums.retain(|(values, _)| {
        let goes = left > limits.max_enum_values;
        left -= if goes { *values } else { 0 };
        goes
    });
    let gone: HashSet<String> = enums.into_iter().map(|(_, path)| path).collect();
    state.visit_top_down(|members, cursor| {
        if members.has_keyword("enum") && gone.contains(&cursor.path.json_pointer()) {
            enums::move_enum_to_description(members, cursor);
        }
    });
}

fn is_too_long(values: &[Value], limit: usize) -> bool {
    values.len() > LONG_ENUM_THRESHOLD
        && values.iter().all(Value::is_string)
        && values.iter().map(value_length).sum::<usize>() > limit
}

/// Counted in bytes, which are never fewer than characters.
fn value_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}
