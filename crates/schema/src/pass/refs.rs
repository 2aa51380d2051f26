//! References are written out; a schema that contains itself is cut, or kept under `$defs` where the dialect follows it.

mod index;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use self::index::{Index, Place};
use super::all_of::{alone, nothing};
use super::root;
use super::subject::{admits_all, asserts};
use crate::lower::{
    Draft, Impossible, Lookup, LookupMut, MOST_NODES, Part, Parts, Path, Severity, parts, too_large,
};

/// How much of a recursion is shown, until an attempt is small enough: how often a schema within itself, and how many references
/// deep schemas that contain themselves.
const ATTEMPTS: [(usize, usize); 6] = [
    (2, DEEPEST),
    (1, DEEPEST),
    (0, DEEPEST),
    (0, 4),
    (0, 2),
    (0, 1),
];

/// How many schemas are small enough; the last attempt may be larger.
const COMFORTABLE: usize = 2_000;

/// References within references, and schemas within schemas, that are followed.
const DEEPEST: usize = 128;

/// For dialects that cannot follow references: a recursion ends after a few rounds in anything of its type.
pub(crate) fn inline(draft: &mut Draft) -> Result<(), Impossible> {
    write_out(draft, false)
}

/// For dialects that follow `#/$defs/NAME`: only schemas that contain themselves stay there.
pub(crate) fn hoist(draft: &mut Draft) -> Result<(), Impossible> {
    write_out(draft, true)
}

/// For dialects that take any schema: references are left as they are, unless one is more than a path from the root.
pub(crate) fn local(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["$ref", "$dynamicRef", "$id"])
        || is_local(&draft.schema, true, root::is_plain(&draft.schema))
    {
        return Ok(());
    }
    hoist(draft)
}

/// Whether every reference is a path, and no part of the schema is a document of its own.
///
/// A root that is not plain will be changed: only names of its definitions lead to the same then.
fn is_local(value: &Value, is_root: bool, plain: bool) -> bool {
    let leads = |to: &str| match plain {
        true => to == "#" || to.starts_with("#/"),
        false => to
            .strip_prefix("#/$defs/")
            .is_some_and(|name| !name.contains(['/', '~', '%'])),
    };
    // Where the root changes, what stands beside a reference would have to be joined with its target.
    let beside = |members: &Map<String, Value>| {
        !plain
            && !is_root
            && members.has("$ref")
            && members
                .keys()
                .any(|keyword| keyword != "$ref" && asserts(keyword))
    };
    match value {
        Value::Array(elements) => elements
            .iter()
            .all(|element| is_local(element, false, plain)),
        Value::Object(members) => {
            !beside(members)
                && members
                    .iter()
                    .all(|(keyword, value)| match (keyword.as_str(), value) {
                        ("$ref", Value::String(to)) => leads(to),
                        ("$dynamicRef", Value::String(_)) => false,
                        ("$id", Value::String(_)) => is_root,
                        _ => is_local(value, false, plain),
                    })
        }
        _ => true,
    }
}

/// Takes out the definitions that nothing refers to any more.
pub(crate) fn prune(draft: &mut Draft) -> Result<(), Impossible> {
    if !draft.mentions(&["$defs"]) {
        return Ok(());
    }
    let Value::Object(members) = &mut draft.schema else {
        return Ok(());
    };
    let Some(Value::Object(mut definitions)) = members.take_out("$defs") else {
        return Ok(());
    };
    let mut used = HashSet::new();
    referred(&draft.schema, &mut used);
    let mut next: Vec<String> = used.iter().cloned().collect();
    while let Some(name) = next.pop() {
        let mut more = HashSet::new();
        if let Some(definition) = definitions.get(&name) {
            referred(definition, &mut more);
        }
        next.extend(more.difference(&used).cloned());
        used.extend(more);
    }
    definitions.retain(|name, _| used.contains(name));
    if let (Value::Object(members), false) = (&mut draft.schema, definitions.is_empty()) {
        members.put("$defs", Value::Object(definitions));
    }
    Ok(())
}

