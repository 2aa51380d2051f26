//! Merges two schemas into one that accepts what both accept.

mod keyword;
mod subschemas;

use serde_json::{Value, json};

use self::keyword::KeywordMerge;
use crate::lower::pass::{applies_to::is_assertion, describe::drop_keyword};
use crate::lower::{JsonObject, KeywordLookup, SchemaCursor};

/// How many references may be inlined within each other.
const MAX_NESTED_REFS: usize = 2;

/// The schema that is never valid.
pub(crate) fn never_schema() -> JsonObject {
    JsonObject::from_iter([("not".to_owned(), json!({}))])
}

/// Keywords that are only meaningful together.
const INTERDEPENDENT_KEYWORDS: [&[&str]; 2] =
    [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// Keywords that depend on the other keywords of their own schema.
pub(crate) const UNEVALUATED_KEYWORDS: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Merges schemas and collects the conflicts.
pub(crate) struct SchemaMerger<'d> {
    /// The definitions of the references that were kept.
    definitions: &'d Value,
    /// How many references have been inlined around the current schemas.
    open_refs: usize,
    /// The assertions of the second schema that could not be merged into the first.
    pub(crate) conflicts: Vec<(String, Value)>,
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
        self.conflicts.push((keyword.to_owned(), value));
    }

    /// Moves keywords of a schema to the conflicts.
    fn take_conflicts(&mut self, schema: &mut JsonObject, keywords: &[&str]) {
        for keyword in keywords {
            if let Some(value) = schema.remove_keyword(keyword) {
                self.add_conflict(keyword, value);
            }
        }
    }

    /// Reports the conflicts as keywords that were dropped from the merged schema.
    pub(crate) fn drop_conflicts(self, merged: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
        for (keyword, value) in self.conflicts {
            drop_keyword(merged, cursor, &keyword, &value);
        }
    }

    /// Merges two schemas; a keyword that cannot be merged is dropped from the second.
    pub(crate) fn merge(&mut self, one: JsonObject, other: JsonObject) -> JsonObject {
        let refers = |schema: &JsonObject| schema.has_keyword("$ref");
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
    fn resolve_ref(&mut self, mut schema: JsonObject) -> JsonObject {
        // A definition may itself be only a reference; one that cannot be resolved is left unchanged.
        for _ in 0..8 {
            let target = schema
                .text("$ref")
                .and_then(|name| self.definitions.get(name.strip_prefix("#/$defs/")?))
                .and_then(Value::as_object);
            let Some(target) = target else { break };
            schema = target.clone();
        }
        self.take_conflicts(&mut schema, &["$ref"]);
        schema
    }

    fn merge_keywords(&mut self, mut one: JsonObject, mut other: JsonObject) -> JsonObject {
        for side in [&mut one, &mut other] {
            super::resolve_unevaluated(side);
            self.take_conflicts(side, &UNEVALUATED_KEYWORDS);
        }
        for group in INTERDEPENDENT_KEYWORDS {
            if one.has_any_keyword(group) && other.has_any_keyword(group) {
                self.take_conflicts(&mut other, group);
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
