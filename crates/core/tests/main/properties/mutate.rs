//! Mutates a valid value: errors that models make, and some that they do not.

use serde_json::{Map, Number, Value};

use super::sample::{ByteRng, any_value};

/// Changes one part of the value.
pub(super) fn mutate(dice: &mut ByteRng<'_>, value: &mut Value) {
    let inside = dice.below(4) > 0;
    match value {
        Value::Object(members) if inside && !members.is_empty() => {
            let at = dice.below(members.len());
            members.values_mut().nth(at).into_iter().for_each(|it| mutate(dice, it));
        }
        Value::Array(elements) if inside && !elements.is_empty() => {
            let at = dice.below(elements.len());
            mutate(dice, &mut elements[at]);
        }
        _ => mutate_value(dice, value),
    }
}

fn mutate_value(dice: &mut ByteRng<'_>, value: &mut Value) {
    match dice.below(10) {
        0 => *value = any_value(dice, 2),
        1 => *value = Value::from(value.to_string()),
        2 => *value = Value::Array(vec![value.take()]),
        3 => *value = Value::Null,
        _ => match value {
            Value::Object(members) => mutate_members(dice, members),
            Value::Array(elements) => match dice.below(3) {
                0 => elements.push(any_value(dice, 2)),
                1 => drop(elements.pop()),
                _ => *value = elements.first().cloned().unwrap_or_default(),
            },
            Value::String(text) => {
                *value = match (dice.below(4), text.parse::<Number>()) {
                    (0, Ok(number)) => Value::Number(number),
                    (0 | 1, _) => Value::from(text.to_uppercase()),
                    (2, _) => Value::from("7"),
                    _ => Value::from(format!("{text} ")),
                }
            }
            Value::Number(number) => {
                let float = number.as_f64().unwrap_or_default();
                *value = match dice.below(5) {
                    0 => Value::from(float),
                    1 => Value::from(number.to_string()),
                    2 => Value::from(float + 0.5),
                    3 => Value::from(7),
                    _ => Value::from(-1_000_000_000_000_i64),
                }
            }
            other => *other = Value::from(other.to_string()),
        },
    }
}

fn mutate_members(dice: &mut ByteRng<'_>, members: &mut Map<String, Value>) {
    let at = dice.below(members.len());
    let key = members.keys().nth(at).cloned();
    match (dice.below(4), key) {
        (0, _) => drop(members.insert("dry_run".to_owned(), Value::Bool(true))),
        (1, Some(key)) => drop(members.shift_remove(&key)),
        (2, Some(key)) => {
            let member = members.shift_remove(&key).unwrap_or_default();
            members.insert(key.to_uppercase(), member);
        }
        (_, Some(key)) => {
            let member = members.get(&key).cloned().unwrap_or_default();
            members.insert(format!("{key}s"), member);
        }
        (_, None) => drop(members.insert("text".to_owned(), Value::Null)),
    }
}

/// Sometimes makes the text malformed, with or without a possible repair.
pub(super) fn mutate_text(dice: &mut ByteRng<'_>, text: &str) -> String {
    match dice.below(24) {
        1 => text.replacen('}', ",}", 1),
        2 => text.replace('"', "'"),
        3 => format!("```json\n{text}\n```"),
        4 => Value::from(text).to_string(),
        5 => {
            let end = dice.below(256).min(text.len());
            text[..text.floor_char_boundary(end)].to_owned()
        }
        6 => text.replacen('{', r#"{"text": 1, "text": 2, "#, 1),
        7 => text.replace(',', " ,\n\t").replace(':', " : "),
        8 => text.replace("\":", ":").replace("{\"", "{"),
        9 => text.replace("true", "True").replace("null", "None"),
        10 => {
            let at = text.floor_char_boundary(dice.below(text.len()));
            format!("{}{}{}", &text[..at], dice.pick(&["}", "\"", ",", "\\", "0"]), &text[at..])
        }
        11 => format!("\u{feff}{text}"),
        _ => text.to_owned(),
    }
}
