//! Every schema gets one type, or becomes a union of schemas that each have one.

use serde_json::{Map, Value, json};

use super::all_of::{Conflict, Merge, alone};
use super::subject::{Subject, admits_all, asserts, subject, types};
use super::words::words;
use crate::lower::{Draft, Impossible, Lookup, LookupMut, Part, Severity, Spot};

/// How often what a reference brought into a union may bring in more, and in how many unions of one schema.
const MOST_OPENED: (usize, usize) = (2, 256);

/// What references lead to, and how many are still followed.
struct Opening<'d> {
    definitions: &'d Value,
    within: usize,
    left: usize,
}

pub(crate) fn run(draft: &mut Draft) -> Result<(), Impossible> {
    let definitions = match draft.schema.find("$defs") {
        // A copy of how they are now, but only where one may be opened.
        Some(definitions) if has_joined_union(&draft.schema) => definitions.clone(),
        Some(_) | None => Value::Null,
    };
    let mut opening = Opening {
        definitions: &definitions,
        within: 0,
        left: MOST_OPENED.1,
    };
    draft.walk_up(|schema, spot| {
        if let Value::Object(members) = schema {
            normal(members, spot, &mut opening);
        }
    });
    draft.bounded()
}

/// Brings one schema, whose parts are in normal form, into it.
fn normal(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, opening: &mut Opening<'_>) {
    if schema.has("anyOf") {
        union(schema, spot, opening);
    } else if !schema.has("$ref") {
        single(schema, spot);
    }
}

fn single(schema: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let named = match schema.find("type") {
        // The usual case.
        Some(Value::String(kind)) => match known(kind) {
            Some(kind) => return keep_to(schema, kind),
            None => return keep_to(schema, &kind.clone()),
        },
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ if admits_all(schema) => return,
        _ => inferred(schema, spot),
    };
    let mut names: Vec<String> = named;
    if names.is_empty() {
        return;
    }
    if names.iter().any(|name| name == "number") {
        names.retain(|name| name != "integer");
    }
    if let [only] = names.as_slice() {
        let only = only.clone();
        schema.put("type", json!(only));
        return keep_to(schema, &only);
    }
    let mut said = split(schema);
    if let Some(kinds) = said.find_mut("type") {
        // Each branch gets its own.
        *kinds = Value::Null;
    }
    let branches: Vec<Value> = names
        .iter()
        .filter_map(|name| {
            let mut branch = said.clone();
            branch.put("type", json!(name));
            keep_to(&mut branch, name);
            let empty = branch
                .find("enum")
                .and_then(Value::as_array)
                .is_some_and(Vec::is_empty);
            (!empty).then_some(Value::Object(branch))
        })
        .collect();
    put(schema, branches, spot);
}

fn known(kind: &str) -> Option<&'static str> {
    const TYPES: [&str; 7] = [
        "string", "integer", "number", "boolean", "array", "object", "null",
    ];
    TYPES.into_iter().find(|known| *known == kind)
}

