//! What only the outermost schema may be: text, a list of parameters, or nothing at all.

use serde_json::{Value, json};

use super::{
    Outcome, Walker, bound, flat, values,
    vocabulary::{Holds, holds},
};
use crate::{Limits, Tape};

/// Turns the whole into something that can be read as a schema.
pub(super) fn open(walker: &mut Walker, schema: &mut Value) -> Outcome {
    if let Value::String(text) = schema
        && text.trim_start().starts_with(['{', '['])
    {
        let read = Tape::parse(text, &Limits::default())
            .map_err(|error| walker.error(format!("a schema as text: {error}")))?
            .to_value();
        bound::check(&read)?;
        walker.note("text read as the JSON it holds");
        *schema = read;
    }
    match schema {
        // The usual ways to say that there are no parameters.
        Value::Null => *schema = no_parameters(),
        Value::Object(members) if members.is_empty() => *schema = no_parameters(),
        Value::Array(elements) if elements.is_empty() => {
            walker.note("[] read as no parameters");
            *schema = no_parameters();
        }
        Value::String(text) if text.trim().is_empty() => {
            walker.note("blank text read as no parameters");
            *schema = no_parameters();
        }
        Value::Array(_) => {
            walker.note("a list read as the parameters of an object");
            *schema = json!({"type": "object", "properties": schema.take()});
        }
        _ => {}
    }
    Ok(())
}

/// Names the type of an object that only names its properties, and refuses one whose parameters were not found.
pub(super) fn close(walker: &mut Walker, schema: &mut Value) -> Outcome {
    let Value::Object(members) = schema else {
        return Ok(());
    };
    if members.contains_key("properties") {
        if !members.contains_key("type") {
            walker.note("type \"object\" added: it has properties");
            members.shift_insert(0, "type".to_owned(), Value::from("object"));
            return values::fit(walker, members);
        }
        return Ok(());
    }
    let says_nothing = |name: &String| match holds(name) {
        Some(holds) => {
            holds == Holds::Prose || matches!(name.as_str(), "type" | "required" | "$schema")
        }
        None => true,
    };
    let stray = members.keys().find(|name| holds(name).is_none());
    match stray {
        Some(stray) if members.keys().all(says_nothing) => Err(flat::no_keyword(walker, stray)),
        _ => Ok(()),
    }
}

fn no_parameters() -> Value {
    json!({"type": "object", "properties": {}})
}
