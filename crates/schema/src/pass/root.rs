//! The root is an object with properties, because arguments are.

use serde_json::{Map, Value, json};

use super::all_of::{Conflict, Merge, settle};
use super::subject::admits_all;
use super::words::words;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Seen, Severity, Spot};

/// What only [`single`] understands.
const NOT_AT_THE_ROOT: [&str; 8] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "enum",
    "const",
];

/// Whether the root already is one object.
pub(crate) fn is_plain(schema: &Value) -> bool {
    let speaks = |keyword: &&str| schema.find(keyword).is_some();
    schema.find("type").is_some_and(|kind| kind == "object") && !NOT_AT_THE_ROOT.iter().any(speaks)
}

/// The root names the type object; anything may stand beside it.
pub(crate) fn object(draft: &mut Draft) -> Result<(), Impossible> {
    match &mut draft.schema {
        Value::Bool(true) => draft.schema = json!({"type": "object"}),
        Value::Bool(false) => return Err(no_object()),
        Value::Object(schema) => is_object(schema)?,
        _ => {}
    }
    Ok(())
}

/// The root is one object: no reference, no alternatives, nothing that is negated.
pub(crate) fn single(draft: &mut Draft) -> Result<(), Impossible> {
    object(draft)?;
    let definitions = match is_plain(&draft.schema) {
        true => Value::Null,
        false => {
            draft.changed();
            definitions(&draft.schema)
        }
    };
    draft.adds(Seen::LIST.or(Seen::of(&["additionalProperties", "items"])));
    let (Value::Object(schema), mut spot) = draft.root() else {
        return Ok(());
    };
    let spot = &mut spot;
    // What is not evaluated is settled when everything that evaluates has come together.
    let rest = ["unevaluatedProperties", "unevaluatedItems"]
        .map(|keyword| (keyword, schema.take_out(keyword)));
    let mut alternatives = false;
    // What a reference leads to may itself be alternatives; no honest schema goes on for long.
    for _ in 0..8 {
        let before = schema.len();
        refer(schema, spot, &definitions);
        join(schema, spot, &definitions);
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(branches)) = schema.take_out(keyword) {
                flatten(schema, &branches, keyword, spot, &definitions)?;
                alternatives = true;
            }
        }
        if schema.len() == before {
            break;
        }
    }
    for keyword in NOT_AT_THE_ROOT {
        if let Some(value) = schema.take_out(keyword) {
            give_up(schema, spot, keyword, &value);
        }
    }
    for (keyword, value) in rest {
        match value {
            Some(value) if alternatives => give_up(schema, spot, keyword, &value),
            Some(value) => {
                schema.put(keyword, value);
            }
            None => {}
        }
    }
    settle(schema);
    is_object(schema)?;
    if !schema.has("properties") {
        let at = schema
            .keys()
            .position(|keyword| keyword == "type")
            .map_or(0, |at| at + 1);
        schema.shift_insert(at, "properties".to_owned(), json!({}));
    }
    Ok(())
}

/// The root says nothing but its properties; what it tells goes into the tool's description.
pub(crate) fn bare(draft: &mut Draft) -> Result<(), Impossible> {
    if let Value::Object(schema) = &mut draft.schema
        && let Some(Value::String(text)) = schema.take_out("description")
    {
        draft.remark = Some(text);
    }
    Ok(())
}

fn is_object(schema: &mut Map<String, Value>) -> Result<(), Impossible> {
    match schema.find("type") {
        Some(Value::String(kind)) if kind == "object" => return Ok(()),
        Some(Value::String(_)) => return Err(no_object()),
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "object") => {
            return Err(no_object());
        }
        Some(_) => {
            schema.put("type", json!("object"));
        }
        None => {
            schema.shift_insert(0, "type".to_owned(), json!("object"));
        }
    }
    Ok(())
}

fn no_object() -> Impossible {
    Impossible::new("", "arguments are an object, and this schema admits none")
}

