//! The documents that contain definitions.

use serde_json::{Value, json};

use super::{all, names, one};

fn define(name: &str) -> Value {
    json!({"name": name, "description": "Does it.", "parameters": {"type": "object", "properties": {}}})
}

#[test]
fn definitions_are_found_in_every_wrapper() {
    let (a, b) = (define("a"), define("b"));
    for wrapped in [
        json!([a, b]),
        json!({"model": "m", "messages": [], "tools": [a, b]}),
        json!({"tools": [a, b], "nextCursor": "x"}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [a, b]}}),
        json!({"model": "m", "functions": [a, b]}),
        json!({"functionDeclarations": [a, b]}),
        json!({"function_declarations": [a, b]}),
        json!([{"functionDeclarations": [a]}, {"functionDeclarations": [b]}]),
        json!({"tools": [{"functionDeclarations": [a, b]}], "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
        json!({"toolConfig": {"tools": [{"toolSpec": a}, {"toolSpec": b}]}}),
        json!({"id": "simple_0", "question": [[{"role": "user"}]], "function": [a, b]}),
        json!({"query": "q", "tools": json!([a, b]).to_string()}),
        json!({"custom_id": "1", "method": "POST", "body": {"model": "m", "tools": [a, b]}}),
        json!([[a], [b]]),
        json!({"name": "assistant", "model": "m", "tools": [a, b]}),
        json!({"tools": [a], "result": {"tools": [b]}}),
    ] {
        assert_eq!(names(&wrapped.to_string()), ["a", "b"], "{wrapped}");
    }
    assert_eq!(names(&a.to_string()), ["a"]);
    assert_eq!(names("\u{feff} [] "), [""; 0]);
    assert_eq!(names(r#"{"tools": []}"#), [""; 0]);
}

#[test]
fn json_lines_are_read_line_by_line() {
    let record = |name: &str| json!({"id": name, "function": [define(name)]});
    let text = format!("{}\n\n{}\r\n{}\n", record("a"), define("b"), json!([define("c")]));
    assert_eq!(names(&text), ["a", "b", "c"]);
    let places: Vec<_> = all(&text)
        .into_iter()
        .map(|found| found.map(|found| (found.line, found.pointer)).unwrap())
        .collect();
    assert_eq!(
        places,
        [(Some(1), "/function/0".to_owned()), (Some(3), String::new()), (Some(4), "/0".to_owned()),]
    );
}

#[test]
fn a_broken_line_does_not_affect_the_others() {
    let text = format!("{}\n{{\"name\": \n{}", define("a"), define("b"));
    let found = all(&text);
    assert_eq!(found.len(), 3);
    let broken = found[1].as_ref().unwrap_err();
    assert_eq!(broken.line, Some(2));
    assert!(broken.to_string().starts_with("line 2: not JSON: EOF"), "{broken}");
    assert!(found[0].is_ok() && found[2].is_ok());
}

#[test]
fn a_name_is_unique_in_a_list_of_tools() {
    let found = all(&json!({"tools": [define("a"), define("b"), define("a")]}).to_string());
    let twice = found[2].as_ref().unwrap_err();
    assert_eq!(twice.index, 2);
    assert_eq!(twice.name.as_deref(), Some("a"));
    assert_eq!(twice.to_string(), "/tools/2: entry 2 has the name `a`, and so has entry 0");
    let lines = format!("{}\n{}", define("a"), define("a"));
    assert!(all(&lines)[1].is_err());
    let declared =
        json!([{"functionDeclarations": [define("a")]}, {"functionDeclarations": [define("a")]}]);
    assert!(all(&declared.to_string())[1].is_err());
}

#[test]
fn records_of_a_collection_may_repeat_a_name() {
    let record = json!({"id": 1, "function": [define("a")]});
    assert_eq!(names(&format!("{record}\n{record}")), ["a", "a"]);
    assert_eq!(names(&json!([record, record]).to_string()), ["a", "a"]);
}

#[test]
fn pointers_are_relative_to_the_text() {
    let text = json!({"tools": [{"type": "function", "function": {
        "name": "f", "description": "F.", "parameters": {"type": "object", "properties": {"a": {"type": "int"}}}
    }}]});
    let read = one(&text);
    assert_eq!(read.pointer, "/tools/0");
    assert_eq!(read.notes[0].pointer, "/tools/0/function/parameters/properties/a");
    assert!(text.pointer(&read.notes[0].pointer).is_some());
}

#[test]
fn a_definition_with_a_key_tools_is_still_a_definition() {
    let mut agent = define("agent");
    agent["tools"] = json!(["search"]);
    let read = one(&agent);
    assert_eq!(read.name, "agent");
    assert_eq!(read.notes[0].to_string(), "`tools` left out: no part of a definition");
}

#[test]
fn keys_outside_the_wrapper_are_merged_or_dropped() {
    let read = one(
        &json!({"id": 1, "question": [], "name": "f", "function": {"description": "F.", "parameters": {}}}),
    );
    assert_eq!(read.name, "f");
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["`question` left out: no part of a definition", "`name` read as part of the definition",]
    );
}
