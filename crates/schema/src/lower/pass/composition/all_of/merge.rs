//! Merges two schemas into one that accepts what both accept.

mod keyword;
mod subschemas;

use serde_json::{Map, Value, json};

use self::keyword::KeywordMerge;
use crate::lower::pass::applies_to::is_assertion;
use crate::lower::{KeywordLookup, KeywordLookupMut};

/// How many references may be inlined within each other.
const MAX_NESTED_REFS: usize = 2;

/// An assertion of the second schema that could not be merged into the first.
pub(crate) struct Conflict {
    pub(crate) keyword: String,
    pub(crate) value: Value,
}

/// The schema that is never valid.
pub(crate) fn never_schema() -> Map<String, Value> {
    let mut nothing = Map::new();
    nothing.set_keyword("not", json!({}));
    nothing
}

/// Keywords that are only meaningful together.
const INTERDEPENDENT_KEYWORDS: [&[&str]; 2] =
    [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// Keywords that depend on the other keywords of their own schema.
const UNEVALUATED_KEYWORDS: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Merges schemas and collects the conflicts.
pub(crate) struct SchemaMerger<'d> {
    /// The definitions of the references that were kept.
    definitions: &'d Value,
    /// How many references have been inlined around the current schemas.
    open_refs: usize,
    pub(crate) conflicts: Vec<Conflict>,
}

impl<'d> SchemaMerger<'d> {
    pub(crate) fn new(definitions: &'d Value) -> Self {
        Self { definitions, open_refs: 0, conflicts: Vec::new() }
    }

    /// Merges schemas without inlining any reference.
    pub(crate) fn without_refs(definitions: &'d Value) -> Self {
        Self { open_refs: MAX_NESTED_REFS, ..Self::new(definitions) }
    }

    fn add_conflict(&mut self, keyword: &str, value: Value) {
        self.conflicts.push(Conflict { keyword: keyword.to_owned(), value });
    }

    /// Merges two schemas; a keyword that cannot be merged is dropped from the second.
    pub(crate) fn merge(
        &mut self,
        one: Map<String, Value>,
        other: Map<String, Value>,
    ) -> Map<String, Value> {
        let refers = |schema: &Map<String, Value>| schema.has_keyword("$ref");
        if one == other || !refers(&one) && !refers(&other) {
            return self.merge_keywords(one, other);
        }
        // Two recursive schemas would be inlined in each other forever.
        if self.open_refs == MAX_NESTED_REFS {
            self.add_conflict("$ref", Value::Object(other));
            return one;
        }
        self.open_refs += 1;
        let (one, other) = (self.resolve_ref(one), self.resolve_ref(other));
        let both = self.merge_keywords(one, other);
        self.open_refs -= 1;
        both
    }

    /// Resolves a schema that is a reference.
    fn resolve_ref(&mut self, schema: Map<String, Value>) -> Map<String, Value> {
        let mut schema = schema;
        // A definition may itself be only a reference; one that cannot be resolved is left unchanged.
        for _ in 0..8 {
            let target = schema
                .keyword("$ref")
                .and_then(Value::as_str)
                .and_then(|name| self.definitions.get(name.strip_prefix("#/$defs/")?))
                .and_then(Value::as_object);
            let Some(target) = target else { break };
            schema = target.clone();
        }
        if let Some(reference) = schema.remove_keyword("$ref") {
            self.add_conflict("$ref", reference);
        }
        schema
    }

    fn merge_keywords(
        &mut self,
        mut one: Map<String, Value>,
        mut other: Map<String, Value>,
    ) -> Map<String, Value> {
        for side in [&mut one, &mut other] {
            super::resolve_unevaluated(side);
            for keyword in UNEVALUATED_KEYWORDS {
                if let Some(value) = side.remove_keyword(keyword) {
                    self.add_conflict(keyword, value);
                }
            }
        }
        for group in INTERDEPENDENT_KEYWORDS {
            let has_keywords = |schema: &Map<String, Value>| {
                group.iter().any(|keyword| schema.has_keyword(keyword))
            };
            if has_keywords(&one) && has_keywords(&other) {
                for keyword in group {
                    if let Some(value) = other.remove_keyword(keyword) {
                        self.add_conflict(keyword, value);
                    }
                }
            }
        }
        self.merge_properties(&mut one, &mut other);
        self.merge_items(&mut one, &mut other);
        for (keyword, theirs) in other {
            let Some(ours) = one.get(&keyword) else {
                one.insert(keyword, theirs);
                continue;
            };
            if *ours == theirs {
                continue;
            }
            match self.merge_keyword(&keyword, ours, &theirs) {
                KeywordMerge::Merged(value) => {
                    one.insert(keyword, value);
                }
                KeywordMerge::Unsatisfiable => {
                    one.retain(|keyword, _| !is_assertion(keyword));
                    one.extend(never_schema());
                    return one;
                }
                KeywordMerge::Inexpressible => self.add_conflict(&keyword, theirs),
            }
        }
        one
    }

    fn merge_values(&mut self, one: &Value, other: &Value) -> Value {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                Value::Object(self.merge(one.clone(), other.clone()))
            }
            (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
            (Value::Bool(true), other) | (other, _) => other.clone(),
        }
    }
}
