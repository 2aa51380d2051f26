//! Reference in, the part of the schema it means out.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::lower::{Lookup, Parts, parts};

/// How many references are looked at to find out which schemas contain themselves.
const MOST_STEPS: usize = 1_000_000;

/// A schema and the resource it belongs to: `#` means the latter.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) schema: &'s Value,
    resource: &'s Value,
}

impl<'s> Place<'s> {
    /// A part of the same resource.
    pub(super) fn at(self, schema: &'s Value) -> Self {
        Self { schema, ..self }
    }

    /// The same schema, as its own resource if it is one.
    pub(super) fn entered(self) -> Self {
        match id(self.schema) {
            Some(_) => Self {
                schema: self.schema,
                resource: self.schema,
            },
            None => self,
        }
    }
}

fn id(schema: &Value) -> Option<&str> {
    let id = schema.find("$id")?.as_str()?;
    Some(id.trim_end_matches('#')).filter(|id| !id.is_empty())
}

/// Everything that a reference can lead to.
pub(super) struct Index<'s> {
    root: &'s Value,
    /// Resources by their names; `None` for a name given twice.
    resources: HashMap<&'s str, Option<&'s Value>>,
    anchors: HashMap<(*const Value, &'s str), Place<'s>>,
    dynamic: HashMap<&'s str, Option<Place<'s>>>,
    cyclic: OnceCell<Option<HashSet<*const Value>>>,
}

impl<'s> Index<'s> {
    pub(super) fn of(root: &'s Value) -> Self {
        let mut index = Self {
            root,
            resources: HashMap::new(),
            anchors: HashMap::new(),
            dynamic: HashMap::new(),
            cyclic: OnceCell::new(),
        };
        let start = index.root();
        visit(start, &mut |place| index.note(place));
        index
    }

    pub(super) fn root(&self) -> Place<'s> {
        Place {
            schema: self.root,
            resource: self.root,
        }
    }

    fn note(&mut self, place: Place<'s>) {
        let text = |keyword| place.schema.find(keyword).and_then(Value::as_str);
        if let Some(id) = id(place.schema) {
            self.resources
                .entry(id)
                .and_modify(|known| *known = None)
                .or_insert(Some(place.schema));
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = text(keyword) {
                let resource = std::ptr::from_ref(place.resource);
                self.anchors.insert((resource, name), place);
            }
        }
        if let Some(name) = text("$dynamicAnchor") {
            self.dynamic
                .entry(name)
                .and_modify(|known| *known = None)
                .or_insert(Some(place));
        }
    }

    /// Finds what a reference that stands at a place means.
    pub(super) fn resolve(
        &self,
        from: Place<'s>,
        reference: &str,
        keyword: &str,
    ) -> Option<Place<'s>> {
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if keyword == "$dynamicRef" {
            let first = self.resolve(from, reference, "$ref")?;
            let dynamic =
                first.schema.find("$dynamicAnchor").and_then(Value::as_str) == Some(fragment);
            // With one anchor of that name, where the search starts makes no difference.
            return if dynamic {
                *self.dynamic.get(fragment)?
            } else {
                Some(first)
            };
        }
        let resource = match name {
            "" => from.resource,
            name => (*self.resources.get(name)?)?,
        };
        let start = Place {
            schema: resource,
            resource,
        };
        match fragment {
            "" => Some(start),
            pointer if pointer.starts_with('/') => walk(start, &decoded(pointer)?),
            anchor => self
                .anchors
                .get(&(std::ptr::from_ref(resource), anchor))
                .copied(),
        }
    }

    /// Whether following references from a schema leads back to it; `None` when that takes too long to find out.
    ///
    /// A schema on the way from one that does to another counts too.
    pub(super) fn contains_itself(&self, target: Place<'s>) -> Option<bool> {
        let cyclic = self.cyclic.get_or_init(|| self.cycles()).as_ref()?;
        Some(cyclic.contains(&std::ptr::from_ref(target.schema)))
    }

    /// Takes away what leads nowhere, and what nothing leads to, until only circles are left.
    fn cycles(&self) -> Option<HashSet<*const Value>> {
        let mut left: HashMap<*const Value, HashSet<*const Value>> = HashMap::new();
        let mut next = self.leads_to(self.root(), &mut 0)?;
        let mut steps = 0;
        while let Some(place) = next.pop() {
            let address = std::ptr::from_ref(place.schema);
            if left.contains_key(&address) {
                continue;
            }
            let found = self.leads_to(place, &mut steps)?;
            left.insert(
                address,
                found
                    .iter()
                    .map(|place| std::ptr::from_ref(place.schema))
                    .collect(),
            );
            next.extend(found);
        }
        for _ in 0..2 {
            peel(&mut left);
            left = turned(&left);
        }
        Some(left.into_keys().collect())
    }

    /// What the references in a schema mean.
    fn leads_to(&self, place: Place<'s>, steps: &mut usize) -> Option<Vec<Place<'s>>> {
        let mut found = Vec::new();
        visit(place, &mut |part| {
            *steps += 1;
            for keyword in ["$ref", "$dynamicRef"] {
                let reference = part.schema.find(keyword).and_then(Value::as_str);
                found
                    .extend(reference.and_then(|reference| self.resolve(part, reference, keyword)));
            }
        });
        (*steps <= MOST_STEPS).then_some(found)
    }
}

