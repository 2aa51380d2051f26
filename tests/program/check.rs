//! `toolwright check`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Every dialect, in the order of the report.
const DIALECTS: [&str; 15] = [
    "openai",
    "openai-strict",
    "anthropic",
    "anthropic-strict",
    "gemini",
    "gemini-openapi",
    "ollama",
    "mistral",
    "groq",
    "deepseek",
    "deepseek-strict",
    "xai",
    "bedrock",
    "mcp",
    "portable",
];

/// Runs `check` with definitions on stdin: exit code, stdout, stderr.
fn check(arguments: &[&str], definitions: &Value) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .arg("check")
        .args(arguments)
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text = match definitions {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn linked(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .arg("check")
        .args(arguments)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn tool(name: &str, parameters: Value) -> Value {
    json!({"name": name, "description": "Does something.", "parameters": parameters})
}

#[test]
fn the_assistants_tools_lose_only_what_the_report_explains() {
    let (code, out) = linked(&["--for", "all", "--json"]);
    assert_eq!(code, Some(0));
    let report: Value = serde_json::from_str(&out).unwrap();
    let tools = report["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 6);
    for tool in tools {
        let dialects = tool["dialects"].as_object().unwrap();
        assert!(dialects.keys().eq(DIALECTS), "{:?}", dialects.keys());
        for (name, verdict) in dialects {
            assert_eq!(verdict["refused"], json!([]), "{name}");
            for loss in verdict["losses"].as_array().unwrap() {
                // Dialects that cannot close an object.
                let known = match loss["keyword"].as_str().unwrap() {
                    "additionalProperties" => {
                        ["gemini-openapi", "ollama", "portable"].contains(&name.as_str())
                    }
                    "default" => loss["severity"] == "note",
                    _ => false,
                };
                assert!(known, "{}, {name}: {loss}", tool["name"]);
            }
        }
    }
}

#[test]
fn the_assistants_tools_pass_where_lossy_is_denied() {
    for arguments in [&["--deny", "lossy"][..], &["--deny", "lossy", "--for", "all"]] {
        let (code, out) = linked(arguments);
        assert_eq!(code, Some(0), "{out}");
        assert!(out.contains(" 0 lossy, 0 impossible"), "{out}");
    }
}

#[test]
fn lossy_is_a_finding_only_when_denied() {
    let definition = tool(
        "f",
        json!({"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}, "required": ["a"], "additionalProperties": false}),
    );
    let (code, out, _) = check(&["--for", "openai,openai-strict"], &definition);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("/properties/a: format (wider), described as"), "{out}");
    assert!(out.contains("1 tool × 2 dialects: 1 lossless, 1 lossy, 0 impossible"), "{out}");
    assert_eq!(check(&["--for", "openai-strict", "--deny", "lossy"], &definition).0, Some(1));
    assert_eq!(check(&["--for", "openai", "--deny", "lossy"], &definition).0, Some(0));
}

/// Runs `check --json` on a closed tool without `--for`, in a folder with these settings; returns the exit code and the
/// dialects of the report.
fn defaults(settings: &str, variables: &[(&str, &str)]) -> (Option<i32>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolwright.toml"), settings).unwrap();
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
    let file = folder.path().join("tools.json");
    std::fs::write(&file, tool("f", closed).to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolwright"))
        .args(["check", "--deny", "lossy", "--json"])
        .arg(file)
        .current_dir(folder.path())
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let dialects = report.pointer("/tools/0/dialects").unwrap();
    let dialects = dialects.as_object().unwrap();
    (output.status.code(), dialects.keys().cloned().collect())
}

#[test]
fn a_tool_that_every_vendor_takes_passes_where_lossy_is_denied() {
    let usual = ["openai", "anthropic", "gemini", "ollama", "mcp"].map(str::to_owned);
    assert_eq!(defaults("", &[]), (Some(0), usual.into()));
}

#[test]
fn without_for_the_vendors_in_use_are_checked() {
    let dialects = |settings, variables| {
        let (code, dialects) = defaults(settings, variables);
        assert_eq!(code, Some(0));
        dialects.join(" ")
    };
    assert_eq!(dialects("model = 'groq:llama'", &[]), "groq");
    assert_eq!(dialects("[models.mistral]\nmodel = 'm'", &[]), "mistral");
    let keys = [("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")];
    assert_eq!(dialects("model = 'ollama:qwen3'", &keys), "openai anthropic ollama");
    assert_eq!(dialects("model = 'demo'", &[]), "openai anthropic gemini ollama mcp");
}

#[test]
fn a_schema_that_no_provider_can_express_is_impossible() {
    let deep = (0..5_001).map(|n| (format!("p{n}"), json!({"type": "string"})));
    let many: serde_json::Map<String, Value> = deep.collect();
    let definition = tool("f", json!({"type": "object", "properties": many}));
    let (code, out, _) = check(&["--for", "openai-strict", "--json"], &definition);
    assert_eq!(code, Some(1));
    let report: Value = serde_json::from_str(&out).unwrap();
    let verdict = &report["tools"][0]["dialects"]["openai-strict"];
    assert_eq!(verdict["verdict"], "impossible");
    assert!(verdict["reason"].as_str().unwrap().contains("5001 properties"), "{verdict}");
}

#[test]
fn sloppy_definitions_are_read_with_notes_or_refused_with_their_place() {
    let definitions = json!([
        tool(
            "math.area",
            json!({"type": "dict", "properties": {"width": {"type": "float"}, "unit": {"type": "any"}, "points": {"type": "tuple"}}})
        ),
        tool("broken", json!({"type": "object", "properties": {"a": {"type": "quaternion"}}})),
    ]);
    let (code, out, _) = check(&["--for", "portable", "--json"], &definitions);
    assert_eq!(code, Some(1), "a refused definition is a finding");
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["tools"][0]["name"], "math.area");
    let notes: Vec<&str> = report["tools"][0]["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note["message"].as_str().unwrap())
        .collect();
    assert!(notes.contains(&r#"type "dict" read as "object""#), "{notes:?}");
    assert!(notes.contains(&r#"type "float" read as "number""#), "{notes:?}");
    assert_eq!(report["refused"][0]["pointer"], "/1/parameters/properties/a/type");
}

#[test]
fn emit_prints_the_array_of_the_one_dialect_named() {
    let definition = tool(
        "files.read",
        json!({"type": "object", "properties": {"path": {"type": "string"}, "lines": {"type": "integer"}}, "required": ["path"], "additionalProperties": false}),
    );
    let (code, out, err) = check(&["--for", "openai", "--emit"], &definition);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    let strict = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "lines": {"type": ["integer", "null"]}},
        "required": ["path", "lines"],
        "additionalProperties": false,
    });
    assert_eq!(
        serde_json::from_str::<Value>(&out).unwrap(),
        json!([{"type": "function", "name": "files_read", "description": "Does something.", "parameters": strict, "strict": true}])
    );
    let (_, again, _) = check(&["--for", "openai", "--emit"], &definition);
    assert_eq!(out, again, "a prompt cache begins with these bytes");
    let (_, chat, _) = check(&["--for", "openai", "--emit", "--shape", "openai-chat"], &definition);
    assert_eq!(serde_json::from_str::<Value>(&chat).unwrap()[0]["function"]["name"], "files_read");
    let (code, _, err) = check(&["--emit"], &definition);
    assert_eq!(code, Some(2));
    assert!(err.contains("name its dialect"), "{err}");
}

#[test]
fn usage_errors_suggest_what_to_write() {
    let none = json!([]);
    let (code, _, err) = check(&["--for", "opnai"], &none);
    assert_eq!(
        (code, err.as_str()),
        (Some(2), "error: there is no dialect `opnai`; did you mean `openai`?\n")
    );
    let (code, _, err) = check(&[], &json!("{\"tools\": [}"));
    assert_eq!(code, Some(2));
    assert!(err.contains("line 1"), "{err}");
    let (code, _, err) = check(&[], &json!("{\"weather\": 5}"));
    assert_eq!(code, Some(2));
    assert!(err.contains("OpenAI"), "names the forms that are read: {err}");
    let twice = json!([tool("f", json!({})), tool("f", json!({}))]);
    let (code, out, _) = check(&["--for", "mcp"], &twice);
    assert_eq!(code, Some(1), "{out}");
}

#[test]
fn one_tools_schema_is_printed_as_a_dialect_wants_it() {
    let run = |arguments: &[&str]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_toolwright")).args(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = run(&["tools", "schema", "get_weather", "--for", "gemini-openapi"]);
    assert_eq!(code, Some(0));
    let schema: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(schema.get("additionalProperties"), None);
    assert_eq!(err, "/: additionalProperties (note)\n");
    let (code, _, err) = run(&["tools", "schema", "get_weather", "--for", "gemni"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("did you mean `gemini`?"), "{err}");
}
