//! Inlines references; a recursive schema is cut off, or kept under `$defs` where the dialect supports it.

mod index;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use self::index::{RefIndex, ResolvedSchema};
use super::root;
use crate::lower::pass::all_of::{never_schema, with_annotations};
use crate::lower::pass::applies_to::{has_no_assertions, is_assertion};
use crate::lower::{
    JsonObject, KeywordLookup, LowerError, LoweringState, MAX_NODES, PathSegment, SchemaPath,
    Severity, SubschemaShape, any_object, append_to_description, subschema_shape, too_large_error,
};

/// How far recursion is expanded, until the result is small enough: how often a schema within itself, and how many levels
/// of references to recursive schemas.
const EXPANSION_LIMITS: [(usize, usize); 6] =
    [(2, MAX_DEPTH), (1, MAX_DEPTH), (0, MAX_DEPTH), (0, 4), (0, 2), (0, 1)];

/// The number of schemas that is small enough; the last attempt may be larger.
const TARGET_SCHEMA_COUNT: usize = 2_000;

/// The maximum nesting of references and of schemas.
const MAX_DEPTH: usize = 128;

/// For dialects without references: a recursion is cut off after a few levels by a schema that accepts its type.
pub(crate) fn inline(state: &mut LoweringState) -> Result<(), LowerError> {
    expand(state, false)
}

/// For dialects that support `#/$defs/NAME`: only recursive schemas stay there.
pub(crate) fn keep_recursive(state: &mut LoweringState) -> Result<(), LowerError> {
    expand(state, true)
}

/// For dialects that accept any schema: references stay, unless one is more than a path from the root.
pub(crate) fn keep_local(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["$ref", "$dynamicRef", "$id"])
        || is_local(&state.schema, true, root::is_plain_object(&state.schema))
    {
        return Ok(());
    }
    keep_recursive(state)
}

/// Returns true if every reference is a path, and no subschema has its own `$id`.
///
/// If the root is not `plain` it will be rewritten: then only references to definitions stay valid.
fn is_local(value: &Value, is_root: bool, plain: bool) -> bool {
    let leads = |to: &str| match plain {
        true => to == "#" || to.starts_with("#/"),
        false => to.strip_prefix("#/$defs/").is_some_and(|name| !name.contains(['/', '~', '%'])),
    };
    // If the root is rewritten, siblings of a reference would have to be merged with its target.
    let beside = |members: &JsonObject| {
        !plain
            && !is_root
            && members.has_keyword("$ref")
            && members.keys().any(|keyword| keyword != "$ref" && is_assertion(keyword))
    };
    match value {
        Value::Array(elements) => elements.iter().all(|element| is_local(element, false, plain)),
        Value::Object(members) => {
            !beside(members)
                && members.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
                    ("$ref", Value::String(to)) => leads(to),
                    ("$dynamicRef", Value::String(_)) => false,
                    ("$id", Value::String(_)) => is_root,
                    _ => is_local(value, false, plain),
                })
        }
        _ => true,
    }
}

/// Removes definitions without references to them.
pub(crate) fn remove_unused_definitions(state: &mut LoweringState) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&["$defs"]) {
        return Ok(());
    }
    let Value::Object(members) = &mut state.schema else {
        return Ok(());
    };
    let Some(Value::Object(mut definitions)) = members.remove_keyword("$defs") else {
        return Ok(());
    };
    let mut used = HashSet::new();
    collect_definition_names(&state.schema, &mut used);
    let mut next: Vec<String> = used.iter().cloned().collect();
    while let Some(name) = next.pop() {
        let mut more = HashSet::new();
        if let Some(definition) = definitions.get(&name) {
            collect_definition_names(definition, &mut more);
        }
        next.extend(more.difference(&used).cloned());
        used.extend(more);
    }
    definitions.retain(|name, _| used.contains(name));
    if let (Value::Object(members), false) = (&mut state.schema, definitions.is_empty()) {
        members.set_keyword("$defs", Value::Object(definitions));
    }
    Ok(())
}

/// Collects the names of the definitions that a schema refers to.
fn collect_definition_names(value: &Value, names: &mut HashSet<String>) {
    any_object(value, &mut |members| {
        let name = members.text("$ref").and_then(|name| name.strip_prefix("#/$defs/"));
        names.extend(name.map(str::to_owned));
        false
    });
}