/// The types that keywords speak about, when none is named: those of other types are given up.
fn inferred(schema: &Map<String, Value>, spot: &mut Spot<'_>) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for keyword in schema.keys() {
        for name in types(subject(keyword)) {
            if !names.contains(name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    spot.lose("type", Severity::Narrower, None);
    names.into_iter().map(str::to_owned).collect()
}

/// Removes what does not speak about values of this type.
fn keep_to(schema: &mut Map<String, Value>, kind: &str) {
    let speaks = |keyword: &str| match subject(keyword) {
        Subject::Every | Subject::Nothing => true,
        // Of numbers it only informs.
        Subject::Strings if keyword == "format" => matches!(kind, "string" | "integer" | "number"),
        subject => types(subject).contains(&kind),
    };
    if !schema.keys().all(|keyword| speaks(keyword)) {
        schema.retain(|keyword, _| speaks(keyword));
    }
    if let Some(Value::Array(values)) = schema.find_mut("enum")
        && !values.iter().all(|value| is_a(value, kind))
    {
        values.retain(|value| is_a(value, kind));
    }
    if kind == "array" && !schema.has("items") && !schema.has("prefixItems") {
        schema.put("items", json!({}));
    }
}

fn is_a(value: &Value, kind: &str) -> bool {
    match value {
        Value::Null => kind == "null",
        Value::Bool(_) => kind == "boolean",
        Value::String(_) => kind == "string",
        Value::Array(_) => kind == "array",
        Value::Object(_) => kind == "object",
        Value::Number(number) => {
            let whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            kind == "number" || kind == "integer" && whole
        }
    }
}

fn union(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, opening: &mut Opening<'_>) {
    let Some(Value::Array(branches)) = schema.take_out("anyOf") else {
        return;
    };
    let said = split(schema);
    let vacuous = |branch: &Value| branch.as_object().is_none_or(admits_all);
    if branches.iter().any(vacuous) || branches.is_empty() {
        // One alternative admits everything, and so does the whole.
        schema.extend(said);
        return normal(schema, spot, opening);
    }
    let mut all = Vec::new();
    for branch in branches {
        let Value::Object(mut branch) = branch else {
            continue;
        };
        if !said.is_empty() {
            let mut merge = opening.merge();
            branch = merge.merge(branch, said.clone());
            if is_nothing(&branch) {
                continue;
            }
            opening.within += 1;
            deeply_normal(&mut branch, spot, opening);
            opening.within -= 1;
            report(merge.conflicts, &mut branch, spot);
        }
        flatten(branch, &mut all);
    }
    put(schema, all, spot);
}

impl<'d> Opening<'d> {
    /// A schema that contains itself is not opened in itself for ever.
    fn merge(&mut self) -> Merge<'d> {
        if self.definitions.is_null() {
            return Merge::new(self.definitions);
        }
        match self.left.checked_sub(1) {
            Some(left) if self.within < MOST_OPENED.0 => {
                self.left = left;
                Merge::new(self.definitions)
            }
            _ => Merge::closed(self.definitions),
        }
    }
}

fn report(conflicts: Vec<Conflict>, schema: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    for Conflict { keyword, value } in conflicts {
        match words(&keyword, &value) {
            Some(words) => spot.spill(schema, &keyword, words),
            None => spot.lose(&keyword, Severity::Wider, None),
        }
    }
}

/// Merging may have brought types together anywhere below.
fn deeply_normal(schema: &mut Map<String, Value>, spot: &mut Spot<'_>, opening: &mut Opening<'_>) {
    let mut whole = Value::Object(std::mem::take(schema));
    crate::lower::up(&mut whole, spot, &mut |part, spot| {
        if let Value::Object(members) = part {
            without_nothings(members, spot);
            normal(members, spot, opening);
        }
    });
    if let Value::Object(members) = whole {
        *schema = members;
    }
}

fn is_nothing(schema: &Map<String, Value>) -> bool {
    schema.find("not").is_some_and(|not| *not == json!({}))
}

/// Takes out the properties that merging has made impossible to give.
fn without_nothings(schema: &mut Map<String, Value>, spot: &mut Spot<'_>) {
    let closed = schema.find("additionalProperties") == Some(&Value::Bool(false));
    let required = schema
        .find("required")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let Some(Value::Object(properties)) = schema.find_mut("properties") else {
        return;
    };
    properties.retain(|name, part| {
        let nothing = part.as_object().is_some_and(is_nothing);
        if nothing && (!closed || required.iter().any(|other| other == name)) {
            let mut spot = spot.below("properties", Part::Named(name));
            spot.lose("not", Severity::Wider, None);
            *part = json!({});
            return true;
        }
        !nothing
    });
}

/// Adds a branch, or the branches it consists of.
fn flatten(mut branch: Map<String, Value>, all: &mut Vec<Value>) {
    match branch.take_out("anyOf") {
        Some(Value::Array(inner)) => {
            for part in inner {
                let Value::Object(part) = part else { continue };
                let told = branch
                    .clone()
                    .into_iter()
                    .filter(|(keyword, _)| !part.contains_key(keyword));
                flatten(alone_unless_told(part.clone(), told.collect()), all);
            }
        }
        _ => {
            let branch = Value::Object(branch);
            if !all.contains(&branch) {
                all.push(branch);
            }
        }
    }
}

/// A branch that is a reference says nothing beside it: what was told there is told nowhere.
fn alone_unless_told(part: Map<String, Value>, told: Map<String, Value>) -> Map<String, Value> {
    if part.has("$ref") {
        return part;
    }
    alone(part, told)
}

/// Whether a union stands beside other assertions, so that the two have to be joined.
fn has_joined_union(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_joined_union),
        Value::Object(members) => {
            members.has("anyOf")
                && members
                    .keys()
                    .any(|keyword| keyword != "anyOf" && asserts(keyword))
                || members.values().any(has_joined_union)
        }
        _ => false,
    }
}

/// Takes the assertions out of a schema.
fn split(schema: &mut Map<String, Value>) -> Map<String, Value> {
    if admits_all(schema) {
        return Map::new();
    }
    let (said, told) = std::mem::take(schema)
        .into_iter()
        .partition(|(keyword, _)| asserts(keyword));
    *schema = told;
    said
}

/// Makes a schema that tells something the union of these; one alone is no union.
fn put(schema: &mut Map<String, Value>, mut branches: Vec<Value>, spot: &mut Spot<'_>) {
    match branches.len() {
        // There is no dialect in which a schema that admits nothing can be said.
        0 => spot.lose("not", Severity::Wider, None),
        1 => {
            let told = std::mem::take(schema);
            if let Some(Value::Object(only)) = branches.pop() {
                *schema = alone(only, told);
            }
        }
        _ => {
            schema.put("anyOf", Value::Array(branches));
        }
    }
}
