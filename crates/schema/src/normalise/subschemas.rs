//! Normalises all subschemas except properties.

use serde_json::{Value, json};

use super::{
    JsonObject, NormaliseResult, Normaliser,
    keyword_table::{KeywordValue, keyword_value},
};

/// Normalises every schema that a keyword holds.
pub(super) fn normalise_subschemas(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    let mut empty = Vec::new();
    for (keyword, value) in members.iter_mut() {
        let holds = match keyword_value(keyword) {
            Some(holds) if holds.is_schema() && keyword != "properties" => holds,
            _ => continue,
        };
        if value.is_null() || holds == KeywordValue::SchemaList && *value == json!([]) {
            normaliser.add_fix(format!("`{keyword}: {value}` dropped"));
            empty.push(keyword.clone());
            continue;
        }
        if holds == KeywordValue::SchemaList && value.is_object() {
            normaliser.add_fix(format!("a schema in `{keyword}` read as a list of one"));
            *value = Value::Array(vec![value.take()]);
        }
        normaliser.with_path_segment(keyword, |normaliser| match (holds, value) {
            (KeywordValue::Schema, value) => normalise_subschema(normaliser, value),
            (KeywordValue::SchemaList, Value::Array(elements)) => {
                let mut each = elements.iter_mut().enumerate();
                each.try_for_each(|(at, element)| {
                    normaliser.with_path_segment(&at.to_string(), |normaliser| {
                        normalise_subschema(normaliser, element)
                    })
                })
            }
            (KeywordValue::SchemaMap, Value::Object(named)) => {
                named.iter_mut().try_for_each(|(name, value)| {
                    normaliser.with_path_segment(name, |normaliser| {
                        normalise_subschema(normaliser, value)
                    })
                })
            }
            (_, other) => {
                let wanted = if holds == KeywordValue::SchemaMap { "an object" } else { "a list" };
                let shown = normaliser.excerpt(other);
                Err(normaliser.error(format!("expected {wanted} of schemas, got {shown}")))
            }
        })?;
    }
    for keyword in empty {
        members.shift_remove(&keyword);
    }
    Ok(())
}

fn normalise_subschema(normaliser: &mut Normaliser, value: &mut Value) -> NormaliseResult {
    if let Some(flag) = normaliser.normalise_schema(value)? {
        flag.note_dropped(normaliser);
    }
    Ok(())
}