/// Takes away, again and again, what leads to nothing that is left.
fn peel(graph: &mut HashMap<*const Value, HashSet<*const Value>>) {
    let back = turned(graph);
    let mut ends: Vec<*const Value> = graph
        .iter()
        .filter(|(_, to)| to.is_empty())
        .map(|(from, _)| *from)
        .collect();
    while let Some(end) = ends.pop() {
        graph.remove(&end);
        for from in back.get(&end).into_iter().flatten() {
            if let Some(to) = graph.get_mut(from)
                && to.remove(&end)
                && to.is_empty()
            {
                ends.push(*from);
            }
        }
    }
}

fn turned(
    graph: &HashMap<*const Value, HashSet<*const Value>>,
) -> HashMap<*const Value, HashSet<*const Value>> {
    let mut back: HashMap<*const Value, HashSet<*const Value>> =
        graph.keys().map(|from| (*from, HashSet::new())).collect();
    for (from, all) in graph {
        for to in all {
            if let Some(to) = back.get_mut(to) {
                to.insert(*from);
            }
        }
    }
    back
}

/// Visits a schema and every schema in it.
fn visit<'s>(place: Place<'s>, note: &mut dyn FnMut(Place<'s>)) {
    let Value::Object(members) = place.schema else {
        return;
    };
    let place = place.entered();
    note(place);
    for (keyword, value) in members {
        match (parts(keyword), value) {
            (Parts::One | Parts::OneOrMany, Value::Object(_)) => visit(place.at(value), note),
            (Parts::Many | Parts::OneOrMany, Value::Array(parts)) => {
                parts.iter().for_each(|part| visit(place.at(part), note));
            }
            (Parts::Named, Value::Object(parts)) => {
                parts.values().for_each(|part| visit(place.at(part), note));
            }
            _ => {}
        }
    }
}

/// Follows a JSON pointer, noticing where it enters another resource.
fn walk<'s>(start: Place<'s>, pointer: &str) -> Option<Place<'s>> {
    let mut place = start;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let below = match place.schema {
            Value::Object(members) => members.get(&step)?,
            Value::Array(elements) => elements.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
        place = place.at(below).entered();
    }
    Some(place).filter(|place| place.schema.is_object() || place.schema.is_boolean())
}

/// Undoes percent-encoding.
fn decoded(pointer: &str) -> Option<String> {
    if !pointer.contains('%') {
        return Some(pointer.to_owned());
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = match (first, tail.split_at_checked(2)) {
            (b'%', Some((digits, tail))) => {
                bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
                tail
            }
            _ => {
                bytes.push(*first);
                tail
            }
        };
    }
    String::from_utf8(bytes).ok()
}