/// Definitions by the name after `#/$defs/`; those of older drafts count too.
fn definitions(schema: &Value) -> Value {
    let mut all = Map::new();
    for keyword in ["definitions", "$defs"] {
        if let Some(Value::Object(some)) = schema.find(keyword) {
            all.extend(some.clone());
        }
    }
    if all.is_empty() {
        Value::Null
    } else {
        Value::Object(all)
    }
}

fn give_up(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, keyword: &str, value: &Value) {
    match words(keyword, value) {
        Some(words) => spot.spill(schema, keyword, words),
        None => spot.lose(keyword, Severity::Wider, None),
    }
}

/// Puts what the root refers to in the reference's place.
fn refer(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, definitions: &Value) {
    let target = schema
        .find("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| target(reference, definitions));
    if let Some(target) = target.cloned() {
        schema.take_out("$ref");
        add(schema, target, spot, definitions);
    }
}

fn target<'d>(reference: &str, definitions: &'d Value) -> Option<&'d Map<String, Value>> {
    let name = reference
        .strip_prefix("#/$defs/")
        .or(reference.strip_prefix("#/definitions/"))?;
    definitions.get(name)?.as_object()
}

fn join(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, definitions: &Value) {
    let Some(Value::Array(parts)) = schema.take_out("allOf") else {
        return;
    };
    for part in parts {
        match part {
            Value::Object(part) => {
                let part = match part.find("$ref").and_then(Value::as_str) {
                    Some(reference) if part.len() == 1 => {
                        target(reference, definitions).cloned().unwrap_or(part)
                    }
                    _ => part,
                };
                add(schema, part, spot, definitions);
            }
            Value::Bool(true) => {}
            other => give_up(schema, spot, "allOf", &other),
        }
    }
}

/// Says what another schema says, too.
fn add(
    schema: &mut Map<String, Value>,
    other: Map<String, Value>,
    spot: &mut Spot<'_>,
    definitions: &Value,
) {
    let mut merge = Merge::new(definitions);
    let mut whole = merge.merge(std::mem::take(schema), other);
    for Conflict { keyword, value } in merge.conflicts {
        give_up(&mut whole, spot, &keyword, &value);
    }
    *schema = whole;
}

