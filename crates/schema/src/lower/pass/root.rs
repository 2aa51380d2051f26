//! Makes the root a plain object with properties, as arguments are.

use serde_json::{Value, json};

use crate::lower::pass::all_of::{SchemaMerger, UNEVALUATED_KEYWORDS, resolve_unevaluated};
use crate::lower::pass::applies_to::has_no_assertions;
use crate::lower::pass::describe::drop_keyword;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LowerError, LoweringState, SchemaCursor, Severity,
};
use crate::type_set::TypeSet;

/// Keywords that only [`require_single_object`] handles.
const COMPOSITION_KEYWORDS: [&str; 8] =
    ["$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "enum", "const"];

/// Returns true if the root is a plain object already.
pub(crate) fn is_plain_object(schema: &Value) -> bool {
    schema.text("type") == Some("object") && !schema.has_any_keyword(&COMPOSITION_KEYWORDS)
}

/// Adds `type: object` to the root; other keywords may stay.
pub(crate) fn require_object_type(state: &mut LoweringState) -> Result<(), LowerError> {
    match &mut state.schema {
        Value::Bool(true) => state.schema = json!({"type": "object"}),
        Value::Bool(false) => return Err(not_an_object_error()),
        Value::Object(schema) => set_object_type(schema)?,
        _ => {}
    }
    Ok(())
}

/// Makes the root one object, without references, alternatives and negations.
pub(crate) fn require_single_object(state: &mut LoweringState) -> Result<(), LowerError> {
    require_object_type(state)?;
    let definitions = match is_plain_object(&state.schema) {
        true => Value::Null,
        false => {
            state.invalidate_keywords();
            collect_definitions(&state.schema)
        }
    };
    state.note_added_keywords(
        KeywordSet::NON_SCHEMA_ITEMS
            .union(KeywordSet::from_keywords(&["additionalProperties", "items"])),
    );
    let (Value::Object(schema), mut cursor) = state.root() else {
        return Ok(());
    };
    let cursor = &mut cursor;
    // Unevaluated properties are resolved after everything that evaluates them has been merged.
    let rest = UNEVALUATED_KEYWORDS.map(|keyword| (keyword, schema.remove_keyword(keyword)));
    let mut alternatives = false;
    // The target of a reference may itself be a union; realistic schemas end after a few rounds.
    for _ in 0..8 {
        let before = schema.len();
        if let Some(target) = find_definition(schema, &definitions).cloned() {
            schema.remove_keyword("$ref");
            merge_schema(schema, target, cursor, &definitions);
        }
        merge_root_all_of(schema, cursor, &definitions);
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(branches)) = schema.remove_keyword(keyword) {
                flatten_union(schema, &branches, keyword, cursor, &definitions)?;
                alternatives = true;
            }
        }
        if schema.len() == before {
            break;
        }
    }
    for keyword in COMPOSITION_KEYWORDS {
        if let Some(value) = schema.remove_keyword(keyword) {
            drop_keyword(schema, cursor, keyword, &value);
        }
    }
    for (keyword, value) in rest {
        match value {
            Some(value) if alternatives => drop_keyword(schema, cursor, keyword, &value),
            Some(value) => {
                schema.set_keyword(keyword, value);
            }
            None => {}
        }
    }
    resolve_unevaluated(schema);
    set_object_type(schema)?;
    if !schema.has_keyword("properties") {
        let at = schema.keys().position(|keyword| keyword == "type").map_or(0, |at| at + 1);
        schema.shift_insert(at, "properties".to_owned(), json!({}));
    }
    Ok(())
}

/// Leaves only properties at the root; its annotations go into the tool's description.
pub(crate) fn move_annotations_out(state: &mut LoweringState) -> Result<(), LowerError> {
    if let Value::Object(schema) = &mut state.schema
        && let Some(Value::String(text)) = schema.remove_keyword("description")
    {
        state.description_suffix = Some(text);
    }
    Ok(())
}

fn set_object_type(schema: &mut JsonObject) -> Result<(), LowerError> {
    if !admits_objects(schema) {
        return Err(not_an_object_error());
    }
    match schema.keyword_mut("type") {
        Some(json_type) => *json_type = json!("object"),
        None => drop(schema.shift_insert(0, "type".to_owned(), json!("object"))),
    }
    Ok(())
}