/// Collects the names of the definitions that a schema refers to.
fn referred(value: &Value, names: &mut HashSet<String>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| referred(element, names)),
        Value::Object(members) => {
            let name = members.find("$ref").and_then(Value::as_str);
            names.extend(
                name.and_then(|name| name.strip_prefix("#/$defs/"))
                    .map(str::to_owned),
            );
            members.values().for_each(|member| referred(member, names));
        }
        _ => {}
    }
}

fn write_out(draft: &mut Draft, keep: bool) -> Result<(), Impossible> {
    if !draft.mentions(&PLUMBING) {
        return Ok(());
    }
    let index = Index::of(&draft.schema);
    for (attempt, shown) in ATTEMPTS.into_iter().enumerate() {
        let last = attempt + 1 == ATTEMPTS.len();
        let most = if last { MOST_NODES } else { COMFORTABLE };
        let mut writer = Writer::new(&index, keep, shown, most);
        let Some(mut schema) = writer.write(index.root(), &Path::ROOT) else {
            continue;
        };
        let Writer { hoisted, cuts, .. } = writer;
        if let (Value::Object(members), false) = (&mut schema, hoisted.is_empty()) {
            members.put("$defs", Value::Object(hoisted));
        }
        draft.schema = schema;
        if !cuts.is_empty() && leaves_rest(&draft.schema) {
            // What a reference evaluated is not known where it was cut, and may now count as the rest.
            draft.lose_at("", "$ref", Severity::Narrower, None);
        }
        for (path, words) in cuts {
            draft.lose_at(&path, "$ref", Severity::Wider, words);
        }
        return draft.bounded();
    }
    Err(too_large())
}

/// Whether something depends on what other schemas evaluate.
fn leaves_rest(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(leaves_rest),
        Value::Object(members) => members
            .iter()
            .any(|(keyword, value)| keyword.starts_with("unevaluated") || leaves_rest(value)),
        _ => false,
    }
}

/// Keywords that only serve references.
const PLUMBING: [&str; 7] = [
    "$ref",
    "$dynamicRef",
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicAnchor",
    "$id",
];

struct Writer<'s> {
    index: &'s Index<'s>,
    keep: bool,
    /// How often a schema within itself, and how many references deep.
    shown: (usize, usize),
    left: usize,
    depth: usize,
    /// The targets being written, outermost first.
    inside: Vec<*const Value>,
    names: HashMap<*const Value, String>,
    hoisted: Map<String, Value>,
    /// Where a reference could not be written out, and what is said instead.
    cuts: Vec<(String, Option<String>)>,
}

impl<'s> Writer<'s> {
    fn new(index: &'s Index<'s>, keep: bool, shown: (usize, usize), left: usize) -> Self {
        Self {
            index,
            keep,
            shown,
            left,
            depth: 0,
            inside: Vec::new(),
            names: HashMap::new(),
            hoisted: Map::new(),
            cuts: Vec::new(),
        }
    }

