//! Shrinks a schema that exceeds the size limits of the dialect, or rejects it.

use std::{cmp::Reverse, collections::HashSet};

use serde_json::{Map, Value};

use crate::dialect::SizeLimits;
use crate::lower::pass::describe::describe_schema;
use crate::lower::pass::enums;
use crate::lower::pass::json_text::{self, single_type};
use crate::lower::{
    KeywordLookup, LowerError, LoweringState, SchemaCursor, Severity, for_each_subschema,
    subschemas_of,
};

/// From this many strings on an enum has its own limit on characters.
const LONG_ENUM_THRESHOLD: usize = 250;

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let budget = state.rules.size_limits;
    let mut size = SchemaSize::default();
    size.measure(&state.schema, 0, &budget);
    if exceeded_limit(budget.max_depth, size.depth).is_some() {
        let limit = budget.max_depth.unwrap_or(usize::MAX);
        let (schema, mut cursor) = state.root();
        flatten_below_depth(schema, &mut cursor, 0, limit);
        size = SchemaSize::default();
        size.measure(&state.schema, 0, &budget);
    }
    if size.long_enum || exceeded_limit(budget.max_enum_values, size.enum_values).is_some() {
        drop_enums(state, &budget);
        size = SchemaSize::default();
        size.measure(&state.schema, 0, &budget);
    }
    let rejected = |has: usize, of: &str, limit: usize| {
        Err(LowerError::new("", format!("it has {has} {of}, of which {limit} are allowed")))
    };
    if let Some(limit) = exceeded_limit(budget.max_properties, size.properties) {
        return rejected(size.properties, "properties", limit);
    }
    if let Some(limit) = exceeded_limit(budget.max_characters, size.characters) {
        return rejected(size.characters, "characters in its names and enum values", limit);
    }
    Ok(())
}

/// The limit, if it is exceeded.
fn exceeded_limit(limit: Option<usize>, has: usize) -> Option<usize> {
    limit.filter(|limit| has > *limit)
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
    fn measure(&mut self, schema: &Value, level: usize, budget: &SizeLimits) {
        let Value::Object(members) = schema else {
            return;
        };
        let level = level + usize::from(is_container(members));
        self.depth = self.depth.max(level);
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => {
                    self.properties += named.len();
                    self.add_names(named);
                }
                ("$defs", Value::Object(named)) => self.add_names(named),
                ("enum", Value::Array(values)) => {
                    self.enum_values += values.len();
                    self.characters += values.iter().map(value_length).sum::<usize>();
                    self.long_enum |= is_too_long(values, budget.max_long_enum_characters);
                }
                _ => {}
            }
            // The depth of each definition is counted from its own root.
            let level = if keyword == "$defs" { 0 } else { level };
            for subschema in subschemas_of(keyword, value) {
                self.measure(subschema, level, budget);
            }
        }
    }

    fn add_names(&mut self, named: &Map<String, Value>) {
        self.characters += named.keys().map(String::len).sum::<usize>();
    }
}

fn is_container(schema: &Map<String, Value>) -> bool {
    matches!(single_type(schema), Some("array" | "object"))
}

/// Replaces schemas below the maximum depth by JSON text.
fn flatten_below_depth(
    schema: &mut Value,
    cursor: &mut SchemaCursor<'_>,
    level: usize,
    limit: usize,
) {
    let Value::Object(members) = schema else {
        return;
    };
    let level = level + usize::from(is_container(members));
    if level > limit {
        return replace_by_json_text(schema, cursor);
    }
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        let level = if cursor.path.is_definition() { 0 } else { level };
        flatten_below_depth(subschema, cursor, level, limit);
    });
    if let Value::Object(members) = schema {
        json_text::merge_string_branches(members);
    }
}

pub(crate) fn replace_by_json_text(schema: &mut Value, cursor: &mut SchemaCursor<'_>) {
    let description = format!("{}, as JSON text", describe_schema(schema));
    if let Value::Object(members) = schema {
        json_text::replace_by_json_text(members, &description);
        cursor.report_loss("type", Severity::Wider, Some(description));
    }
}

/// Drops enums that are too long, then the largest until the rest fits.
fn drop_enums(state: &mut LoweringState, budget: &SizeLimits) {
    let mut enums: Vec<(usize, String)> = Vec::new();
    state.visit_top_down(|schema, cursor| {
        let Value::Object(members) = schema else {
            return;
        };
        let Some(Value::Array(values)) = members.keyword("enum") else {
            return;
        };
        if is_too_long(values, budget.max_long_enum_characters) {
            enums::move_enum_to_description(members, cursor);
        } else {
            enums.push((values.len(), cursor.path.json_pointer()));
        }
    });
    let mut left = enums.iter().map(|(values, _)| values).sum();
    enums.sort_by_key(|(values, _)| Reverse(*values));
    enums.retain(|(values, _)| {
        let goes = exceeded_limit(budget.max_enum_values, left).is_some();
        left -= if goes { *values } else { 0 };
        goes
    });
    let gone: HashSet<String> = enums.into_iter().map(|(_, path)| path).collect();
    state.visit_top_down(|schema, cursor| {
        if let Value::Object(members) = schema
            && members.has_keyword("enum")
            && gone.contains(&cursor.path.json_pointer())
        {
            enums::move_enum_to_description(members, cursor);
        }
    });
}

fn is_too_long(values: &[Value], limit: Option<usize>) -> bool {
    values.len() > LONG_ENUM_THRESHOLD
        && values.iter().all(Value::is_string)
        && exceeded_limit(limit, values.iter().map(value_length).sum()).is_some()
}

/// Counted in bytes, which are never fewer than characters.
fn value_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => other.to_string().len(),
    }
}
