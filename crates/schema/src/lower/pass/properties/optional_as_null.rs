//! Makes every property required; optional properties become nullable instead.

use serde_json::{Value, json};

use crate::lower::pass::applies_to::has_no_assertions;
use crate::lower::pass::unions::is_null_schema;
use crate::lower::{
    JsonObject, KeywordLookup, KeywordSet, LIFT_KEYWORD, LiftMark, LowerError, LoweringState,
    PathSegment, SchemaCursor, Severity, add_lift_mark,
};

pub(crate) fn run(state: &mut LoweringState) -> Result<(), LowerError> {
    state.visit_top_down(|members, cursor| {
        if members.text("type") == Some("object") {
            require_all(members, cursor);
        }
    });
    state.note_added_keywords(KeywordSet::from_keywords(&["anyOf"]).union(KeywordSet::NULL_TYPE));
    Ok(())
}

fn require_all(members: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    let mut required = match members.keyword_mut("required") {
        Some(Value::Array(names)) => std::mem::take(names),
        _ => Vec::new(),
    };
    let Some(Value::Object(properties)) = members.keyword_mut("properties") else {
        return;
    };
    for (name, subschema) in properties.iter_mut() {
        if required.iter().any(|other| other == name) {
            continue;
        }
        if let Value::Object(subschema) = subschema {
            let mut cursor = cursor.child("properties", PathSegment::Name(name));
            allow_null_for_absent(subschema, &mut cursor);
        }
    }
    let names = properties.keys().map(|name| {
        let existing = required.iter_mut().find(|other| *other == name);
        existing.map_or_else(|| Value::from(name.as_str()), Value::take)
    });
    let names = names.collect();
    members.set_keyword("required", names);
}

/// Makes a property nullable, where null means that it is absent.
pub(crate) fn allow_null_for_absent(subschema: &mut JsonObject, cursor: &mut SchemaCursor<'_>) {
    if admits_null(subschema) {
        // Its own null and the one for absence are the same from now on.
        cursor.report_loss("null", Severity::Note, None);
    } else if let Some(Value::Array(branches)) = subschema.keyword_mut("anyOf") {
        branches.push(json!({"type": "null"}));
    } else {
        // Room for the description, the branches and a mark.
        let mut inner = std::mem::replace(subschema, JsonObject::with_capacity(3));
        if let Some((keyword, description)) = inner.shift_remove_entry("description") {
            subschema.insert(keyword, description);
        }
        if let Some(Value::Object(marks)) = inner.keyword_mut(LIFT_KEYWORD)
            && let Some(name) = marks.remove_keyword("name")
        {
            let own = JsonObject::from_iter([("name".to_owned(), name)]);
            subschema.set_keyword(LIFT_KEYWORD, Value::Object(own));
        }
        let branches = vec![Value::Object(inner), json!({"type": "null"})];
        subschema.set_keyword("anyOf", Value::Array(branches));
    }
    add_lift_mark(subschema, LiftMark::NullMeansAbsent);
}

fn admits_null(schema: &JsonObject) -> bool {
    match schema.list("anyOf") {
        Some(branches) => branches.iter().any(is_null_schema),
        None => schema.text("type") == Some("null") || has_no_assertions(schema),
    }
}
