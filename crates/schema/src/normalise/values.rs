//! Values that a schema names: its options, its default, its examples.

use serde_json::{Value, json};

use super::{
    Members, Outcome, Walker,
    shapes::{flag, number},
};
use crate::{Limits, Tape};

/// Makes lists of `enum` and `examples`.
pub(super) fn make_lists(walker: &mut Walker, members: &mut Members) -> Outcome {
    match members.get_mut("enum") {
        None => {}
        Some(Value::Array(options)) if !options.is_empty() => {}
        Some(given @ (Value::Null | Value::Array(_))) => {
            walker.note(format!(
                "`enum: {given}` dropped: no value would be admitted"
            ));
            members.shift_remove("enum");
        }
        // `a, b` is several options or one: only its author knows.
        Some(Value::String(text)) if text.contains([',', '|', ';', '\n']) => {
            let message = format!("expected a list, got {}", walker.show(&json!(text)));
            return Err(walker.error_at("enum", message));
        }
        Some(given @ Value::Object(_)) => {
            let message = format!("expected a list, got {}", walker.show(given));
            return Err(walker.error_at("enum", message));
        }
        Some(given) => {
            walker.note(format!(
                "`enum: {}` read as a list of one",
                walker.show(given)
            ));
            *given = json!([given.take()]);
        }
    }
    if let Some(given) = members.get_mut("examples")
        && !given.is_array()
    {
        walker.note("`examples` read as a list of one");
        *given = json!([given.take()]);
    }
    Ok(())
}

/// Converts options and default to the type of the schema where that loses nothing.
pub(super) fn fit(walker: &mut Walker, members: &mut Members) -> Outcome {
    if !members.contains_key("enum") && !members.contains_key("default") {
        return Ok(());
    }
    let kinds: Vec<String> = match members.get("type") {
        Some(Value::String(word)) => vec![word.clone()],
        Some(Value::Array(words)) => words
            .iter()
            .filter_map(|word| word.as_str().map(str::to_owned))
            .collect(),
        _ => return Ok(()),
    };
    if let Some(Value::Array(options)) = members.get_mut("enum") {
        let unfit = convert_all(walker, options, &kinds);
        if unfit == options.len() {
            return of_elements(walker, members, &kinds);
        }
        for option in options.iter().filter(|option| !fits(option, &kinds)) {
            let (option, kinds) = (walker.show(option), kinds.join(" or "));
            walker.note(format!(
                "`enum` names {option}, which is no {kinds}: it can never be sent"
            ));
        }
    }
    let Some(default) = members.get_mut("default") else {
        return Ok(());
    };
    if fits(default, &kinds) {
        return Ok(());
    }
    let shown = walker.show(default);
    match convert(default, &kinds) {
        Some(read) => {
            walker.note(format!("`default: {shown}` read as {}", walker.show(&read)));
            *default = read;
        }
        None => walker.note(format!(
            "`default: {shown}` kept, though it is no {}",
            kinds.join(" or ")
        )),
    }
    Ok(())
}

/// Returns how many options do not fit and cannot be converted.
fn convert_all(walker: &mut Walker, options: &mut [Value], kinds: &[String]) -> usize {
    let mut unfit = 0;
    for option in options.iter_mut().filter(|option| !fits(option, kinds)) {
        match convert(option, kinds) {
            Some(read) => {
                let (from, to) = (walker.show(option), walker.show(&read));
                walker.note(format!("`enum`: {from} read as {to}"));
                *option = read;
            }
            None => unfit += 1,
        }
    }
    unfit
}

/// The options of an array are often those of its elements; any other type admits none of its options.
fn of_elements(walker: &mut Walker, members: &mut Members, kinds: &[String]) -> Outcome {
    let none_fits = |walker: &Walker| {
        let message = format!("none of the options is of type {}", kinds.join(" or "));
        Err(walker.error_at("enum", message))
    };
    if !kinds.iter().any(|kind| kind == "array") {
        return none_fits(walker);
    }
    let items = members.entry("items").or_insert_with(|| json!({}));
    let Some(items) = items
        .as_object()
        .filter(|items| !items.contains_key("enum"))
    else {
        return none_fits(walker);
    };
    let mut items = items.clone();
    let Some(options) = members.shift_remove("enum") else {
        return Ok(());
    };
    items.insert("enum".to_owned(), options);
    walker.note("`enum` read as the options of the elements");
    walker.below("items", |walker| fit(walker, &mut items))?;
    members.insert("items".to_owned(), Value::Object(items));
    Ok(())
}

fn fits(value: &Value, kinds: &[String]) -> bool {
    kinds.iter().any(|kind| match kind.as_str() {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|it| it.fract() == 0.0)
        }
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    })
}

/// The one reading of a value as one of these types.
fn convert(value: &Value, kinds: &[String]) -> Option<Value> {
    let readings = match value {
        Value::String(text) => [number(value), flag(value), container(text)],
        Value::Number(_) | Value::Bool(_) => [Some(Value::from(value.to_string())), None, None],
        _ => return None,
    };
    readings
        .into_iter()
        .flatten()
        .find(|read| fits(read, kinds))
}

/// Text that holds an object or an array.
fn container(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    Some(Tape::parse(text, &Limits::default()).ok()?.to_value())
}
