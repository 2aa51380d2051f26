//! Rejected definitions and the location of the error.

use serde_json::{Value, json};

use super::{ImportError, all, import_definitions, rejection};

#[test]
fn an_invalid_definition_is_rejected_with_its_location() {
    let cases = [
        (
            json!({"tools": [{"type": "function", "function": {"name": "f", "parameters": {"properties": {"x": {"type": "strng"}}}}}]}),
            "/tools/0/function/parameters/properties/x/type: \"strng\" is no type; did you mean `string`?",
        ),
        (
            json!({"name": "f", "parameters": {"type": "object", "properties": {"x": {"$ref": "#/nowhere"}}}}),
            "/parameters/properties/x/$ref: cannot resolve `#/nowhere`: only parts of this schema can be referred to",
        ),
        (
            json!({"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "string"}}}}),
            "/toolSpec/inputSchema/json/type: arguments are an object, not \"string\"",
        ),
        (
            json!({"name": "f", "parameters": {"items": {"type": "string"}}}),
            "/parameters/items: arguments are an object, which `items` does not describe",
        ),
        (
            json!({"name": "f", "parameters": true}),
            "/parameters: arguments are an object, which true does not describe",
        ),
        (
            json!({"name": "f", "input_schema": {"type": "object"}, "parameters": {"type": "object", "properties": {"a": {}}}}),
            "/input_schema: differs from `parameters`: only one of them can be meant",
        ),
        (
            json!({"name": "f", "args": {"city": "string"}}),
            "/args: `args` is no known key; the parameters belong in `parameters`",
        ),
        (
            json!({"name": "f", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": "perhaps"}}),
            "/annotations/destructiveHint: expected true or false",
        ),
        (json!({"name": "f", "strict": "very"}), "/strict: expected true or false"),
        (json!({"name": "  ", "parameters": {}}), "/name: the name is empty"),
        (json!({"name": 5, "parameters": {}}), "/name: expected text, got 5"),
        (json!({"parameters": {"type": "object"}}), "a definition without a name"),
        (
            json!({"name": "f", "outputSchema": {"type": "objct"}, "inputSchema": {}}),
            "/outputSchema/type: \"objct\" is no type; did you mean `object`?",
        ),
    ];
    for (entry, message) in cases {
        let rejected = rejection(&entry);
        assert_eq!(rejected.to_string(), message, "{entry}");
        assert!(!rejected.hosted);
    }
}

#[test]
fn an_error_has_the_name_of_the_tool() {
    assert_eq!(rejection(&json!({"name": "f", "parameters": 5})).name.as_deref(), Some("f"));
}

#[test]
fn an_invalid_definition_does_not_affect_the_others() {
    let found = all(r#"[
        {"name": "a", "name": "b", "parameters": {}},
        {"name": "c", "parameters": {"properties": {"x": {}, "x": {}}}},
        5,
        {"nothing": "at all"},
        {"name": "d", "description": "D."}
    ]"#);
    let messages: Vec<String> = found
        .iter()
        .map(|entry| match entry {
            Ok(definition) => definition.name.clone(),
            Err(rejected) => rejected.to_string(),
        })
        .collect();
    assert_eq!(
        messages,
        [
            "/0: key `name` is named twice",
            "/1: key `x` is named twice in one object",
            "/2: not a tool definition in any form we know",
            "/3: not a tool definition in any form we know",
            "d",
        ]
    );
}

#[test]
fn hosted_tools_are_recognised() {
    let found = all(&json!({"tools": [
        {"type": "web_search"},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"type": "mcp", "server_label": "x", "server_url": "https://example.com"},
        {"googleSearch": {}},
        {"code_execution": {}},
        {"functionDeclarations": [{"name": "f", "description": "F."}], "urlContext": {}},
        {"type": "tool_search", "execution": "client"},
        {"systemTool": {"name": "nova_grounding"}},
        {"cachePoint": {"type": "default"}}
    ]})
    .to_string());
    let messages: Vec<String> = found
        .iter()
        .map(|entry| match entry {
            Ok(definition) => definition.name.clone(),
            Err(rejected) => {
                assert!(rejected.hosted, "{rejected}");
                rejected.to_string()
            }
        })
        .collect();
    assert_eq!(
        messages,
        [
            "/tools/0: `web_search` is hosted by the API: there is nothing to define",
            "/tools/1: `web_search_20250305` is hosted by the API: there is nothing to define",
            "/tools/2: `mcp` is hosted by the API: there is nothing to define",
            "/tools/3: `googleSearch` is hosted by the API: there is nothing to define",
            "/tools/4: `code_execution` is hosted by the API: there is nothing to define",
            "f",
            "/tools/5/urlContext: `urlContext` is hosted by the API: there is nothing to define",
            "/tools/6: `tool_search` is hosted by the API: there is nothing to define",
            "/tools/7: `nova_grounding` is hosted by the API: there is nothing to define",
            "/tools/8: a cache point: it marks a place, and defines nothing",
        ]
    );
    assert_eq!(found[1].as_ref().unwrap_err().name.as_deref(), Some("web_search"));
}

#[test]
fn a_text_in_an_unknown_form_is_rejected_as_a_whole() {
    for text in [
        "5",
        "\"tools\"",
        "null",
        "{}",
        "[1, 2]",
        r#"{"openapi": "3.1.0"}"#,
        "{\"a\":1}\n{\"b\":2}",
    ] {
        assert_eq!(import_definitions(text), Err(ImportError::UnknownFormat), "{text}");
    }
    let messages = ImportError::UnknownFormat.to_string();
    for form in
        ["tools", "result.tools", "functions", "functionDeclarations", "toolConfig", "JSON Lines"]
    {
        assert!(messages.contains(form), "{messages}");
    }
}

#[test]
fn a_text_that_is_not_json_is_rejected_with_line_and_column() {
    let rejected = import_definitions("[\n  {\"name\": }\n]").unwrap_err();
    assert_eq!(rejected.to_string(), "not JSON: expected value at line 2 column 12");
    assert!(matches!(import_definitions(""), Err(ImportError::Syntax { line: 1, .. })));
    assert!(matches!(import_definitions("tools:\n  - name: a\n"), Err(ImportError::Syntax { .. })));
}

#[test]
fn a_text_that_is_too_long_is_not_parsed() {
    let text = " ".repeat((64 << 20) + 1);
    assert!(matches!(import_definitions(&text), Err(ImportError::TooLong { .. })));
}

#[test]
fn a_text_with_too_many_entries_is_rejected() {
    let entries = |number: usize| format!("[{}5]", "5,".repeat(number - 1));
    let limit = 100_000;
    assert_eq!(import_definitions(&entries(limit)), Err(ImportError::UnknownFormat));
    assert_eq!(import_definitions(&entries(limit + 1)), Err(ImportError::TooManyEntries { limit }));
}

#[test]
fn a_text_that_is_too_deep_is_rejected_before_it_is_parsed() {
    let deep =
        |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let found = all(&deep("[", "]"));
    assert!(found[0].as_ref().unwrap_err().message.contains("wrapped more than"));
    let schema = format!("[{{\"name\": \"f\", \"parameters\": {}}}]", deep("[", "]"));
    assert!(all(&schema)[0].as_ref().unwrap_err().message.contains("nested deeper"));
    let wrapped = format!("{}[]{}", "{\"result\":".repeat(5_000), "}".repeat(5_000));
    assert!(all(&wrapped)[0].as_ref().unwrap_err().message.contains("nested deeper"));
    let nested: Value = (0..80).fold(json!({"type": "string"}), |inner, _| json!({"not": inner}));
    let rejected = rejection(
        &json!({"name": "f", "parameters": {"type": "object", "properties": {"a": nested}}}),
    );
    assert_eq!(rejected.to_string(), "/parameters: JSON nested deeper than 64 levels");
}
