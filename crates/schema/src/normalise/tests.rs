//! What is sloppy becomes what was meant, what is right stays as it is, and nothing is lost on the way.

mod already_normal;
mod drafts;
mod literal_values;
mod objects;
mod random;
mod rejections;
mod type_names;

use serde_json::Value;

use super::normalise;
use crate::Schema;

/// Holds that a schema becomes another one with these notes, that the outcome compiles, and that it then stays.
fn assert_normalises(before: Value, after: Value, notes: &[&str]) {
    let mut schema = before.clone();
    let found = normalise(&mut schema).unwrap_or_else(|error| panic!("{before} refused: {error}"));
    assert_eq!(schema.to_string(), after.to_string(), "from {before}");
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, notes, "from {before}");
    Schema::check(schema.clone()).unwrap_or_else(|error| panic!("{schema} refused: {error}"));
    normalise(&mut schema).expect("a schema that was read once");
    assert_eq!(schema.to_string(), after.to_string(), "from {before}, twice");
}

/// The same for a schema in the place of a property.
fn assert_property_normalises(before: Value, after: Value, notes: &[&str]) {
    let object = |property| serde_json::json!({"type": "object", "properties": {"x": property}});
    let placed: Vec<String> = notes
        .iter()
        .map(|note| match note.strip_prefix('/') {
            Some(below) => format!("/properties/x/{below}"),
            None => format!("/properties/x: {note}"),
        })
        .collect();
    let placed: Vec<&str> = placed.iter().map(String::as_str).collect();
    assert_normalises(object(before), object(after), &placed);
}

/// Holds that a schema is left as it is, without a word.
fn assert_unchanged(schema: Value) {
    assert_normalises(schema.clone(), schema, &[]);
}

fn refusal(mut schema: Value) -> String {
    let shown = schema.to_string();
    match normalise(&mut schema) {
        Ok(_) => panic!("{shown} became {schema}"),
        Err(error) => error.to_string(),
    }
}
