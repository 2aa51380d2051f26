//! One bundle has the same results however it is called: directly, on the command line, over MCP on stdio and HTTP, in both
//! eras of the protocol, and through a server that attaches it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_support::programs::{TEST_PROGRAM, example, test_program};
use test_support_mcp::client::{
    self, open_session, post, request, send, serve, stateless_body, stateless_request,
};
use test_support_mcp::tools::{kit, server};
use toolwright::{ToolCall, ToolResult};

use crate::stdio_server::StdioServer;

/// Good calls, failing ones, wrong arguments; text, structure that is an object or none, content of every kind.
fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("add", json!({ "a": 2, "b": 3 })),
        ("add", json!({ "a": "2", "b": 3 })),
        ("add", json!({ "a": 2, "c": 3 })),
        ("sum", json!({ "numbers": [1, 2, 3] })),
        ("below", json!({ "n": 3 })),
        ("mixed", json!({})),
        ("fail", json!({})),
        ("erase", json!({ "path": "/" })),
    ]
}

/// The program that has the tools of the tests.
fn program() -> Command {
    test_program("everywhere")
}

#[tokio::test]
async fn a_direct_call_and_every_transport_and_era_agree() {
    let kit = kit();
    let server = server(&kit).build().unwrap();
    let served = serve(&server).await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let home = tempfile::tempdir().unwrap();
    let mut stateless_stdio = StdioServer::start(program(), home.path());
    let mut stdio = StdioServer::start(program(), home.path());
    stdio.send_request(&client::initialize("2025-11-25", json!({})));
    for (name, arguments) in calls() {
        let direct = kit.invoker.invoke(&ToolCall::new(name, &arguments)).await;
        let params = json!({ "name": name, "arguments": arguments });
        let call = request(1, "tools/call", params.clone());
        let headers = [("Mcp-Session-Id", session.as_str())];
        let in_session = post(served.addr, &headers, &call).await.json();
        let alone = send(served.addr, stateless_request(1, "tools/call", params.clone())).await;
        let body = stateless_body(1, "tools/call", params, json!({}));
        for (way, response) in [
            ("HTTP", alone.json()),
            ("HTTP, a session", in_session),
            ("stdio", stateless_stdio.send_request(&body)),
            ("stdio, a session", stdio.send_request(&call)),
        ] {
            assert_same_result(name, way, &direct, &response["result"]);
        }
    }
}

/// Compares the response over MCP with the direct result.
fn assert_same_result(name: &str, way: &str, direct: &ToolResult, response: &Value) {
    let content = serde_json::to_value(&direct.content).unwrap();
    assert_eq!(response["content"], content, "{name} over {way}: {response}");
    let failed = response.get("isError") == Some(&Value::Bool(true));
    assert_eq!(failed, direct.is_error(), "{name} over {way}");
    let structured = direct.structured.as_ref().map(|it| it.to_value());
    // The revisions with sessions require structured content to be an object.
    let expected = structured.map(|value| match way.contains("session") {
        true if !value.is_object() => json!({ "result": value }),
        _ => value,
    });
    let got = response.get("structuredContent").cloned();
    assert_eq!(got, expected, "{name} over {way}");
}

