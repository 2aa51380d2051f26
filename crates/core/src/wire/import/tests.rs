//! Tests of imports: definitions are read, or rejected with their location.

mod corpus;
mod documents;
mod random;
mod rejections;
mod shapes;

use serde_json::Value;

use super::*;

/// All entries of a text.
fn all(text: &str) -> Vec<Result<ToolDefinition, RejectedDefinition>> {
    import_definitions(text).unwrap_or_else(|error| panic!("{text} refused: {error}"))
}

/// The only entry, which is a definition.
fn one(entry: &Value) -> ToolDefinition {
    let mut found = all(&entry.to_string());
    assert_eq!(found.len(), 1, "{entry}");
    found.remove(0).unwrap_or_else(|refused| panic!("{entry} refused: {refused}"))
}

/// The error of the only entry.
fn rejection(entry: &Value) -> RejectedDefinition {
    let mut found = all(&entry.to_string());
    assert_eq!(found.len(), 1, "{entry}");
    found.remove(0).expect_err("a refusal")
}

/// The names of the definitions, in order.
fn names(text: &str) -> Vec<String> {
    let found = all(text).into_iter();
    found.map(|entry| entry.unwrap_or_else(|refused| panic!("{refused}")).name).collect()
}

fn notes(definition: &ToolDefinition) -> Vec<String> {
    definition.notes.iter().map(ToString::to_string).collect()
}