    /// Copies a schema without references; `None` when that takes too much.
    fn write(&mut self, place: Place<'s>, path: &Path<'_>) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let Value::Object(members) = place.schema else {
            return Some(place.schema.clone());
        };
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let place = place.entered();
        let mut out = Map::with_capacity(members.len());
        for (keyword, value) in members {
            if PLUMBING.contains(&keyword.as_str()) {
                continue;
            }
            let written = match (parts(keyword), value) {
                (Parts::One | Parts::OneOrMany, Value::Object(_)) => {
                    self.write(place.at(value), &path.below(keyword, Part::Only))?
                }
                (Parts::Many | Parts::OneOrMany, Value::Array(elements)) => {
                    let mut list = Vec::with_capacity(elements.len());
                    for (at, element) in elements.iter().enumerate() {
                        let path = path.below(keyword, Part::At(at));
                        list.push(self.write(place.at(element), &path)?);
                    }
                    Value::Array(list)
                }
                (Parts::Named, Value::Object(named)) => {
                    let mut map = Map::with_capacity(named.len());
                    for (name, part) in named {
                        let path = path.below(keyword, Part::Named(name));
                        map.insert(name.clone(), self.write(place.at(part), &path)?);
                    }
                    Value::Object(map)
                }
                _ => value.clone(),
            };
            out.insert(keyword.clone(), written);
        }
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = members.find(keyword).and_then(Value::as_str) else {
                continue;
            };
            match self.index.resolve(place, reference, keyword) {
                Some(target) => {
                    let target = self.follow(target, reference, path)?;
                    out = combined(target, out);
                }
                None => self.cuts.push((path.pointer(), None)),
            }
        }
        self.depth -= 1;
        Some(Value::Object(out))
    }

    /// What stands in for a reference.
    fn follow(&mut self, target: Place<'s>, reference: &str, path: &Path<'_>) -> Option<Value> {
        let address = std::ptr::from_ref(target.schema);
        if self.keep && self.index.contains_itself(target)? {
            let name = self.hoist(target, reference)?;
            return Some(json!({"$ref": format!("#/$defs/{name}")}));
        }
        let times = self
            .inside
            .iter()
            .filter(|inside| **inside == address)
            .count();
        let (rounds, deep) = self.shown;
        if times > rounds || self.inside.len() >= deep && self.index.contains_itself(target)? {
            return Some(self.cut(target, reference, path));
        }
        if self.inside.len() >= DEEPEST {
            return None;
        }
        self.inside.push(address);
        let written = self.write(target, path);
        self.inside.pop();
        written
    }

    /// Ends a recursion: anything of the same type.
    fn cut(&mut self, target: Place<'s>, reference: &str, path: &Path<'_>) -> Value {
        let words = format!("again as in `{}`", last_name(reference));
        let mut open = Map::new();
        if let Some(kind) = target.schema.find("type") {
            open.put("type", kind.clone());
        }
        crate::lower::describe(&mut open, &words);
        self.cuts.push((path.pointer(), Some(words)));
        Value::Object(open)
    }

    /// Writes a schema that contains itself once, under `$defs`.
    fn hoist(&mut self, target: Place<'s>, reference: &str) -> Option<String> {
        let address = std::ptr::from_ref(target.schema);
        if let Some(name) = self.names.get(&address) {
            return Some(name.clone());
        }
        let name = self.new_name(reference);
        self.names.insert(address, name.clone());
        let (inside, depth) = (
            std::mem::take(&mut self.inside),
            std::mem::take(&mut self.depth),
        );
        // How deep definitions lead to each other is how deep this function calls itself.
        if self.names.len() > DEEPEST {
            return None;
        }
        let path = Path::ROOT;
        let written = self.write(target, &path.below("$defs", Part::Named(&name)))?;
        (self.inside, self.depth) = (inside, depth);
        self.hoisted.insert(name.clone(), written);
        Some(name)
    }

    fn new_name(&self, reference: &str) -> String {
        let plain: String = last_name(reference)
            .chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || letter == '_' {
                    letter
                } else {
                    '_'
                }
            })
            .collect();
        let taken = |name: &String| self.names.values().any(|other| other == name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        std::iter::once(plain.clone())
            .chain(numbered)
            .find(|name| !taken(name))
            .unwrap_or(plain)
    }
}

/// The last word of a reference.
fn last_name(reference: &str) -> &str {
    reference
        .rsplit(['/', '#'])
        .find(|word| !word.is_empty())
        .unwrap_or("root")
}

/// A reference's target together with what stood beside the reference.
fn combined(target: Value, mut beside: Map<String, Value>) -> Map<String, Value> {
    let target = match target {
        Value::Object(target) => target,
        Value::Bool(false) => nothing(),
        _ => Map::new(),
    };
    if admits_all(&beside) {
        return alone(target, beside);
    }
    // Beside, not together: what is not evaluated there depends on the target.
    match beside.find_mut("allOf") {
        Some(Value::Array(parts)) => parts.insert(0, Value::Object(target)),
        _ => {
            beside.put("allOf", json!([target]));
        }
    }
    beside
}
