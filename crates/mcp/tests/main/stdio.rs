//! One message per line, in and out.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use test_support_mcp::client::{initialize, request, stateless_body};
use test_support_mcp::tools::{kit, server, text};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;
use toolwright_mcp::{McpServeError, McpServer};

use crate::fixture::example;

/// A client at the other end.
pub(crate) struct Peer {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    pub(crate) serving: JoinHandle<Result<(), McpServeError>>,
}

pub(crate) fn peer(server: &McpServer) -> Peer {
    let (input, theirs) = duplex(1 << 16);
    let (ours, output) = duplex(1 << 16);
    let server = server.clone();
    let serving =
        tokio::spawn(async move { server.serve_lines(BufReader::new(theirs), ours).await });
    Peer { input, output: BufReader::new(output).lines(), serving }
}

impl Peer {
    pub(crate) async fn send(&mut self, line: impl ToString) {
        let line = format!("{}\n", line.to_string());
        self.input.write_all(line.as_bytes()).await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        let line = self.output.next_line().await.unwrap().expect("the server is there");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    pub(crate) async fn ask(&mut self, request: Value) -> Value {
        self.send(&request).await;
        loop {
            let heard = self.receive().await;
            if heard["id"] == request["id"] && heard.get("method").is_none() {
                return heard;
            }
        }
    }

    pub(crate) async fn close(self) {
        let Self { input, mut output, serving } = self;
        drop(input);
        while output.next_line().await.unwrap().is_some() {}
        serving.await.unwrap().unwrap();
    }
}

fn add(id: u32) -> Value {
    json!({ "id": id, "name": "add", "arguments": { "a": 2, "b": 3 } })
}

#[tokio::test]
async fn both_eras_are_spoken_on_one_line_and_the_end_of_input_is_the_end() {
    let kit = kit();
    let mut peer = peer(&server(&kit).build().unwrap());
    let response = peer.ask(request(1, "tools/list", json!({}))).await;
    assert_eq!(response["error"]["code"], -32602, "{response}");
    let response = peer.ask(stateless_body(2, "tools/call", add(2), json!({}))).await;
    assert_eq!(text(&response["result"]), "5");
    let response = peer.ask(initialize("2025-06-18", json!({}))).await;
    assert_eq!(response["result"]["protocolVersion"], "2025-06-18");
    let response = peer.ask(request(3, "tools/call", add(3))).await;
    assert_eq!(text(&response["result"]), "5");
    kit.registry.remove("fail").unwrap();
    assert_eq!(peer.receive().await["method"], "notifications/tools/list_changed");
    peer.close().await;
}

#[tokio::test]
async fn requests_run_side_by_side_and_a_cancelled_one_is_never_answered() {
    let mut kit = kit();
    let mut peer = peer(&server(&kit).build().unwrap());
    let wait = json!({ "name": "wait" });
    peer.send(stateless_body(1, "tools/call", wait.clone(), json!({}))).await;
    assert_eq!(kit.heard.recv().await, Some("started"));
    let response = peer.ask(stateless_body(2, "tools/call", add(2), json!({}))).await;
    assert_eq!(text(&response["result"]), "5");
    let response = peer.ask(stateless_body(1, "tools/call", wait, json!({}))).await;
    assert_eq!(response["error"]["code"], -32600, "the id is taken");
    let params = json!({ "requestId": 1 });
    peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }))
        .await;
    assert_eq!(kit.heard.recv().await, Some("dropped"));
    let response = peer.ask(stateless_body(3, "tools/call", add(3), json!({}))).await;
    assert_eq!(text(&response["result"]), "5");
    peer.close().await;
}

#[tokio::test]
async fn garbage_is_answered_and_the_next_line_is_read() {
    let kit = kit();
    let mut peer =
        peer(&server(&kit).limits(|limits| limits.max_message_bytes = 1000).build().unwrap());
    for (line, code) in [
        ("garbage", -32700),
        ("[1, 2]", -32600),
        ("{}", -32600),
        (&" ".repeat(2000), -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32602),
    ] {
        peer.send(line).await;
        let response = peer.receive().await;
        assert_eq!(response["error"]["code"], code, "{line}: {response}");
    }
    let response = peer.ask(stateless_body(2, "tools/call", add(2), json!({}))).await;
    assert_eq!(text(&response["result"]), "5");
    peer.close().await;
}

#[tokio::test]
async fn what_was_asked_before_the_end_of_input_is_answered() {
    let kit = kit();
    let mut peer = peer(&server(&kit).build().unwrap());
    peer.send(stateless_body(1, "subscriptions/listen", json!({}), json!({}))).await;
    peer.send(stateless_body(2, "tools/call", add(2), json!({}))).await;
    let Peer { input, mut output, serving } = peer;
    drop(input);
    let mut heard = String::new();
    while let Some(line) = output.next_line().await.unwrap() {
        heard.push_str(&line);
    }
    assert!(heard.contains(r#""id":2,"result""#), "{heard}");
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_question_to_the_person_goes_over_the_same_lines() {
    let kit = kit();
    let mut peer = peer(&server(&kit).build().unwrap());
    peer.ask(initialize("2025-11-25", json!({ "elicitation": {} }))).await;
    let params = json!({ "name": "erase", "arguments": { "path": "/x" } });
    peer.send(request(1, "tools/call", params)).await;
    let asked = peer.receive().await;
    assert_eq!(asked["method"], "elicitation/create");
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } });
    peer.send(answer).await;
    assert_eq!(text(&peer.receive().await["result"]), "erased /x");
    peer.close().await;
}

#[test]
fn what_tools_print_is_not_mistaken_for_the_protocol() {
    let params = json!({ "name": "test_simple_text" });
    let mut child = Command::new(example())
        .arg("--stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let line = stateless_body(1, "tools/call", params, json!({}));
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{line}").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let response: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    assert_eq!(response["id"], 1);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "a tool prints\n");
}
