//! Generates a valid value of a schema from bytes.

use serde_json::{Map, Value, json};

/// Makes choices from bytes; without any left, every choice is the first.
pub(super) struct ByteRng<'b>(std::slice::Iter<'b, u8>);

impl<'b> ByteRng<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes.iter())
    }

    pub(super) fn below(&mut self, sides: usize) -> usize {
        let byte = self.0.next().copied().unwrap_or_default();
        usize::from(byte) % sides.max(1)
    }

    pub(super) fn pick<'v, T>(&mut self, choices: &'v [T]) -> &'v T {
        &choices[self.below(choices.len())]
    }
}

const TEXTS: [&str; 12] =
    ["a", "", "Rome", "é", "5", "true", "null", "{}", "[1]", "a\"b\\c", "\u{0}\n", "${text}"];
const KEYS: [&str; 8] = ["a", "count", "text", "7", "x y", "é", "a/b~c", "Kind"];

/// Generates a valid value; smaller with the depth.
pub(super) fn valid(dice: &mut ByteRng<'_>, root: &Value, schema: &Value, depth: usize) -> Value {
    let Some(object) = schema.as_object() else {
        return any_value(dice, depth + 1);
    };
    if let Some(target) = object.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(target.trim_start_matches('#')).unwrap();
        return with_own(dice, root, object, depth, |dice| valid(dice, root, target, depth));
    }
    if let Some(only) = object.get("const") {
        return only.clone();
    }
    if let Some(options) = object.get("enum").and_then(Value::as_array) {
        return dice.pick(options).clone();
    }
    let alternatives = object.get("oneOf").or_else(|| object.get("anyOf"));
    if let Some(branches) = alternatives.and_then(Value::as_array) {
        let branch = match depth > 4 {
            // The last one is `null`, or at least does not recurse.
            true => branches.last().unwrap(),
            false => dice.pick(branches),
        };
        return with_own(dice, root, object, depth, |dice| valid(dice, root, branch, depth));
    }
    let kind = match object.get("type") {
        Some(Value::Array(kinds)) if depth > 4 => kinds.last().and_then(Value::as_str),
        Some(Value::Array(kinds)) => dice.pick(kinds).as_str(),
        Some(kind) => kind.as_str(),
        None if object.contains_key("properties") => Some("object"),
        None if depth == 0 => Some("object"),
        None => None,
    };
    match kind {
        Some("null") => Value::Null,
        Some("boolean") => Value::from(dice.below(2) == 1),
        Some("integer") => integer(dice, object),
        Some("number") => dice.pick(&[json!(0), json!(-1.5), json!(7), json!(2.25)]).clone(),
        Some("string") => Value::from(text(dice, object)),
        Some("array") => array(dice, root, object, depth),
        Some("object") => Value::Object(members(dice, root, object, depth)),
        _ => any_value(dice, depth + 1),
    }
}

