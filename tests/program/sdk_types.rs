//! The `tools` arrays of requests, checked against the types of the official SDKs.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_support::real;

/// A dialect, and the shape of its definitions where it is not the dialect's own.
///
/// Google's `gemini` sends `parametersJsonSchema`, its `gemini-openapi` sends `parameters`.
const SENT: &[(&str, Option<&str>)] = &[
    ("openai", None),
    ("openai-strict", None),
    ("openai", Some("openai-chat")),
    ("openai-strict", Some("openai-chat")),
    ("groq", None),
    ("deepseek", None),
    ("deepseek-strict", None),
    ("xai", None),
    ("anthropic", None),
    ("anthropic-strict", None),
    ("gemini", None),
    ("gemini-openapi", None),
    ("mcp", None),
];

/// Custom tools of OpenAI, one for each format.
const CUSTOM_TOOLS: &str = r#"[
    {"type": "custom", "name": "note", "description": "Keeps a note."},
    {"type": "custom", "name": "query", "description": "Runs a query.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"a\"+"}},
    {"type": "custom", "custom": {"name": "dial", "description": "Dials a number.",
        "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "[0-9]+"}}}}
]"#;

#[test]
fn the_types_refuse_what_is_wrong() {
    if real::is_installed() {
        print!("{}", real::python("typecheck.py", &["--self-test"]));
    }
}

#[test]
fn the_official_sdks_admit_the_tools_of_real_servers_and_of_the_sample_assistant() {
    let Some(mut lists) = real::lists() else { return };
    let definitions = tempfile::tempdir().unwrap();
    lists.push(definitions.path().join("custom.json"));
    fs::write(lists.last().unwrap(), CUSTOM_TOOLS).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (dialect, shape) in SENT {
        // The name in typecheck.py.
        let name = if shape.is_some() {
            format!("{dialect}.chat.json")
        } else {
            format!("{dialect}.json")
        };
        let mut strict = 0;
        for list in lists.iter().map(|list| Some(list.as_path())).chain([None]) {
            let of = list.and_then(Path::file_stem).unwrap_or("assistant".as_ref());
            let tools = emitted(dialect, *shape, list);
            strict += tools.matches(r#""strict":true"#).count();
            fs::create_dir_all(folder.path().join(of)).unwrap();
            fs::write(folder.path().join(of).join(&name), tools).unwrap();
        }
        assert!(strict > 0 || !dialect.ends_with("-strict"), "no tool of {name} is strict");
    }
    print!("{}", real::python("typecheck.py", &[folder.path().to_str().unwrap()]));
}

/// The whole `tools` array, of a file or of the linked tools.
fn emitted(dialect: &str, shape: Option<&str>, list: Option<&Path>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright"));
    command.args(["check", "--emit", "--for", dialect]).args(list);
    if let Some(shape) = shape {
        command.args(["--shape", shape]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let tools: Value = serde_json::from_str(&text).unwrap();
    assert_ne!(tools, Value::Array(Vec::new()), "{command:?} left nothing");
    text
}