/// Alternatives become one object: every property of each, required where all require it.
fn flatten(
    schema: &mut Map<String, Value>,
    branches: &[Value],
    keyword: &str,
    spot: &mut Spot<'_>,
    definitions: &Value,
) -> Result<(), Impossible> {
    let opened: Vec<Map<String, Value>> = branches
        .iter()
        .filter(|branch| **branch != Value::Bool(false))
        .map(|branch| match branch.find("$ref").and_then(Value::as_str) {
            Some(reference) => target(reference, definitions).cloned().unwrap_or_default(),
            None => branch.as_object().cloned().unwrap_or_default(),
        })
        .filter(admits_objects)
        .collect();
    if opened.is_empty() {
        return Err(no_object());
    }
    if keyword == "anyOf" && opened.iter().any(admits_all) {
        // One alternative admits everything, and so does the whole.
        return Ok(());
    }
    if let [only] = opened.as_slice() {
        add(schema, only.clone(), spot, definitions);
        return Ok(());
    }
    let mut properties: Map<String, Value> = Map::new();
    for (name, part) in opened
        .iter()
        .filter_map(|branch| branch.find("properties")?.as_object())
        .flatten()
    {
        let known = properties
            .entry(name.as_str())
            .or_insert_with(|| json!({"anyOf": []}));
        if let Some(Value::Array(forms)) = known.find_mut("anyOf")
            && !forms.contains(part)
        {
            forms.push(part.clone());
        }
    }
    for part in properties.values_mut() {
        unite(part);
    }
    let mut whole = Map::new();
    if !properties.is_empty() {
        whole.put("properties", Value::Object(properties));
    }
    let required = |branch: &Map<String, Value>| -> Vec<Value> {
        branch
            .find("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let mut all = opened.iter().map(required);
    let mut always = all.next().unwrap_or_default();
    for names in all {
        always.retain(|name| names.contains(name));
    }
    if !always.is_empty() {
        whole.put("required", Value::Array(always));
    }
    let closed = |branch: &Map<String, Value>| {
        branch.find("additionalProperties") == Some(&Value::Bool(false))
            && !branch.has("patternProperties")
    };
    if opened.iter().all(closed) {
        whole.put("additionalProperties", Value::Bool(false));
    }
    let silent = |branch: &Map<String, Value>| {
        let known = branch.find("properties").and_then(Value::as_object);
        let all = whole.find("properties").and_then(Value::as_object);
        !closed(branch)
            && all.is_some_and(|all| {
                all.keys()
                    .any(|name| known.is_none_or(|known| !known.contains_key(name)))
            })
    };
    if opened.iter().any(silent) {
        // An open alternative took any value for the properties that only others describe.
        spot.lose(keyword, Severity::Narrower, None);
    }
    let groups: Vec<String> = opened
        .iter()
        .map(group)
        .filter(|group| !group.is_empty())
        .collect();
    add(schema, whole, spot, definitions);
    if groups.is_empty() {
        give_up(schema, spot, keyword, &Value::Array(branches.to_vec()));
    } else {
        let words = format!("give one of these groups: {}", groups.join("; or "));
        spot.spill(schema, keyword, words);
    }
    Ok(())
}

fn admits_objects(branch: &Map<String, Value>) -> bool {
    match branch.find("type") {
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "object"),
        _ => true,
    }
}

/// The names that one alternative asks for, with the constants that tell it apart.
fn group(branch: &Map<String, Value>) -> String {
    let names = branch.find("required").and_then(Value::as_array);
    let shown: Vec<String> = names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|name| {
            let part = branch
                .find("properties")
                .and_then(|properties| properties.get(name));
            let only = part.and_then(|part| match part.find("enum").and_then(Value::as_array) {
                Some(values) if values.len() == 1 => values.first(),
                _ => part.find("const"),
            });
            match only {
                Some(value) => format!("{name} = {value}"),
                None => name.to_owned(),
            }
        })
        .collect();
    shown.join(", ")
}

/// A list of forms as one schema.
fn unite(part: &mut Value) {
    let Some(Value::Array(forms)) = part.find_mut("anyOf") else {
        return;
    };
    let values = |form: &Value| match form.find("enum") {
        Some(Value::Array(values))
            if form
                .as_object()
                .is_some_and(|form| form.keys().all(|key| TAG.contains(&key.as_str()))) =>
        {
            Some(values.clone())
        }
        _ => form.find("const").map(|value| vec![value.clone()]),
    };
    let kinds: Vec<Option<&Value>> = forms.iter().map(|form| form.find("type")).collect();
    let alike = kinds.windows(2).all(|pair| pair.first() == pair.last());
    let tags: Option<Vec<Vec<Value>>> = forms.iter().map(values).collect();
    match (forms.len(), tags) {
        (1, _) => *part = forms.pop().unwrap_or_default(),
        (_, Some(tags)) if alike => {
            let kind = kinds.first().copied().flatten().cloned();
            let mut whole = Map::new();
            if let Some(kind) = kind {
                whole.put("type", kind);
            }
            let mut all: Vec<Value> = Vec::new();
            for value in tags.into_iter().flatten() {
                if !all.contains(&value) {
                    all.push(value);
                }
            }
            whole.put("enum", Value::Array(all));
            *part = Value::Object(whole);
        }
        _ => {
            let flat: Vec<Value> = forms
                .drain(..)
                .flat_map(|form| match form.find("anyOf") {
                    Some(Value::Array(inner)) => inner.clone(),
                    _ => vec![form],
                })
                .collect();
            let any = flat
                .iter()
                .any(|form| form.as_object().is_none_or(admits_all));
            *part = if any {
                json!({})
            } else {
                json!({ "anyOf": flat })
            };
        }
    }
}

/// What a property that only tells alternatives apart consists of.
const TAG: [&str; 4] = ["const", "description", "enum", "type"];
