//! Gives every schema one type, or makes it a union of schemas with one type each.

use serde_json::{Value, json};

use crate::lower::pass::all_of::{SchemaMerger, with_annotations};
use crate::lower::pass::applies_to::{applies_to, has_no_assertions, is_assertion};
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, PathSegment, SchemaCursor,
    Severity, any_object, visit_bottom_up,
};
use crate::type_set::TypeSet;

/// How many times references inside a union are inlined, and in how many unions of one schema.
const MAX_REF_EXPANSIONS: (usize, usize) = (2, 256);

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];

/// The definitions, and how many references may still be inlined.
struct RefExpansionBudget<'d> {
    definitions: &'d Value,
    depth: usize,
    remaining: usize,
    /// Whether a schema was split or merged, which may make the whole larger.
    has_grown: bool,
}

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    let definitions = match state.schema.keyword("$defs") {
        // A copy of their current form, needed only if one may be inlined.
        Some(definitions) if has_constrained_union(&state.schema) => definitions.clone(),
        Some(_) | None => Value::Null,
    };
    let mut opening = RefExpansionBudget {
        definitions: &definitions,
        depth: 0,
        remaining: MAX_REF_EXPANSIONS.1,
        has_grown: false,
    };
    state.visit_bottom_up(|members, cursor| normalise_schema(members, cursor, &mut opening));
    if opening.has_grown {
        return state.check_size();
    }
    state.note_added_keywords(KeywordSet::from_keywords(&["items"]));
    Ok(())
}

/// Converts one schema to normal form; its subschemas are in normal form already.
fn normalise_schema(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    opening: &mut RefExpansionBudget<'_>,
) {
    if schema.has_keyword("anyOf") {
        return normalise_union(schema, cursor, opening);
    }
    if schema.has_keyword("$ref") || has_no_assertions(schema) {
        return;
    }
    match schema.text("type") {
        // The usual case.
        Some(json_type) => {
            let known = TYPES.into_iter().find(|name| *name == json_type);
            // No keyword applies to an unknown type.
            retain_type_keywords(schema, known.unwrap_or_default());
        }
        None => {
            split_types(schema, cursor);
            opening.has_grown = true;
        }
    }
}

/// Gives a schema without a type, or with a list of types, one type or one branch per type.
fn split_types(schema: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let mut names: Vec<String> = match schema.keyword("type") {
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => infer_types(schema, cursor),
    };
    if names.is_empty() {
        return;
    }
    if names.iter().any(|name| name == "number") {
        names.retain(|name| name != "integer");
    }
    if let [only] = names.as_slice() {
        let only = only.clone();
        schema.set_keyword("type", json!(only));
        return retain_type_keywords(schema, &only);
    }
    let mut assertions = take_assertions(schema);
    if let Some(types) = assertions.keyword_mut("type") {
        // Each branch gets its own.
        *types = Value::Null;
    }
    let branches: Vec<Value> = names
        .iter()
        .filter_map(|name| {
            let mut branch = assertions.clone();
            branch.set_keyword("type", json!(name));
            retain_type_keywords(&mut branch, name);
            let empty = branch.list("enum").is_some_and(<[Value]>::is_empty);
            (!empty).then_some(Value::Object(branch))
        })
        .collect();
    set_branches(schema, branches, cursor);
}

