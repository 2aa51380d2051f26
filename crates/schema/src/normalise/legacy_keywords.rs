//! Converts keywords of older drafts and other dialects to 2020-12.

use serde_json::{Value, json};

use super::{JsonObject, NormaliseResult, Normaliser, keyword_values::parse_bool};

/// Keywords that were only renamed, in drafts 3 and 2019-09 and in Vertex.
const RENAMED_KEYWORDS: [(&str, &str); 6] = [
    ("divisibleBy", "multipleOf"),
    ("extends", "allOf"),
    ("disallow", "not"),
    ("$recursiveRef", "$ref"),
    ("ref", "$ref"),
    ("defs", "$defs"),
];

/// Replaces the keywords of older drafts by those of 2020-12.
pub(super) fn upgrade_keywords(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult {
    remove_schema_keyword(normaliser, members)?;
    upgrade_exclusive_bound(normaliser, members, "exclusiveMinimum", "minimum");
    upgrade_exclusive_bound(normaliser, members, "exclusiveMaximum", "maximum");
    drop_recursive_anchor(normaliser, members);
    upgrade_values(members);
    for (from, to) in RENAMED_KEYWORDS {
        rename_keyword(normaliser, members, from, to)?;
    }
    split_dependencies(normaliser, members)
}

fn remove_schema_keyword(normaliser: &mut Normaliser, members: &mut JsonObject) -> NormaliseResult {
    let known = match members.get("$schema") {
        None => return Ok(()),
        Some(Value::Null) => true,
        Some(Value::String(name)) => {
            let name = name.trim_end_matches('#');
            if name == "https://json-schema.org/draft/2020-12/schema" {
                return Ok(());
            }
            name.contains("json-schema.org/") || name.contains("spec.openapis.org/")
        }
        Some(other) => return Err(normaliser.expected("$schema", "text", other)),
    };
    // Any other dialect is custom: `Schema::check` rejects it if it is unknown.
    if known && let Some(name) = members.shift_remove("$schema") {
        normaliser
            .add_fix(format!("`$schema: {}` dropped: read as 2020-12", normaliser.excerpt(&name)));
    }
    Ok(())
}

fn upgrade_exclusive_bound(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
    keyword: &str,
    bound: &str,
) {
    let Some(given) = members.get(keyword).filter(|given| !given.is_number()) else {
        return;
    };
    let given = given.as_bool().or_else(|| parse_bool(given)?.as_bool());
    let limit = members.get(bound).cloned();
    if let (Some(true), Some(limit)) = (given, limit) {
        normaliser.add_fix(format!("`{keyword}: true` read as `{keyword}: {limit}`"));
        members.insert(keyword.to_owned(), limit);
        members.shift_remove(bound);
    } else {
        normaliser.add_fix(format!("`{keyword}` dropped: it excludes no `{bound}`"));
        members.shift_remove(keyword);
    }
}

fn rename_keyword(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
    from: &str,
    to: &str,
) -> NormaliseResult {
    let fits = match members.get(from) {
        None | Some(Value::Null) => false,
        // Any other value is a custom keyword.
        Some(Value::String(target)) if from == "ref" => target.starts_with("#/$defs/"),
        Some(value) => from != "defs" || value.is_object(),
    };
    if fits && members.contains_key(to) {
        let message = format!("stands beside `{to}`, which replaces it in 2020-12");
        return Err(normaliser.error_at(from, message));
    }
    if fits && let Some(value) = members.shift_remove(from) {
        normaliser.add_fix(format!("`{from}` read as `{to}`"));
        members.insert(to.to_owned(), value);
    }
    Ok(())
}

/// Has no effect within one document; otherwise it stays, and `Schema::check` rejects it.
fn drop_recursive_anchor(normaliser: &mut Normaliser, members: &mut JsonObject) {
    if members.contains_key("$recursiveAnchor") && !members.contains_key("$id") {
        members.shift_remove("$recursiveAnchor");
        normaliser.add_fix("`$recursiveAnchor` dropped: references lead to where they point");
    }
}

/// Keywords whose values changed too: `disallow` holds types, and a `ref` points to `defs`.
fn upgrade_values(members: &mut JsonObject) {
    if let Some(types) = members.get_mut("disallow").filter(|types| !types.is_null()) {
        *types = json!({"type": types.take()});
    }
    if !members.contains_key("type")
        && let Some(Value::String(target)) = members.get_mut("ref")
        && let Some(name) = target.strip_prefix("#/defs/")
    {
        *target = format!("#/$defs/{name}");
    }
}

/// Splits `dependencies` into two keywords: one for names, one for schemas.
fn split_dependencies(normaliser: &mut Normaliser, members: &mut JsonObject) -> NormaliseResult {
    let entries = match members.shift_remove("dependencies") {
        None => return Ok(()),
        Some(Value::Null) => JsonObject::new(),
        Some(Value::Object(entries)) => entries,
        Some(other) => return Err(normaliser.expected("dependencies", "an object", &other)),
    };
    for (name, needs) in entries {
        let (keyword, needs) = match needs {
            Value::String(one) => ("dependentRequired", json!([one])),
            Value::Array(_) => ("dependentRequired", needs),
            _ => ("dependentSchemas", needs),
        };
        normaliser.add_fix(format!("`dependencies/{name}` read as `{keyword}/{name}`"));
        let place = members.entry(keyword).or_insert_with(|| json!({}));
        match place.as_object_mut() {
            Some(known) if !known.contains_key(&name) => known.insert(name, needs),
            _ => {
                let message = format!("`{name}` stands in `dependencies` and in `{keyword}`");
                return Err(normaliser.error_at("dependencies", message));
            }
        };
    }
    Ok(())
}