fn not_an_object_error() -> LowerError {
    LowerError::new("arguments are an object, and this schema admits none")
}

/// Definitions by the name after `#/$defs/`; those of older drafts included.
fn collect_definitions(schema: &Value) -> Value {
    let mut all = JsonObject::new();
    for keyword in ["definitions", "$defs"] {
        if let Some(Value::Object(some)) = schema.keyword(keyword) {
            all.extend(some.clone());
        }
    }
    if all.is_empty() { Value::Null } else { Value::Object(all) }
}

/// The definition that a schema refers to.
fn find_definition<'d>(schema: &JsonObject, definitions: &'d Value) -> Option<&'d JsonObject> {
    let reference = schema.text("$ref")?;
    let name = reference.strip_prefix("#/$defs/").or(reference.strip_prefix("#/definitions/"))?;
    definitions.get(name)?.as_object()
}

fn merge_root_all_of(schema: &mut JsonObject, cursor: &mut SchemaCursor<'_>, definitions: &Value) {
    let Some(Value::Array(subschemas)) = schema.remove_keyword("allOf") else {
        return;
    };
    for subschema in subschemas {
        match subschema {
            Value::Object(subschema) => {
                let target = find_definition(&subschema, definitions);
                let target = target.filter(|_| subschema.len() == 1).cloned();
                merge_schema(schema, target.unwrap_or(subschema), cursor, definitions);
            }
            Value::Bool(true) => {}
            other => drop_keyword(schema, cursor, "allOf", &other),
        }
    }
}

/// Merges another schema into the root.
fn merge_schema(
    schema: &mut JsonObject,
    other: JsonObject,
    cursor: &mut SchemaCursor<'_>,
    definitions: &Value,
) {
    let mut merge = SchemaMerger::new(definitions);
    let mut whole = merge.merge(std::mem::take(schema), other);
    merge.drop_conflicts(&mut whole, cursor);
    *schema = whole;
}

/// Merges alternatives into one object: the properties of all, required where all require it.
fn flatten_union(
    schema: &mut JsonObject,
    branches: &[Value],
    keyword: &str,
    cursor: &mut SchemaCursor<'_>,
    definitions: &Value,
) -> Result<(), LowerError> {
    let opened: Vec<JsonObject> = branches
        .iter()
        .filter(|branch| **branch != Value::Bool(false))
        .map(|branch| match branch.as_object() {
            Some(branch) if branch.text("$ref").is_some() => find_definition(branch, definitions),
            branch => branch,
        })
        .map(|branch| branch.cloned().unwrap_or_default())
        .filter(admits_objects)
        .collect();
    if opened.is_empty() {
        return Err(not_an_object_error());
    }
    if keyword == "anyOf" && opened.iter().any(has_no_assertions) {
        // One alternative accepts every value, and so does the union.
        return Ok(());
    }
    if let [only] = opened.as_slice() {
        merge_schema(schema, only.clone(), cursor, definitions);
        return Ok(());
    }
    let mut properties: JsonObject = JsonObject::new();
    for (name, subschema) in
        opened.iter().filter_map(|branch| branch.object("properties")).flatten()
    {
        let merged = properties.entry(name.as_str()).or_insert_with(|| json!({"anyOf": []}));
        if let Some(Value::Array(forms)) = merged.keyword_mut("anyOf")
            && !forms.contains(subschema)
        {
            forms.push(subschema.clone());
        }
    }
    for subschema in properties.values_mut() {
        merge_alternatives(subschema);
    }
    let mut whole = JsonObject::new();
    if !properties.is_empty() {
        whole.set_keyword("properties", Value::Object(properties));
    }
    let mut all = opened.iter().map(|branch| branch.list("required").unwrap_or_default());
    let mut always = all.next().unwrap_or_default().to_vec();
    for names in all {
        always.retain(|name| names.contains(name));
    }
    if !always.is_empty() {
        whole.set_keyword("required", Value::Array(always));
    }
    let closed = |branch: &JsonObject| {
        branch.is_false("additionalProperties") && !branch.has_keyword("patternProperties")
    };
    if opened.iter().all(closed) {
        whole.set_keyword("additionalProperties", Value::Bool(false));
    }
    let silent = |branch: &JsonObject| {
        let declared = branch.object("properties");
        let mut all = whole.object("properties").into_iter().flat_map(JsonObject::keys);
        !closed(branch)
            && all.any(|name| declared.is_none_or(|declared| !declared.contains_key(name)))
    };
    if opened.iter().any(silent) {
        // An open alternative accepted any value for properties that only the others declare.
        cursor.report_loss(keyword, Severity::Narrower, None);
    }
    let groups: Vec<String> =
        opened.iter().map(describe_branch).filter(|group| !group.is_empty()).collect();
    merge_schema(schema, whole, cursor, definitions);
    if groups.is_empty() {
        drop_keyword(schema, cursor, keyword, &Value::Array(branches.to_vec()));
    } else {
        let words = format!("give one of these groups: {}", groups.join("; or "));
        cursor.move_to_description(schema, keyword, words);
    }
    Ok(())
}

