//! Resolves references to the schemas they point to.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::lower::{KeywordLookup, subschemas_of};

/// How many references are followed to find recursive schemas.
const MAX_STEPS: usize = 1_000_000;

/// Which schemas refer to which, by their addresses.
type ReferenceGraph = HashMap<*const Value, HashSet<*const Value>>;

/// A schema and the resource that contains it, to which `#` refers.
#[derive(Clone, Copy)]
pub(super) struct ResolvedSchema<'s> {
    pub(super) schema: &'s Value,
    resource: &'s Value,
}

impl<'s> ResolvedSchema<'s> {
    /// A subschema of the same resource.
    pub(super) fn with_schema(self, schema: &'s Value) -> Self {
        Self { schema, ..self }
    }

    /// The same schema, as its own resource if it has an `$id`.
    pub(super) fn enter_resource(self) -> Self {
        match resource_id(self.schema) {
            Some(_) => Self { schema: self.schema, resource: self.schema },
            None => self,
        }
    }
}

fn resource_id(schema: &Value) -> Option<&str> {
    let id = schema.keyword("$id")?.as_str()?;
    Some(id.trim_end_matches('#')).filter(|id| !id.is_empty())
}

/// All possible targets of references.
pub(super) struct RefIndex<'s> {
    root: &'s Value,
    /// Resources by `$id`; `None` for a duplicate.
    resources: HashMap<&'s str, Option<&'s Value>>,
    anchors: HashMap<(*const Value, &'s str), ResolvedSchema<'s>>,
    dynamic_anchors: HashMap<&'s str, Option<ResolvedSchema<'s>>>,
    recursive_schemas: OnceCell<Option<HashSet<*const Value>>>,
}

impl<'s> RefIndex<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        let mut index = Self {
            root,
            resources: HashMap::new(),
            anchors: HashMap::new(),
            dynamic_anchors: HashMap::new(),
            recursive_schemas: OnceCell::new(),
        };
        let start = index.root();
        visit_schemas(start, &mut |source| index.add(source));
        index
    }

    pub(super) fn root(&self) -> ResolvedSchema<'s> {
        ResolvedSchema { schema: self.root, resource: self.root }
    }

    fn add(&mut self, source: ResolvedSchema<'s>) {
        if let Some(id) = resource_id(source.schema) {
            self.resources
                .entry(id)
                .and_modify(|existing| *existing = None)
                .or_insert(Some(source.schema));
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = source.schema.text(keyword) {
                let resource = std::ptr::from_ref(source.resource);
                self.anchors.insert((resource, name), source);
            }
        }
        if let Some(name) = source.schema.text("$dynamicAnchor") {
            self.dynamic_anchors
                .entry(name)
                .and_modify(|existing| *existing = None)
                .or_insert(Some(source));
        }
    }

    /// Resolves a reference in the schema `from`.
    pub(super) fn resolve(
        &self,
        from: ResolvedSchema<'s>,
        reference: &str,
        keyword: &str,
    ) -> Option<ResolvedSchema<'s>> {
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if keyword == "$dynamicRef" {
            let first = self.resolve(from, reference, "$ref")?;
            let dynamic = first.schema.text("$dynamicAnchor") == Some(fragment);
            // With one anchor of that name, the dynamic scope makes no difference.
            return if dynamic { *self.dynamic_anchors.get(fragment)? } else { Some(first) };
        }
        let resource = match name {
            "" => from.resource,
            name => (*self.resources.get(name)?)?,
        };
        let start = ResolvedSchema { schema: resource, resource };
        match fragment {
            "" => Some(start),
            pointer if pointer.starts_with('/') => {
                resolve_pointer(start, &percent_decode_str(pointer).decode_utf8().ok()?)
            }
            anchor => self.anchors.get(&(std::ptr::from_ref(resource), anchor)).copied(),
        }
    }

    /// Returns true if references lead from a schema back to itself; `None` if there are too many to find out.
    ///
    /// A schema between two recursive ones counts too.
    pub(super) fn is_recursive(&self, target: ResolvedSchema<'s>) -> Option<bool> {
        let cyclic = self.recursive_schemas.get_or_init(|| self.find_recursive()).as_ref()?;
        Some(cyclic.contains(&std::ptr::from_ref(target.schema)))
    }

    /// Removes schemas without outgoing or incoming references until only cycles are left.
    fn find_recursive(&self) -> Option<HashSet<*const Value>> {
        let mut left: ReferenceGraph = HashMap::new();
        let mut next = self.reference_targets(self.root(), &mut 0)?;
        let mut steps = 0;
        while let Some(source) = next.pop() {
            let address = std::ptr::from_ref(source.schema);
            if left.contains_key(&address) {
                continue;
            }
            let found = self.reference_targets(source, &mut steps)?;
            let targets = found.iter().map(|source| std::ptr::from_ref(source.schema));
            left.insert(address, targets.collect());
            next.extend(found);
        }
        for _ in 0..2 {
            remove_leaves(&mut left);
            left = reversed(&left);
        }
        Some(left.into_keys().collect())
    }

    /// The targets of the references in a schema.
    fn reference_targets(
        &self,
        source: ResolvedSchema<'s>,
        steps: &mut usize,
    ) -> Option<Vec<ResolvedSchema<'s>>> {
        let mut found = Vec::new();
        visit_schemas(source, &mut |subschema| {
            *steps += 1;
            for keyword in ["$ref", "$dynamicRef"] {
                let reference = subschema.schema.text(keyword);
                found.extend(reference.and_then(|to| self.resolve(subschema, to, keyword)));
            }
        });
        (*steps <= MAX_STEPS).then_some(found)
    }
}

/// Repeatedly removes nodes whose targets have all been removed.
fn remove_leaves(graph: &mut ReferenceGraph) {
    let back = reversed(graph);
    let mut ends: Vec<*const Value> =
        graph.iter().filter(|(_, to)| to.is_empty()).map(|(from, _)| *from).collect();
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

fn reversed(graph: &ReferenceGraph) -> ReferenceGraph {
    let mut back: ReferenceGraph = graph.keys().map(|from| (*from, HashSet::new())).collect();
    for (from, all) in graph {
        for to in all {
            if let Some(to) = back.get_mut(to) {
                to.insert(*from);
            }
        }
    }
    back
}

/// Visits a schema and all its subschemas.
fn visit_schemas<'s>(source: ResolvedSchema<'s>, note: &mut dyn FnMut(ResolvedSchema<'s>)) {
    let Value::Object(members) = source.schema else {
        return;
    };
    let source = source.enter_resource();
    note(source);
    for (keyword, value) in members {
        for subschema in subschemas_of(keyword, value) {
            visit_schemas(source.with_schema(subschema), note);
        }
    }
}

/// Resolves a JSON pointer, tracking the resources that it enters.
fn resolve_pointer<'s>(start: ResolvedSchema<'s>, pointer: &str) -> Option<ResolvedSchema<'s>> {
    let mut source = start;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let below = match source.schema {
            Value::Object(members) => members.get(&step)?,
            Value::Array(elements) => elements.get(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
        source = source.with_schema(below).enter_resource();
    }
    Some(source).filter(|source| source.schema.is_object() || source.schema.is_boolean())
}
