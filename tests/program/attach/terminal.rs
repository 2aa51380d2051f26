//! The text of an untrusted server: escaped on a terminal, unchanged in a pipe.

use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};
use test_support::real;

use super::{CommandOutput, TestProject};
use crate::terminal::run_in_terminal;

/// A server whose only tool returns control sequences.
const HOSTILE_SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method = asked["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "rude", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "say", "description": "Says.", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "\x1b]0;owned\x07 \u009b2J red\rfake"}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

const HOSTILE_TEXT: &str = "\u{1b}]0;owned\u{7} \u{9b}2J red\rfake";

/// A project that attaches it; `None` without Python.
pub(crate) fn project() -> Option<TestProject> {
    if !real::has_python() {
        return None;
    }
    let project = TestProject::with(
        "[mcp.servers.rude]\ncommand = \"python3\"\nargs = [\"rude.py\"]\ntrust = \"calls\"\n",
    );
    project.write("rude.py", HOSTILE_SERVER);
    Some(project)
}

fn in_terminal(project: &TestProject, arguments: &[&str]) -> CommandOutput {
    type_in_terminal(project, &[], arguments)
}

/// Types the text of each step once the terminal shows what the step waits for.
fn type_in_terminal(
    project: &TestProject,
    steps: &[(&str, &str)],
    arguments: &[&str],
) -> CommandOutput {
    drive_terminal(project, &json!(steps), arguments, |_| {})
}

/// The same with steps in the format of `terminal.py`, and a changed environment.
pub(crate) fn drive_terminal(
    project: &TestProject,
    steps: &Value,
    arguments: &[&str],
    change: impl FnOnce(&mut Command),
) -> CommandOutput {
    let mut command = project.command("python3");
    change(&mut command);
    run_in_terminal(command, steps, arguments)
}

/// A project whose server elicits input during a call, and returns that input.
pub(crate) fn asking() -> Option<TestProject> {
    let project = project()?;
    let asking = r#"
        form = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
        question = {"message": "Who\x1b[8m are you?", "requestedSchema": form}
        print(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "elicitation/create", "params": question}), flush=True)
        result = {"content": [{"type": "text", "text": json.dumps(json.loads(sys.stdin.readline())["result"])}]}
"#;
    let call = "    elif method == \"tools/call\":";
    let (before, after) = HOSTILE_SERVER.split_once(call).unwrap();
    let (_, after) = after.split_once("    else:").unwrap();
    project.write("rude.py", &format!("{before}{call}{asking}    else:{after}"));
    Some(project)
}

