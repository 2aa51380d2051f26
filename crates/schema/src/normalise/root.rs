//! Handles what only the root may be: text, a list of parameters, or null.

use serde_json::{Value, json};

use crate::normalise::{
    NormaliseResult, Normaliser, bare_properties,
    keyword_table::{KeywordValue, keyword_value},
    literal_values, size_limit,
};
use crate::{InputLimits, Tape};

/// Converts the root to something that can be read as a schema.
pub(super) fn prepare_root(normaliser: &mut Normaliser, schema: &mut Value) -> NormaliseResult {
    if let Value::String(text) = schema
        && text.trim_start().starts_with(['{', '['])
    {
        let read = Tape::parse(text, &InputLimits::default())
            .map_err(|error| normaliser.error(format!("a schema as text: {error}")))?
            .to_value();
        size_limit::check_size(&read)?;
        normaliser.add_fix("text read as the JSON it holds");
        *schema = read;
    }
    match schema {
        // The usual ways to write that there are no parameters.
        Value::Null => *schema = empty_parameters(),
        Value::Object(members) if members.is_empty() => *schema = empty_parameters(),
        Value::Array(elements) if elements.is_empty() => {
            normaliser.add_fix("[] read as no parameters");
            *schema = empty_parameters();
        }
        Value::String(text) if text.trim().is_empty() => {
            normaliser.add_fix("blank text read as no parameters");
            *schema = empty_parameters();
        }
        Value::Array(_) => {
            normaliser.add_fix("a list read as the parameters of an object");
            *schema = json!({"type": "object", "properties": schema.take()});
        }
        _ => {}
    }
    Ok(())
}

/// Adds `type: object` where there are only properties, and rejects a root whose parameters were not found.
pub(super) fn finish_root(normaliser: &mut Normaliser, schema: &mut Value) -> NormaliseResult {
    let Value::Object(members) = schema else {
        return Ok(());
    };
    if members.contains_key("properties") {
        if !members.contains_key("type") {
            normaliser.add_fix("type \"object\" added: it has properties");
            members.shift_insert(0, "type".to_owned(), Value::from("object"));
            return literal_values::convert_to_type(normaliser, members);
        }
        return Ok(());
    }
    let says_nothing = |name: &String| match keyword_value(name) {
        Some(holds) => {
            holds == KeywordValue::Prose || matches!(name.as_str(), "type" | "required" | "$schema")
        }
        None => true,
    };
    let stray = members.keys().find(|name| keyword_value(name).is_none());
    match stray {
        Some(stray) if members.keys().all(says_nothing) => {
            Err(bare_properties::unknown_keyword_error(normaliser, stray))
        }
        _ => Ok(()),
    }
}

fn empty_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}
