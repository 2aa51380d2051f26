//! Each form of definition is detected and read.

use serde_json::{Value, json};

use super::{Shape, names, notes, one};
use crate::Hints;

fn city() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
}

#[test]
fn every_form_gives_the_same_definition() {
    let (name, description) = ("weather.now", "Returns the weather.");
    let forms = [
        (
            Shape::OpenAiChat,
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": city()}}),
        ),
        (
            Shape::OpenAiChat,
            json!({"name": name, "description": description, "parameters": city()}),
        ),
        (
            Shape::OpenAiResponses,
            json!({"type": "function", "name": name, "description": description, "parameters": city()}),
        ),
        (
            Shape::Anthropic,
            json!({"name": name, "description": description, "input_schema": city(), "cache_control": {"type": "ephemeral"}}),
        ),
        (
            Shape::Anthropic,
            json!({"type": "custom", "name": name, "description": description, "input_schema": city()}),
        ),
        (
            Shape::Gemini,
            json!({"functionDeclarations": [{"name": name, "description": description, "parameters": city()}]}),
        ),
        (
            Shape::Gemini,
            json!({"name": name, "description": description, "parametersJsonSchema": city()}),
        ),
        (
            Shape::Gemini,
            json!([{"function_declarations": [{"name": name, "description": description, "parameters_json_schema": city()}]}]),
        ),
        (Shape::Mcp, json!({"name": name, "description": description, "inputSchema": city()})),
        (
            Shape::Bedrock,
            json!({"toolSpec": {"name": name, "description": description, "inputSchema": {"json": city()}}}),
        ),
    ];
    for (shape, form) in forms {
        let read = one(&form);
        assert_eq!(read.shape, shape, "{form}");
        assert_eq!(read.name, name);
        assert_eq!(read.description, description);
        assert_eq!(read.input.as_value(), &city());
        assert_eq!(read.output, None);
        assert_eq!(read.strict, None);
        assert_eq!(read.hints, Hints::default());
        assert_eq!(notes(&read), [""; 0], "{form}");
    }
}

#[test]
fn a_gemini_schema_is_detected_by_its_upper_case_types() {
    let read = one(
        &json!({"name": "f", "description": "F.", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}),
    );
    assert_eq!(read.shape, Shape::Gemini);
    assert_eq!(
        notes(&read),
        [
            "/parameters: type \"OBJECT\" read as \"object\"",
            "/parameters/properties/a: type \"STRING\" read as \"string\"",
        ]
    );
}

#[test]
fn title_output_and_annotations_of_mcp_are_kept() {
    let read = one(&json!({
        "name": "delete_file",
        "description": "Deletes a file.",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"bytes": {"type": "integer"}}},
        "annotations": {"title": "Delete a file", "destructiveHint": true, "idempotentHint": "true", "openWorldHint": null},
        "_meta": {"vendor": 1}
    }));
    assert_eq!(read.title.as_deref(), Some("Delete a file"));
    assert_eq!(read.hints.destructive, Some(true));
    assert_eq!(read.hints.idempotent, Some(true));
    assert_eq!(read.hints.open_world, None);
    assert_eq!(read.output.unwrap().as_value()["properties"]["bytes"]["type"], "integer");
    let notes: Vec<_> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["/annotations/idempotentHint: \"true\" read as true"]);
}

#[test]
fn strict_is_read_inside_and_outside_the_wrapper() {
    let chat = |inner: Value| json!({"type": "function", "function": inner});
    let inside = one(&chat(json!({"name": "f", "description": "F.", "strict": true})));
    assert_eq!(inside.strict, Some(true));
    let beside = one(
        &json!({"type": "function", "strict": false, "function": {"name": "f", "description": "F."}}),
    );
    assert_eq!(beside.strict, Some(false));
    assert_eq!(notes(&beside), ["`strict` read as part of the definition"]);
}

#[test]
fn shapes_are_parsed_by_name() {
    let names = Shape::ALL.map(|shape| shape.to_string());
    assert_eq!(
        names,
        ["openai-chat", "openai-responses", "anthropic", "gemini", "ollama", "mcp", "bedrock"]
    );
    for shape in Shape::ALL {
        assert_eq!(shape.name().parse(), Ok(shape));
    }
    let unknown = |name: &str| name.parse::<Shape>().unwrap_err().to_string();
    assert_eq!(unknown("antropic"), "there is no shape `antropic`; did you mean `anthropic`?");
    assert!(unknown("x").ends_with("ollama, mcp, bedrock"));
}