/// The types that keywords apply to, if there is no `type`; values of other types are no longer accepted.
fn infer_types(schema: &JsonObject, cursor: &mut SchemaCursor<'_>) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    for keyword in schema.keys() {
        for name in applies_to(keyword).into_iter().flatten() {
            if !names.contains(name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    cursor.report_loss("type", Severity::Narrower, None);
    names.into_iter().map(str::to_owned).collect()
}

/// Removes keywords that do not apply to this type.
fn retain_type_keywords(schema: &mut JsonObject, json_type: &str) {
    let applies = |keyword: &str| match applies_to(keyword) {
        None | Some([]) => true,
        // For numbers it is only an annotation.
        Some(_) if keyword == "format" => matches!(json_type, "string" | "integer" | "number"),
        Some(types) => types.contains(&json_type),
    };
    if !schema.keys().all(|keyword| applies(keyword)) {
        schema.retain(|keyword, _| applies(keyword));
    }
    if let Some(Value::Array(values)) = schema.keyword_mut("enum")
        && !values.iter().all(|value| matches_type(value, json_type))
    {
        values.retain(|value| matches_type(value, json_type));
    }
    if json_type == "array" && !schema.has_keyword("items") && !schema.has_keyword("prefixItems") {
        schema.set_keyword("items", json!({}));
    }
}

fn matches_type(value: &Value, json_type: &str) -> bool {
    TypeSet::from_name(json_type).intersects(TypeSet::type_of(value))
}

fn normalise_union(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    opening: &mut RefExpansionBudget<'_>,
) {
    let Some(Value::Array(branches)) = schema.remove_keyword("anyOf") else {
        return;
    };
    let assertions = take_assertions(schema);
    let vacuous = |branch: &Value| branch.as_object().is_none_or(has_no_assertions);
    if branches.iter().any(vacuous) || branches.is_empty() {
        // One alternative accepts every value, and so does the union.
        schema.extend(assertions);
        return normalise_schema(schema, cursor, opening);
    }
    opening.has_grown |=
        !assertions.is_empty() || branches.iter().any(|branch| branch.has_keyword("anyOf"));
    let mut all = Vec::new();
    for branch in branches {
        let Value::Object(mut branch) = branch else {
            continue;
        };
        if !assertions.is_empty() {
            let mut merge = opening.merger();
            branch = merge.merge(branch, assertions.clone());
            if admits_nothing(&branch) {
                continue;
            }
            opening.depth += 1;
            normalise_deep(&mut branch, cursor, opening);
            opening.depth -= 1;
            merge.drop_conflicts(&mut branch, cursor);
        }
        flatten_branch(branch, &mut all);
    }
    set_branches(schema, all, cursor);
}

impl<'d> RefExpansionBudget<'d> {
    /// A recursive schema is not inlined in itself forever.
    fn merger(&mut self) -> SchemaMerger<'d> {
        if self.definitions.is_null() {
            return SchemaMerger::new(self.definitions);
        }
        match self.remaining.checked_sub(1) {
            Some(left) if self.depth < MAX_REF_EXPANSIONS.0 => {
                self.remaining = left;
                SchemaMerger::new(self.definitions)
            }
            _ => SchemaMerger::without_refs(self.definitions),
        }
    }
}

/// Merging may have combined types at any depth.
fn normalise_deep(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    opening: &mut RefExpansionBudget<'_>,
) {
    visit_bottom_up(schema, cursor, &mut |members, cursor| {
        remove_unsatisfiable_properties(members, cursor);
        normalise_schema(members, cursor, opening);
    });
}

/// Returns true if no value is valid: merging left `not: {}`, or an `enum` without a value of its types.
fn admits_nothing(schema: &JsonObject) -> bool {
    let lacks_value = |values: &[Value]| {
        let types = schema.keyword("type").map(TypeSet::from_type_keyword);
        types.is_some_and(|types| {
            !values.iter().any(|value| types.intersects(TypeSet::type_of(value)))
        })
    };
    schema.keyword("not").is_some_and(|not| *not == json!({}))
        || schema.list("enum").is_some_and(lacks_value)
}

/// Removes the properties that are never valid after merging.
fn remove_unsatisfiable_properties(schema: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let closed = schema.is_false("additionalProperties");
    let required = schema.list("required").unwrap_or_default().to_vec();
    let Some(Value::Object(properties)) = schema.keyword_mut("properties") else {
        return;
    };
    properties.retain(|name, subschema| {
        let nothing = subschema.as_object().is_some_and(admits_nothing);
        if nothing && (!closed || required.iter().any(|other| other == name)) {
            let mut cursor = cursor.child("properties", PathSegment::Name(name));
            cursor.report_loss("not", Severity::Wider, None);
            *subschema = json!({});
            return true;
        }
        !nothing
    });
}

/// Adds a branch, or the branches of a union.
fn flatten_branch(mut branch: JsonObject, all: &mut Vec<Value>) {
    match branch.remove_keyword("anyOf") {
        Some(Value::Array(inner)) => {
            for subschema in inner {
                let Value::Object(subschema) = subschema else {
                    continue;
                };
                // A branch that is a reference may have no siblings.
                if subschema.has_keyword("$ref") {
                    flatten_branch(subschema, all);
                    continue;
                }
                let mut annotations = branch.clone();
                annotations.retain(|keyword, _| !subschema.contains_key(keyword));
                flatten_branch(with_annotations(subschema, annotations), all);
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

/// Returns true if a union has other assertions beside it, which must be merged with it.
fn has_constrained_union(value: &Value) -> bool {
    any_object(value, &mut |members| {
        members.has_keyword("anyOf")
            && members.keys().any(|keyword| keyword != "anyOf" && is_assertion(keyword))
    })
}

/// Removes the assertions from a schema and returns them.
fn take_assertions(schema: &mut JsonObject) -> JsonObject {
    if has_no_assertions(schema) {
        return JsonObject::new();
    }
    let (assertions, annotations) =
        std::mem::take(schema).into_iter().partition(|(keyword, _)| is_assertion(keyword));
    *schema = annotations;
    assertions
}

/// Makes a schema of annotations the union of these branches; a single branch is merged into it.
fn set_branches(schema: &mut JsonObject, mut branches: Vec<Value>, cursor: &mut SchemaCursor<'_>) {
    match branches.len() {
        // No dialect can express a schema that is never valid.
        0 => cursor.report_loss("not", Severity::Wider, None),
        1 => {
            let annotations = std::mem::take(schema);
            if let Some(Value::Object(only)) = branches.pop() {
                *schema = with_annotations(only, annotations);
            }
        }
        _ => {
            schema.set_keyword("anyOf", Value::Array(branches));
        }
    }
}