#[test]
fn a_yes_typed_before_a_server_asks_answers_nothing() {
    let Some(project) = asking() else { return };
    let steps = [("", "yes\r"), ("Answer it?", "n\r")];
    let answered = type_in_terminal(&project, &steps, &["tools", "call", "rude_say"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let declined = r#"{"action": "decline"}"#;
    assert!(answered.out.contains(declined), "{answered:?}");
}

#[test]
fn what_a_server_asks_in_the_middle_of_a_call_the_person_answers() {
    let Some(project) = asking() else { return };
    let steps = [
        ("server `rude` asks: Who[8m are you?", ""),
        ("Answer it?", "y\r"),
        ("name (string)", "Ada\r"),
        ("age (integer; may be left out)", "36\r"),
    ];
    let answered = type_in_terminal(&project, &steps, &["tools", "call", "rude_say"]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let content = r#""content": {"name": "Ada", "age": 36}"#;
    assert!(answered.out.contains(content), "{answered:?}");
    // Without a terminal, the elicitation is declined.
    let alone = project.run(&["tools", "call", "rude_say"]);
    assert!(alone.out.contains(r#"{"action": "decline"}"#), "{alone:?}");
}

#[test]
fn a_terminal_shows_control_characters_of_a_tool_escaped() {
    let Some(project) = project() else { return };
    let call = ["tools", "call", "rude_say"];
    let shown = in_terminal(&project, &call);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains(r"␛]0;owned␇ \u009b2J red␍fake"), "{shown:?}");
    for obeyed in ["\u{1b}]0;", "\u{9b}", "\rfake"] {
        assert!(!shown.out.contains(obeyed), "{obeyed:?} in {shown:?}");
    }
    let json = in_terminal(&project, &["tools", "call", "rude_say", "--json"]);
    assert!(json.out.contains(r"\u001b]0;owned\u0007 \u009b2J red\rfake"), "{json:?}");
}

#[test]
fn mcp_at_a_terminal_explains_what_it_waits_for() {
    let Some(project) = project() else { return };
    project.write("toolwright.toml", "");
    for (leaving, code) in [("\u{4}", Some(0)), ("\u{3}", None)] {
        let steps = [("waits for an MCP client", ""), ("Ctrl-C ends this", leaving)];
        let shown = type_in_terminal(&project, &steps, &["mcp"]);
        assert_ne!(shown.code, Some(99), "{leaving:?}: {shown:?}");
        assert!(code.is_none() || code == shown.code, "{shown:?}");
    }
    let alone = project.run(&["mcp"]);
    assert_eq!((alone.code, alone.err.as_str()), (Some(0), ""));
}

#[test]
fn a_terminal_shows_what_is_wrong_with_an_argument_and_does_not_obey_it() {
    let Some(project) = project() else { return };
    for arguments in [
        &["new", "Bad\u{1b}[31m"][..],
        &["new", "rude.py/\u{1b}[31m/x"],
        &["tools", "show", "bad\u{1b}[31m"],
        &["frobnicate\u{1b}[31m"],
    ] {
        let shown = in_terminal(&project, arguments);
        assert_eq!(shown.code, Some(2), "{shown:?}");
        assert!(!shown.out.contains("\u{1b}[31m"), "{shown:?}");
    }
}

#[test]
fn a_terminal_shows_which_server_is_connecting() {
    let Some(project) = project() else { return };
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = silent.local_addr().unwrap();
    let settings = format!("[mcp.servers.slow]\nurl = \"http://{addr}/mcp\"\nconnect_s = 3\n");
    project.write("toolwright.toml", &settings);
    let shown = in_terminal(&project, &["tools", "list"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("connecting to slow ("), "{shown:?}");
    assert!(shown.out.contains("server `slow` did not answer"), "{shown:?}");
}

#[test]
fn a_pipe_gets_every_byte_as_it_is() {
    let Some(project) = project() else { return };
    let piped = project.run(&["tools", "call", "rude_say"]);
    assert_eq!((piped.code, piped.out), (Some(0), format!("{HOSTILE_TEXT}\n")));
    let json = project.run(&["tools", "call", "rude_say", "--json"]);
    let result: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(result["content"][0]["text"], HOSTILE_TEXT);
}

#[test]
fn the_list_of_servers_counts_notes_and_prints_them_with_verbose() {
    let Some(project) = project() else { return };
    let server = std::fs::read_to_string(project.path().join("rude.py")).unwrap();
    let tool = r#"{"name": "say", "description": "Says.", "inputSchema": {"type": "object"}}"#;
    let prompts = r#"
    elif method == "prompts/list":
        result = {"prompts": [{"name": "greet", "description": "Greets."}]}
    else:"#;
    let server = server
        .replace(tool, &format!("{tool}, {tool}, {{\"name\": \"\", \"inputSchema\": 1}}"))
        .replace(r#""tools": {}"#, r#""tools": {}, "prompts": {}"#)
        .replace("\n    else:", prompts);
    project.write("rude.py", &server);
    let listed = project.run(&["mcp", "list"]);
    for line in ["\n  tools: 1\n    rude_say\n", "\n  prompts: 1\n    rude_greet\n"] {
        assert!(listed.out.contains(line), "{listed:?}");
    }
    assert!(listed.out.contains("\n  2 notes: --verbose prints them\n"), "{listed:?}");
    assert!(!listed.out.contains("note: "), "{listed:?}");
    let verbose = project.run(&["mcp", "list", "--verbose"]);
    assert_eq!(verbose.out.matches("\n  note: ").count(), 2, "{verbose:?}");
    assert!(verbose.out.contains("listed twice"), "{verbose:?}");
}
