//! The schemas below a schema, save its properties.

use serde_json::Value;

use super::{
    Members, NormaliseResult, Normaliser,
    keyword_table::{KeywordValue, keyword_value},
};

/// Mends every schema that a keyword holds.
pub(super) fn normalise_subschemas(
    walker: &mut Normaliser,
    members: &mut Members,
) -> NormaliseResult {
    let mut empty = Vec::new();
    for (keyword, value) in members.iter_mut() {
        let Some(
            holds @ (KeywordValue::Schema | KeywordValue::SchemaList | KeywordValue::SchemaMap),
        ) = keyword_value(keyword)
        else {
            continue;
        };
        let says_nothing = match value {
            Value::Null => true,
            Value::Array(elements) => holds == KeywordValue::SchemaList && elements.is_empty(),
            _ => false,
        };
        if keyword == "properties" {
            continue;
        } else if says_nothing {
            walker.add_fix(format!("`{keyword}: {value}` dropped"));
            empty.push(keyword.clone());
            continue;
        }
        if holds == KeywordValue::SchemaList && value.is_object() {
            walker.add_fix(format!("a schema in `{keyword}` read as a list of one"));
            *value = Value::Array(vec![value.take()]);
        }
        walker.with_path_segment(keyword, |walker| match (holds, value) {
            (KeywordValue::Schema, value) => normalise_subschema(walker, value),
            (KeywordValue::SchemaList, Value::Array(elements)) => {
                let mut each = elements.iter_mut().enumerate();
                each.try_for_each(|(at, element)| {
                    walker.with_path_segment(&at.to_string(), |walker| {
                        normalise_subschema(walker, element)
                    })
                })
            }
            (KeywordValue::SchemaMap, Value::Object(named)) => {
                named.iter_mut().try_for_each(|(name, value)| {
                    walker.with_path_segment(name, |walker| normalise_subschema(walker, value))
                })
            }
            (_, other) => {
                let wanted = if holds == KeywordValue::SchemaMap {
                    "an object"
                } else {
                    "a list"
                };
                let shown = walker.excerpt(other);
                Err(walker.error(format!("expected {wanted} of schemas, got {shown}")))
            }
        })?;
    }
    for keyword in empty {
        members.shift_remove(&keyword);
    }
    Ok(())
}

fn normalise_subschema(walker: &mut Normaliser, value: &mut Value) -> NormaliseResult {
    if let Some(wish) = walker.normalise_schema(value)? {
        wish.note_dropped(walker);
    }
    Ok(())
}