#[tokio::test]
async fn the_command_line_agrees_with_a_direct_call() {
    let kit = kit();
    let home = tempfile::tempdir().unwrap();
    for (name, arguments) in calls() {
        let direct = kit.invoker.invoke(&ToolCall::new(name, &arguments)).await;
        let (code, response) = call_on_command_line(home.path(), name, &arguments);
        assert_eq!(code, Some(i32::from(direct.is_error())), "{name}: {response}");
        let mut expected = serde_json::to_value(&direct).unwrap();
        // Each call has its own ID.
        expected["callId"] = response["callId"].clone();
        if name == "erase" {
            // The reason of the denial depends on the transport; the outcome does not.
            assert_eq!(response["outcome"], expected["outcome"], "{response}");
            continue;
        }
        assert_eq!(response, expected, "{name}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_error_everywhere_with_the_nearest_name() {
    let kit = kit();
    let direct = kit.invoker.invoke(&ToolCall::new("ad", "{}")).await;
    assert!(direct.is_error() && direct.text().contains("`add`"));
    let server = server(&kit).build().unwrap();
    let served = serve(&server).await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let home = tempfile::tempdir().unwrap();
    let mut stdio = StdioServer::start(program(), home.path());
    let params = json!({ "name": "ad", "arguments": {} });
    let call = request(1, "tools/call", params.clone());
    let headers = [("Mcp-Session-Id", session.as_str())];
    let body = stateless_body(1, "tools/call", params.clone(), json!({}));
    for response in [
        post(served.addr, &headers, &call).await.json(),
        send(served.addr, stateless_request(1, "tools/call", params)).await.json(),
        stdio.send_request(&body),
    ] {
        assert_eq!(response["error"]["code"], -32602, "{response}");
        assert!(response["error"]["message"].as_str().unwrap().contains("`add`"), "{response}");
    }
    let output = run(home.path(), &["tools", "call", "ad"]);
    assert_eq!(output.0, Some(2));
    assert!(output.2.contains("did you mean `add`?"), "{}", output.2);
}

#[tokio::test]
async fn attached_to_another_program_the_bundle_still_gives_the_same() {
    let kit = kit();
    let home = tempfile::tempdir().unwrap();
    let config = format!(
        "[mcp.servers.kit]\ncommand = {:?}\nargs = [\"mcp\", \"--config\", \"none.toml\"]\nenv = {{ {TEST_PROGRAM} = \"everywhere\" }}\ntrust = \"calls\"\n",
        example("test_programs")
    );
    std::fs::write(home.path().join("toolwright.toml"), config).unwrap();
    std::fs::write(home.path().join("none.toml"), "").unwrap();
    // One process attaches the bundle's server, and serves its tools.
    let mut stdio = StdioServer::start(Command::new(env!("CARGO_BIN_EXE_toolwright")), home.path());
    let listed = stdio.send_request(&stateless_body(1, "tools/list", json!({}), json!({})));
    let listed = listed["result"]["tools"].to_string();
    assert!(listed.contains("\"kit_add\"") && listed.contains("\"get_weather\""), "{listed}");
    for (name, arguments) in calls() {
        if name == "erase" {
            // The server cannot ask for approval here, and is not trusted to run it without.
            continue;
        }
        let direct = kit.invoker.invoke(&ToolCall::new(name, &arguments)).await;
        let params = json!({ "name": format!("kit_{name}"), "arguments": arguments });
        let response = stdio.send_request(&stateless_body(1, "tools/call", params, json!({})));
        let failed = response["result"].get("isError") == Some(&Value::Bool(true));
        assert_eq!(failed, direct.is_error(), "{name}: {response}");
        if name == "add" && failed {
            // Rejected before it is sent, under its local name.
            let text = response["result"]["content"][0]["text"].as_str().unwrap();
            assert_eq!(text, direct.text().replace("`add`", "`kit_add`"));
            continue;
        }
        let content = serde_json::to_value(&direct.content).unwrap();
        assert_eq!(response["result"]["content"], content, "{name}: {response}");
        let structured = direct.structured.as_ref().map(|it| it.to_value());
        let got = response["result"].get("structuredContent").cloned();
        assert_eq!(got, structured, "{name}: {response}");
    }
}

/// Exit code and result of a call on the command line.
fn call_on_command_line(home: &Path, name: &str, arguments: &Value) -> (Option<i32>, Value) {
    let (code, out, err) = run(home, &["tools", "call", name, &arguments.to_string(), "--json"]);
    let response = serde_json::from_str(&out);
    (code, response.unwrap_or_else(|_| panic!("no JSON: {out}{err}")))
}

fn run(home: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = program();
    command.args(arguments).current_dir(home);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output.status.code(), out, err)
}