/// Adds the properties of a composed schema that are outside its parts.
fn with_own(
    dice: &mut ByteRng<'_>,
    root: &Value,
    object: &Map<String, Value>,
    depth: usize,
    part: impl FnOnce(&mut ByteRng<'_>) -> Value,
) -> Value {
    let mut value = part(dice);
    if let (Value::Object(all), true) = (&mut value, object.contains_key("properties")) {
        for (key, member) in members(dice, root, object, depth) {
            all.entry(key).or_insert(member);
        }
    }
    value
}

fn integer(dice: &mut ByteRng<'_>, object: &Map<String, Value>) -> Value {
    let bound = |name: &str| object.get(name).and_then(Value::as_f64);
    let format = object.get("format").and_then(Value::as_str).unwrap_or_default();
    let least = bound("minimum").unwrap_or(if format.starts_with('u') { 0.0 } else { -3.0 });
    let most = bound("maximum").unwrap_or(1_000_000.0);
    match dice.below(6) {
        0 => Value::from(least as i64),
        1 => Value::from(most as i64),
        n => Value::from((least as i64 + n as i64).min(most as i64)),
    }
}

fn text(dice: &mut ByteRng<'_>, object: &Map<String, Value>) -> String {
    let count = |name: &str| object.get(name).and_then(Value::as_u64);
    if object.contains_key("pattern") {
        return (*dice.pick(&["AB", "ZZ"])).to_owned();
    }
    if object.get("format").is_some_and(|format| format == "date") {
        return (*dice.pick(&["2025-01-31", "1999-12-01"])).to_owned();
    }
    let fits = |text: &&&str| {
        let length = text.chars().count() as u64;
        count("minLength").is_none_or(|least| least <= length)
            && count("maxLength").is_none_or(|most| length <= most)
    };
    let fitting: Vec<&&str> = TEXTS.iter().filter(fits).collect();
    (**dice.pick(&fitting)).to_owned()
}

fn array(dice: &mut ByteRng<'_>, root: &Value, object: &Map<String, Value>, depth: usize) -> Value {
    if let Some(parts) = object.get("prefixItems").and_then(Value::as_array) {
        let part = |part| valid(dice, root, part, depth + 1);
        return parts.iter().map(part).collect();
    }
    let count = |name: &str| object.get(name).and_then(Value::as_u64);
    let least = count("minItems").unwrap_or(0) as usize;
    let most = count("maxItems").unwrap_or(3) as usize;
    let length = match depth > 4 {
        true => least,
        false => least + dice.below(most - least + 1),
    };
    let items = object.get("items").unwrap_or(&Value::Bool(true));
    let mut elements: Vec<Value> = Vec::new();
    for _ in 0..length {
        let element = valid(dice, root, items, depth + 1);
        if !object.contains_key("uniqueItems") || !elements.contains(&element) {
            elements.push(element);
        }
    }
    Value::Array(elements)
}

fn members(
    dice: &mut ByteRng<'_>,
    root: &Value,
    object: &Map<String, Value>,
    depth: usize,
) -> Map<String, Value> {
    let mut all = Map::new();
    let required = object.get("required").and_then(Value::as_array);
    let is_required = |key: &String| {
        required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(key)))
    };
    let properties = object.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        if is_required(key) || (depth <= 4 && dice.below(3) > 0) {
            all.insert(key.clone(), valid(dice, root, property, depth + 1));
        }
    }
    let patterns = object.get("patternProperties").and_then(Value::as_object);
    for member in patterns.into_iter().flatten().map(|(_, member)| member) {
        for key in ["7", "200"].iter().take(dice.below(3)) {
            all.insert((*key).to_owned(), valid(dice, root, member, depth + 1));
        }
    }
    let open = object.get("additionalProperties");
    if let Some(member) = open.filter(|member| member.is_object() && depth <= 4) {
        for _ in 0..dice.below(3) {
            let key = *dice.pick(&KEYS);
            if properties.is_none_or(|known| !known.contains_key(key)) {
                all.insert(key.to_owned(), valid(dice, root, member, depth + 1));
            }
        }
    }
    all
}

/// Generates any value, at the root mostly an object.
pub(super) fn any_value(dice: &mut ByteRng<'_>, depth: usize) -> Value {
    let kind = match depth {
        0 => [9, 9, 9, 9, 8, 3][dice.below(6)],
        1..=3 => dice.below(10),
        _ => dice.below(8),
    };
    match kind {
        0 => Value::Null,
        1 => Value::from(dice.below(2) == 1),
        2 => Value::from(dice.below(256) as i64 - 20),
        3 => Value::from(*dice.pick(&TEXTS)),
        4 => dice.pick(&[json!(5.0), json!(-0.0), json!(1e300), json!(0.1)]).clone(),
        5 => dice.pick(&[json!(u64::MAX), json!(i64::MIN), json!(1_u64 << 53)]).clone(),
        6 => json!([]),
        7 => json!({}),
        8 => (0..dice.below(4)).map(|_| any_value(dice, depth + 1)).collect(),
        _ => {
            let member = |dice: &mut ByteRng<'_>| {
                let key = *dice.pick(&["a", "b", "place", "text", "count", "kind", "t", "id"]);
                (key.to_owned(), any_value(dice, depth + 1))
            };
            let members: Map<String, Value> = (0..dice.below(4)).map(|_| member(dice)).collect();
            Value::Object(members)
        }
    }
}