fn expand(state: &mut LoweringState, keep: bool) -> Result<(), LowerError> {
    if !state.contains_any_keyword(&REFERENCE_KEYWORDS) {
        return Ok(());
    }
    let index = RefIndex::new(&state.schema);
    for (attempt, shown) in EXPANSION_LIMITS.into_iter().enumerate() {
        let last = attempt + 1 == EXPANSION_LIMITS.len();
        let max_schemas = if last { MAX_NODES } else { TARGET_SCHEMA_COUNT };
        let mut writer = RefExpander {
            index: &index,
            keep_recursive: keep,
            limits: shown,
            remaining_schemas: max_schemas,
            depth: 0,
            open_targets: Vec::new(),
            names: HashMap::new(),
            definitions: JsonObject::new(),
            truncated_refs: Vec::new(),
        };
        let Some(mut schema) = writer.expand_schema(index.root(), &SchemaPath::ROOT) else {
            continue;
        };
        let RefExpander { definitions: hoisted, truncated_refs: cuts, .. } = writer;
        if let (Value::Object(members), false) = (&mut schema, hoisted.is_empty()) {
            members.set_keyword("$defs", Value::Object(hoisted));
        }
        state.schema = schema;
        let unevaluated =
            |members: &JsonObject| members.keys().any(|keyword| keyword.starts_with("unevaluated"));
        if !cuts.is_empty() && any_object(&state.schema, &mut { unevaluated }) {
            // What a cut-off reference would have evaluated is unknown, and may now count as unevaluated.
            state.root().1.report_loss("$ref", Severity::Narrower, None);
        }
        for (path, words) in cuts {
            let mut cursor = state.root().1;
            cursor.path = SchemaPath::Pointer(&path);
            cursor.report_loss("$ref", Severity::Wider, words);
        }
        return state.check_size();
    }
    Err(too_large_error())
}

/// Keywords that only serve references.
const REFERENCE_KEYWORDS: [&str; 7] =
    ["$ref", "$dynamicRef", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$id"];

struct RefExpander<'s> {
    index: &'s RefIndex<'s>,
    keep_recursive: bool,
    /// How often a schema within itself, and how many levels of references.
    limits: (usize, usize),
    remaining_schemas: usize,
    depth: usize,
    /// The targets being expanded, outermost first.
    open_targets: Vec<*const Value>,
    names: HashMap<*const Value, String>,
    definitions: JsonObject,
    /// The path of each reference that was cut off, and its description.
    truncated_refs: Vec<(String, Option<String>)>,
}

impl<'s> RefExpander<'s> {
    /// Copies a schema without references; `None` if it becomes too large.
    fn expand_schema(
        &mut self,
        source: ResolvedSchema<'s>,
        path: &SchemaPath<'_>,
    ) -> Option<Value> {
        use SubschemaShape::{List, Map, Single, SingleOrList};
        self.remaining_schemas = self.remaining_schemas.checked_sub(1)?;
        let Value::Object(members) = source.schema else {
            return Some(source.schema.clone());
        };
        if self.depth >= MAX_DEPTH {
            return None;
        }
        if members.iter().all(|(keyword, value)| has_no_subschemas(keyword, value)) {
            // A copy, unlike inserting one by one, hashes no keyword.
            return Some(source.schema.clone());
        }
        self.depth += 1;
        let source = source.enter_resource();
        let mut out = JsonObject::with_capacity(members.len());
        for (keyword, value) in members {
            if REFERENCE_KEYWORDS.contains(&keyword.as_str()) {
                continue;
            }
            let written = match (subschema_shape(keyword), value) {
                (Single | SingleOrList, Value::Object(_)) => {
                    let path = path.child(keyword, PathSegment::Single);
                    self.expand_schema(source.with_schema(value), &path)?
                }
                (List | SingleOrList, Value::Array(elements)) => {
                    let mut list = Vec::with_capacity(elements.len());
                    for (at, element) in elements.iter().enumerate() {
                        let path = path.child(keyword, PathSegment::Index(at));
                        list.push(self.expand_schema(source.with_schema(element), &path)?);
                    }
                    Value::Array(list)
                }
                (Map, Value::Object(named)) => {
                    let mut map = JsonObject::with_capacity(named.len());
                    for (name, subschema) in named {
                        let path = path.child(keyword, PathSegment::Name(name));
                        let written = self.expand_schema(source.with_schema(subschema), &path)?;
                        map.insert(name.clone(), written);
                    }
                    Value::Object(map)
                }
                _ => value.clone(),
            };
            out.insert(keyword.clone(), written);
        }
        for keyword in ["$ref", "$dynamicRef"] {
            let Some(reference) = members.text(keyword) else {
                continue;
            };
            match self.index.resolve(source, reference, keyword) {
                Some(target) => {
                    let target = self.expand_reference(target, reference, path)?;
                    out = merge_siblings(target, out);
                }
                None => self.truncated_refs.push((path.json_pointer(), None)),
            }
        }
        self.depth -= 1;
        Some(Value::Object(out))
    }