fn admits_objects(branch: &JsonObject) -> bool {
    let types = branch.keyword("type").map_or(TypeSet::ALL, TypeSet::from_type_keyword);
    types.intersects(TypeSet::OBJECT)
}

/// The names that one alternative requires, with the constants of its discriminator.
fn describe_branch(branch: &JsonObject) -> String {
    let describe = |name: &str| {
        let subschema = branch.keyword("properties").and_then(|properties| properties.get(name));
        let only = subschema.and_then(|subschema| match subschema.list("enum") {
            Some([only]) => Some(only),
            _ => subschema.keyword("const"),
        });
        only.map_or_else(|| name.to_owned(), |value| format!("{name} = {value}"))
    };
    branch.required_names().map(describe).collect::<Vec<_>>().join(", ")
}

/// Merges a list of schemas for one property into one schema.
fn merge_alternatives(subschema: &mut Value) {
    let Some(Value::Array(forms)) = subschema.keyword_mut("anyOf") else {
        return;
    };
    let only_discriminates = |form: &Value| {
        let mut keywords = form.as_object().into_iter().flat_map(JsonObject::keys);
        keywords.all(|keyword| DISCRIMINATOR_KEYWORDS.contains(&keyword.as_str()))
    };
    let values = |form: &Value| match form.list("enum") {
        Some(values) if only_discriminates(form) => Some(values.to_vec()),
        _ => form.keyword("const").map(|value| vec![value.clone()]),
    };
    let types: Vec<Option<&Value>> = forms.iter().map(|form| form.keyword("type")).collect();
    let alike = types.windows(2).all(|pair| pair.first() == pair.last());
    let tags: Option<Vec<Vec<Value>>> = forms.iter().map(values).collect();
    match (forms.len(), tags) {
        (1, _) => *subschema = forms.pop().unwrap_or_default(),
        (_, Some(tags)) if alike => {
            let json_type = types.first().copied().flatten().cloned();
            let json_type = json_type.map(|json_type| ("type".to_owned(), json_type));
            let mut whole = JsonObject::from_iter(json_type);
            let mut all: Vec<Value> = Vec::new();
            for value in tags.into_iter().flatten() {
                if !all.contains(&value) {
                    all.push(value);
                }
            }
            whole.set_keyword("enum", Value::Array(all));
            *subschema = Value::Object(whole);
        }
        _ => {
            let flat: Vec<Value> = forms
                .drain(..)
                .flat_map(|form| match form.keyword("anyOf") {
                    Some(Value::Array(inner)) => inner.clone(),
                    _ => vec![form],
                })
                .collect();
            let any = flat.iter().any(|form| form.as_object().is_none_or(has_no_assertions));
            *subschema = if any { json!({}) } else { json!({ "anyOf": flat }) };
        }
    }
}

/// The keywords of a property that only discriminates between alternatives.
const DISCRIMINATOR_KEYWORDS: [&str; 4] = ["const", "description", "enum", "type"];
