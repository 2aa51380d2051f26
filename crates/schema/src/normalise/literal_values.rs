//! Normalises the values in a schema: `enum`, `default` and `examples`.

use serde_json::{Value, json};

use super::{
    JsonObject, NormaliseResult, Normaliser,
    keyword_values::{parse_bool, parse_number},
};
use crate::{arguments::coerce::parse_json_container, type_set::TypeSet};

/// Makes `enum` and `examples` lists.
pub(super) fn normalise_lists(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    match members.get_mut("enum") {
        None => {}
        Some(Value::Array(options)) if !options.is_empty() => {}
        Some(given @ (Value::Null | Value::Array(_))) => {
            normaliser.add_fix(format!("`enum: {given}` dropped: no value would be admitted"));
            members.shift_remove("enum");
        }
        Some(given) if given.is_object() || may_be_several(given) => {
            return Err(normaliser.expected("enum", "a list", given));
        }
        Some(given) => {
            normaliser
                .add_fix(format!("`enum: {}` read as a list of one", normaliser.excerpt(given)));
            *given = json!([given.take()]);
        }
    }
    if let Some(given) = members.get_mut("examples")
        && !given.is_array()
    {
        normaliser.add_fix("`examples` read as a list of one");
        *given = json!([given.take()]);
    }
    Ok(())
}

/// `a, b` is several options or one: ambiguous.
fn may_be_several(option: &Value) -> bool {
    option.as_str().is_some_and(|text| text.contains([',', '|', ';', '\n']))
}

/// Converts options and default to the type of the schema where nothing is lost.
pub(super) fn convert_to_type(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    if !members.contains_key("enum") && !members.contains_key("default") {
        return Ok(());
    }
    let types: Vec<String> = match members.get("type") {
        Some(Value::String(word)) => vec![word.clone()],
        Some(Value::Array(words)) => {
            words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
        }
        _ => return Ok(()),
    };
    if let Some(Value::Array(options)) = members.get_mut("enum") {
        let unfit = convert_options(normaliser, options, &types);
        if unfit == options.len() {
            return move_enum_to_items(normaliser, members, &types);
        }
        for option in options.iter().filter(|option| !matches_type(option, &types)) {
            let (option, types) = (normaliser.excerpt(option), types.join(" or "));
            normaliser.add_fix(format!(
                "`enum` names {option}, which is no {types}: it can never be sent"
            ));
        }
    }
    let Some(default) = members.get_mut("default") else {
        return Ok(());
    };
    if matches_type(default, &types) {
        return Ok(());
    }
    let shown = normaliser.excerpt(default);
    match convert(default, &types) {
        Some(read) => {
            normaliser.add_fix(format!("`default: {shown}` read as {}", normaliser.excerpt(&read)));
            *default = read;
        }
        None => normaliser
            .add_fix(format!("`default: {shown}` kept, though it is no {}", types.join(" or "))),
    }
    Ok(())
}

/// Returns how many options have the wrong type and cannot be converted.
fn convert_options(normaliser: &mut Normaliser, options: &mut [Value], types: &[String]) -> usize {
    let mut unfit = 0;
    for option in options.iter_mut().filter(|option| !matches_type(option, types)) {
        match convert(option, types) {
            Some(read) => {
                let (from, to) = (normaliser.excerpt(option), normaliser.excerpt(&read));
                normaliser.add_fix(format!("`enum`: {from} read as {to}"));
                *option = read;
            }
            None => unfit += 1,
        }
    }
    unfit
}

/// The options of an array are often meant for its elements; for any other type none of the options is valid.
fn move_enum_to_items(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
    types: &[String],
) -> NormaliseResult {
    let none_fits = |normaliser: &Normaliser| {
        let message = format!("none of the options is of type {}", types.join(" or "));
        Err(normaliser.error_at("enum", message))
    };
    if !types.iter().any(|json_type| json_type == "array") {
        return none_fits(normaliser);
    }
    let items = members.entry("items").or_insert_with(|| json!({}));
    let Some(items) = items.as_object().filter(|items| !items.contains_key("enum")) else {
        return none_fits(normaliser);
    };
    let mut items = items.clone();
    items.extend(members.shift_remove_entry("enum"));
    normaliser.add_fix("`enum` read as the options of the elements");
    normaliser.with_path_segment("items", |normaliser| convert_to_type(normaliser, &mut items))?;
    members.insert("items".to_owned(), Value::Object(items));
    Ok(())
}

fn matches_type(value: &Value, types: &[String]) -> bool {
    let types = TypeSet::from_names(types.iter().map(String::as_str));
    types.intersects(TypeSet::type_of(value))
}

/// The only conversion of a value to one of these types.
fn convert(value: &Value, types: &[String]) -> Option<Value> {
    let readings = match value {
        Value::String(text) => [parse_number(value), parse_bool(value), parse_json_container(text)],
        Value::Number(_) | Value::Bool(_) => [Some(Value::from(value.to_string())), None, None],
        _ => return None,
    };
    readings.into_iter().flatten().find(|read| matches_type(read, types))
}