    /// The schema that replaces a reference.
    fn expand_reference(
        &mut self,
        target: ResolvedSchema<'s>,
        reference: &str,
        path: &SchemaPath<'_>,
    ) -> Option<Value> {
        let address = std::ptr::from_ref(target.schema);
        if self.keep_recursive && self.index.is_recursive(target)? {
            let name = self.define_recursive(target, reference)?;
            return Some(json!({"$ref": format!("#/$defs/{name}")}));
        }
        let times = self.open_targets.iter().filter(|inside| **inside == address).count();
        let (rounds, deep) = self.limits;
        if times > rounds || self.open_targets.len() >= deep && self.index.is_recursive(target)? {
            return Some(self.truncate_recursion(target, reference, path));
        }
        if self.open_targets.len() >= MAX_DEPTH {
            return None;
        }
        self.open_targets.push(address);
        let written = self.expand_schema(target, path);
        self.open_targets.pop();
        written
    }

    /// Ends a recursion with a schema that accepts any value of the same type.
    fn truncate_recursion(
        &mut self,
        target: ResolvedSchema<'s>,
        reference: &str,
        path: &SchemaPath<'_>,
    ) -> Value {
        let words = format!("again as in `{}`", last_segment(reference));
        let mut placeholder = JsonObject::new();
        if let Some(json_type) = target.schema.keyword("type") {
            placeholder.set_keyword("type", json_type.clone());
        }
        append_to_description(&mut placeholder, &words);
        self.truncated_refs.push((path.json_pointer(), Some(words)));
        Value::Object(placeholder)
    }

    /// Writes a recursive schema once, under `$defs`.
    fn define_recursive(&mut self, target: ResolvedSchema<'s>, reference: &str) -> Option<String> {
        let address = std::ptr::from_ref(target.schema);
        if let Some(name) = self.names.get(&address) {
            return Some(name.clone());
        }
        let name = self.unique_definition_name(reference);
        self.names.insert(address, name.clone());
        let (inside, depth) =
            (std::mem::take(&mut self.open_targets), std::mem::take(&mut self.depth));
        // This function recurses once per definition that refers to another.
        if self.names.len() > MAX_DEPTH {
            return None;
        }
        let path = SchemaPath::ROOT;
        let written = self.expand_schema(target, &path.child("$defs", PathSegment::Name(&name)))?;
        (self.open_targets, self.depth) = (inside, depth);
        self.definitions.insert(name.clone(), written);
        Some(name)
    }

    fn unique_definition_name(&self, reference: &str) -> String {
        let plain = last_segment(reference)
            .replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_', "_");
        let taken = |name: &String| self.names.values().any(|other| other == name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        std::iter::once(plain.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(plain)
    }
}

/// Returns true if a keyword is copied as it is: it holds no schema and does not serve references.
fn has_no_subschemas(keyword: &str, value: &Value) -> bool {
    let may_hold_schemas = value.is_object() || value.is_array();
    !keyword.starts_with('$')
        && (!may_hold_schemas || subschema_shape(keyword) == SubschemaShape::NotASchema)
}

/// The last segment of a reference.
fn last_segment(reference: &str) -> &str {
    reference.rsplit(['/', '#']).find(|word| !word.is_empty()).unwrap_or("root")
}

/// A reference's target merged with the siblings of the reference.
fn merge_siblings(target: Value, mut beside: JsonObject) -> JsonObject {
    let target = match target {
        Value::Object(target) => target,
        Value::Bool(false) => never_schema(),
        _ => JsonObject::new(),
    };
    if has_no_assertions(&beside) {
        return with_annotations(target, beside);
    }
    // Kept apart: unevaluated properties of the siblings depend on the target.
    match beside.keyword_mut("allOf") {
        Some(Value::Array(subschemas)) => subschemas.insert(0, Value::Object(target)),
        _ => {
            beside.set_keyword("allOf", json!([target]));
        }
    }
    beside
}
