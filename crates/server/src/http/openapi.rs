//! `/api/openapi.json`: the OpenAPI document of the server's routes and tools.

use std::sync::LazyLock;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};
use toolwright_core::RegisteredTool;
use toolwright_core::schema::Schema;

use super::{ApiState, json_response as answer};
use crate::auth::request_context::RequestContext;
use crate::http::error_response::ErrorResponse;

/// The part of the document that does not depend on the tools.
static BASE_DOCUMENT: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let base = serde_json::from_str(include_str!("openapi.json"));
    base.unwrap_or_default()
});

pub(super) async fn show_openapi(
    State(state): State<ApiState>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    let tools = context.invoker().list(&context.call_scope());
    let tools = tools.map_err(super::tools::registry_error)?;
    let info = &state.server.info;
    let paths = state.server.paths();
    answer(StatusCode::OK, &build_document(&info.name, &info.version, paths, &tools))
}

/// The document of the tools and of those routes that are among `paths`.
fn build_document(name: &str, version: &str, paths: &[String], tools: &[RegisteredTool]) -> Value {
    let mut document = BASE_DOCUMENT.clone();
    document.insert("info".to_owned(), json!({ "title": name, "version": version }));
    // Relative to the address of the document, so that it is right under any prefix.
    document.insert("servers".to_owned(), json!([{ "url": ".." }]));
    if let Some(documented) = document.get_mut("paths").and_then(Value::as_object_mut) {
        documented.retain(|path, _| paths.iter().any(|routed| is_same_path(path, routed)));
    }
    for tool in tools {
        let path = format!("/api/tools/{}", tool.spec().name);
        insert_at(&mut document, &["paths"], path, json!({ "post": tool_operation(tool) }));
        let spec = tool.spec();
        for (part, schema) in [("input", Some(&spec.input)), ("output", spec.output.as_ref())] {
            let Some(schema) = schema else { continue };
            let key = schema_key(tool, part);
            let schema = embed_schema(schema, &key);
            insert_at(&mut document, &["components", "schemas"], key, schema);
        }
    }
    document.into()
}

/// Returns true if two paths differ only in the names of their parameters.
fn is_same_path(one: &str, two: &str) -> bool {
    let is_same =
        |(one, two): (&str, &str)| one == two || one.starts_with('{') && two.starts_with('{');
    one.split('/').count() == two.split('/').count()
        && one.split('/').zip(two.split('/')).all(is_same)
}

fn insert_at(document: &mut Map<String, Value>, place: &[&str], key: String, value: Value) {
    let mut at = document;
    for name in place {
        let child = at.entry(*name).or_insert_with(|| json!({}));
        let Some(child) = child.as_object_mut() else {
            return;
        };
        at = child;
    }
    at.insert(key, value);
}

/// The key of a tool's schema in `components/schemas`; tool names contain no dots, so keys are unique.
fn schema_key(tool: &RegisteredTool, part: &str) -> String {
    format!("{}.{part}", tool.spec().name)
}

fn schema_ref(key: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{key}") })
}

fn tool_operation(tool: &RegisteredTool) -> Value {
    let spec = tool.spec();
    let mut body_schema = json!({
        "type": "object",
        "properties": { "arguments": schema_ref(&schema_key(tool, "input")) },
        "required": ["arguments"],
    });
    if tool.needs_approval() {
        let confirmed = json!({
            "const": true,
            "description": "The person has seen what will run, and wants it to; without, nothing runs.",
        });
        if let Some(properties) =
            body_schema.pointer_mut("/properties").and_then(Value::as_object_mut)
        {
            properties.insert("confirmed".to_owned(), confirmed);
        }
    }
    let result = match &spec.output {
        None => schema_ref("ToolResult"),
        Some(_) => {
            let structured = schema_ref(&schema_key(tool, "output"));
            json!({
                "allOf": [schema_ref("ToolResult")],
                "properties": { "structuredContent": { "anyOf": [structured, { "type": "null" }] } },
            })
        }
    };
    let mut operation = json!({
        "operationId": spec.name,
        "summary": spec.display_name(),
        "description": spec.description,
        "tags": ["tools"],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body_schema } } },
        "responses": {
            "200": {
                "description": "What came of the call, a failure included.",
                "content": { "application/json": { "schema": result } },
            },
            "default": { "$ref": "#/components/responses/Problem" },
        },
    });
    if let Some(operation) = operation.as_object_mut() {
        operation.insert("x-toolwright-hints".to_owned(), json!(spec.hints));
        operation.insert("x-toolwright-approval".to_owned(), tool.needs_approval().into());
    }
    operation
}

/// The schema with its references rewritten to its place in the document.
fn embed_schema(schema: &Schema, key: &str) -> Value {
    let mut schema = schema.as_value().clone();
    if let Some(schema) = schema.as_object_mut() {
        schema.shift_remove("$schema");
        schema.shift_remove("$id");
    }
    rewrite_refs(&mut schema, key);
    schema
}

fn rewrite_refs(schema: &mut Value, key: &str) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite_refs(item, key)),
        Value::Object(keywords) => {
            for (keyword, value) in keywords {
                match (keyword.as_str(), &mut *value) {
                    ("$ref" | "$dynamicRef", Value::String(target)) => {
                        if let Some(rest) = target
                            .strip_prefix('#')
                            .filter(|it| it.is_empty() || it.starts_with('/'))
                        {
                            *target = format!("#/components/schemas/{key}{rest}");
                        }
                    }
                    // Values, not schemas: a `$ref` in them is data.
                    ("const" | "default" | "enum" | "examples" | "example", _) => {}
                    // Maps of schemas: their keys are names, not keywords.
                    (
                        "properties" | "patternProperties" | "$defs" | "definitions"
                        | "dependentSchemas",
                        Value::Object(named),
                    ) => named.values_mut().for_each(|schema| rewrite_refs(schema, key)),
                    _ => rewrite_refs(value, key),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_lead_into_the_document_and_values_stay_as_they_are() {
        let mut schema = json!({
            "properties": {
                "a": { "$ref": "#/$defs/A", "default": { "$ref": "#/x" } },
                "default": { "$ref": "#" },
                "$ref": { "type": "string" },
            },
            "$defs": { "A": { "type": "array", "items": { "$ref": "#/$defs/A" } } },
        });
        rewrite_refs(&mut schema, "t.input");
        let expected = json!({
            "properties": {
                "a": { "$ref": "#/components/schemas/t.input/$defs/A", "default": { "$ref": "#/x" } },
                "default": { "$ref": "#/components/schemas/t.input" },
                "$ref": { "type": "string" },
            },
            "$defs": { "A": { "type": "array", "items": { "$ref": "#/components/schemas/t.input/$defs/A" } } },
        });
        assert_eq!(schema, expected);
    }

    #[test]
    fn the_base_document_is_valid() {
        assert!(BASE_DOCUMENT.contains_key("paths"));
    }
}