#[test]
fn no_parameters_at_all_are_no_parameters() {
    let none = json!({"type": "object", "properties": {}});
    for given in [
        json!({"name": "f", "description": "F."}),
        json!({"name": "f", "description": "F.", "parameters": null}),
        json!({"name": "f", "description": "F.", "parameters": {}}),
        json!({"name": "f", "description": "F.", "inputSchema": {"type": "object", "properties": {}}}),
    ] {
        let read = one(&given);
        assert_eq!(read.input.as_value(), &none, "{given}");
        assert_eq!(notes(&read), [""; 0], "{given}");
    }
    let php = one(&json!({"name": "f", "description": "F.", "parameters": []}));
    assert_eq!(php.input.as_value(), &none);
    assert_eq!(notes(&php), ["/parameters: [] read as no parameters"]);
}

#[test]
fn missing_or_misplaced_keys_are_noted() {
    let read = one(&json!({"name": "f", "description": {"en": "F."}}));
    assert_eq!(read.description, r#"{"en":"F."}"#);
    assert_eq!(notes(&read), ["/description: read as text, though it is none"]);

    let read = one(&json!({"name": "f"}));
    assert_eq!(read.description, "");
    assert_eq!(notes(&read), ["no description: a model cannot tell what it is for"]);

    let read = one(
        &json!({"name": "f", "description": ["One.", "Two."], "parameters": {"description": "Nothing."}, "returns": "text"}),
    );
    assert_eq!(read.description, "One.\nTwo.");
    assert_eq!(read.input.as_value(), &json!({"type": "object", "description": "Nothing."}));
    assert_eq!(
        notes(&read),
        [
            "/description: a list of lines read as text",
            "/parameters: type \"object\" added: arguments are nothing else",
            "`returns` left out: no part of a definition",
        ]
    );

    let read = one(
        &json!({"name": "f", "description": "F.", "properties": {"a": "str"}, "required": ["a"]}),
    );
    assert_eq!(
        read.input.as_value(),
        &json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    );
    assert_eq!(
        notes(&read),
        [
            "`properties` read as those of the parameters",
            "/properties/a: \"str\" read as {\"type\":\"string\"}",
            "type \"object\" added: it has properties",
        ]
    );

    let read = one(
        &json!({"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {"a": {}}}, "required": ["a"]}),
    );
    assert_eq!(read.input.as_value()["required"], json!(["a"]));
    assert_eq!(notes(&read), ["`required` read as part of the parameters"]);
}

#[test]
fn a_custom_tool_has_one_parameter_for_its_text() {
    let grammar = json!({"syntax": "lark", "definition": "start: \"a\"+"});
    let mut responses = grammar.clone();
    responses["type"] = json!("grammar");
    let chat = json!({"type": "grammar", "grammar": grammar});
    let described = "Text in this grammar (lark):\nstart: \"a\"+";
    for (entry, description) in [
        (json!({"type": "custom", "name": "patch", "description": "Patches."}), "Any text."),
        (
            json!({"type": "custom", "name": "patch", "description": "Patches.",
                "format": {"type": "text"}, "defer_loading": true, "allowed_callers": ["direct"]}),
            "Any text.",
        ),
        (
            json!({"type": "custom", "name": "patch", "description": "Patches.", "format": responses}),
            described,
        ),
        (
            json!({"type": "custom", "custom": {"name": "patch", "description": "Patches.", "format": chat}}),
            described,
        ),
    ] {
        let read = one(&entry);
        assert_eq!((read.name.as_str(), read.description.as_str()), ("patch", "Patches."));
        assert_eq!(read.input.as_value()["required"], json!(["input"]));
        let input = &read.input.as_value()["properties"]["input"];
        assert_eq!(input, &json!({"type": "string", "description": description}));
        assert_eq!(notes(&read), ["a custom tool: its text is the parameter `input`"]);
    }
}

#[test]
fn the_tools_of_a_namespace_are_read_one_by_one() {
    let function = |name: &str| {
        json!({"type": "function", "name": name, "description": "Does it.", "parameters": city(),
            "strict": true, "defer_loading": true})
    };
    let namespace = |name: &str| {
        json!({"type": "namespace", "name": name, "description": "Customers.",
            "tools": [function("list"), {"type": "custom", "name": "note", "description": "Notes."}]})
    };
    let tools = json!({"tools": [function("f"), namespace("crm"), namespace("shop")]});
    assert_eq!(names(&tools.to_string()), ["f", "list", "note", "list", "note"]);
}

#[test]
fn the_examples_of_anthropic_are_those_of_the_schema() {
    let mut schema = city();
    schema["examples"] = json!([{"city": "Oslo"}]);
    let read = one(&json!({"name": "f", "description": "F.", "input_schema": schema,
        "input_examples": [{"city": "Rome"}, {"city": 7}], "cache_control": {"type": "ephemeral"},
        "allowed_callers": ["direct"], "defer_loading": true, "eager_input_streaming": true}));
    let examples = &read.input.as_value()["examples"];
    assert_eq!(examples, &json!([{"city": "Oslo"}, {"city": "Rome"}]));
    let notes = notes(&read);
    assert!(notes[0].starts_with("/input_examples/1: left out: "), "{notes:?}");
    assert_eq!(notes.len(), 1);
}
