//! The Model Context Protocol.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn takes_any_schema_of_an_object() {
    assert_accepts(
        Dialect::MCP,
        [
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            json!({"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema"}),
            json!({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"a": {"items": [{}]}}}),
            json!({"type": "object", "$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"a": {"minimum": 1, "exclusiveMinimum": true}}}),
            with_definitions(
                open_object(json!({"$ref": "#/$defs/n", "default": null})),
                json!({"n": {"type": ["null", "string"]}}),
            ),
            open_object(json!({"type": "string", "x-mcp-header": "Region"})),
            open_object(open_object(json!({"type": "integer", "x-mcp-header": "Region"}))),
        ],
    );
}

#[test]
fn refuses_what_needs_a_network_or_is_no_schema() {
    let old = json!({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"a": {"type": "text"}}});
    let draft = |name: &str| json!({"type": "object", "$schema": name, "properties": {"a": {"items": [{}]}}});
    assert_rejects(
        Dialect::MCP,
        [
            (json!({"properties": {}}), "", "must have `type: \"object\"`"),
            (
                open_object(json!({"$ref": "https://example.com/a.json"})),
                "/properties/a",
                "leaves the schema",
            ),
            (
                open_object(json!({"$ref": "file:///etc/passwd"})),
                "/properties/a",
                "leaves the schema",
            ),
            (open_object(json!({"$ref": "#/$defs/n"})), "/properties/a", "finds no schema"),
            (
                open_object(json!({"type": null})),
                "/properties/a/type",
                "not valid JSON Schema 2020-12",
            ),
            (
                draft("https://json-schema.org/draft/2020-12/schema"),
                "/properties/a/items",
                "not valid",
            ),
            (old, "/properties/a/type", "not valid JSON Schema Draft 7"),
            (draft("https://example.com/draft-99"), "/$schema", "names no known draft"),
        ],
    );
    for root in [json!(null), json!(true)] {
        let refusals = validate_for(Dialect::MCP, &root);
        assert!(
            refusals.iter().any(|refusal| refusal.rule == "the root must be a JSON object"),
            "{refusals:?}"
        );
    }
}

#[test]
fn sends_only_simple_properties_as_headers() {
    let header = |kind: Value| json!({"type": kind, "x-mcp-header": "Region"});
    let text = || header(json!("string"));
    let mut root = open_object(json!({}));
    root["x-mcp-header"] = json!("Region");
    assert_accepts(
        Dialect::MCP,
        ["string", "integer", "boolean"].map(|kind| open_object(header(json!(kind)))),
    );
    assert_rejects(
        Dialect::MCP,
        [
            (
                open_object(header(json!("number"))),
                "/properties/a",
                "only on strings, integers and booleans",
            ),
            (open_object(header(json!(["string", "null"]))), "/properties/a", "only on strings"),
            (
                open_object(json!({"anyOf": [text()]})),
                "/properties/a/anyOf/0",
                "only on properties",
            ),
            (open_object(json!({"items": text()})), "/properties/a/items", "only on properties"),
            (
                with_definitions(open_object(json!({"$ref": "#/$defs/n"})), json!({"n": text()})),
                "/$defs/n",
                "only on properties",
            ),
        ],
    );
    assert_eq!(validate_for(Dialect::MCP, &root).len(), 2);
}
