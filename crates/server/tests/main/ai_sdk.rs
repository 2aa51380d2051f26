//! The AI SDK's UI message stream: `POST /api/chat`, resuming, approvals, and the same over a WebSocket.

use serde_json::{Value, json};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright_server::{Endpoint, ServerBuilder};

use crate::approvals::{Payments, paying_model, payment_tool};
use crate::rooms::Socket;
use crate::support::{ManualModel, SseEvents, TestServer, event_types, invoker, no_tools, serve};

pub(crate) fn user(text: &str) -> Value {
    let parts = json!([{ "type": "text", "text": text }]);
    json!({ "id": "m1", "role": "user", "parts": parts })
}

fn body(messages: Value) -> Value {
    json!({ "id": "c", "messages": messages, "trigger": "submit-message" })
}

pub(crate) async fn send(server: &TestServer, path: &str, messages: Value) -> SseEvents {
    let request = server.request("POST", path);
    let request = request.header("content-type", "application/json");
    SseEvents::new(server.open(request, &body(messages).to_string()).await)
}

/// All parts of a stream; checks how it ends.
pub(crate) async fn parts(mut events: SseEvents) -> Vec<Value> {
    let mut parts = Vec::new();
    while let Some(data) = events.next_data().await {
        if data == "[DONE]" {
            assert!(events.next_data().await.is_none());
            return parts;
        }
        parts.push(serde_json::from_str(&data).unwrap());
    }
    panic!("no [DONE] after {parts:#?}");
}

#[tokio::test]
async fn a_question_is_answered_in_the_parts_of_one_message() {
    let model = FnModel::echo();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let events = send(&server, "/api/chat", json!([user("Hi")])).await;
    assert_eq!(events.headers["x-vercel-ai-ui-message-stream"], "v1");
    assert_eq!(events.headers["content-type"], "text/event-stream");
    let parts = parts(events).await;
    assert_eq!(
        event_types(&parts),
        ["start", "start-step", "text-start", "text-delta", "text-end", "finish-step", "finish"]
    );
    assert_eq!(parts[3]["delta"], "Hi");
    assert_eq!(parts[6]["finishReason"], "stop");
    // The console sees the same conversation.
    let shown = server.get("/api/conversations/c").await.json();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn calls_and_results_are_parts_of_their_step() {
    let tool = toolwright::Tool::builder("look", "Looks.")
        .run(|_, _| Ok::<_, toolwright::ToolError>("seen"))
        .unwrap();
    let model = ScriptedModel::new().calls("look", "{}").replies("I saw.");
    let server = serve(ServerBuilder::new(invoker(tool), model)).await;
    let parts = parts(send(&server, "/api/chat", json!([user("Look")])).await).await;
    let kinds: Vec<&str> = event_types(&parts)
        .into_iter()
        .filter(|kind| !kind.starts_with("tool-input-delta"))
        .collect();
    assert_eq!(
        kinds,
        [
            "start",
            "start-step",
            "tool-input-start",
            "tool-input-available",
            "tool-output-available",
            "finish-step",
            "start-step",
            "text-start",
            "text-delta",
            "text-end",
            "finish-step",
            "finish"
        ]
    );
    let output = parts.iter().find(|part| part["type"] == "tool-output-available");
    assert_eq!(output.unwrap()["output"], "seen");
}

#[tokio::test]
async fn an_approval_goes_to_the_page_and_back_in_the_message() {
    let paid = Payments::default();
    let server = serve(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model())).await;
    let first = parts(send(&server, "/api/chat", json!([user("Pay")])).await).await;
    let asked = first.iter().find(|part| part["type"] == "tool-approval-request");
    let asked = asked.unwrap().clone();
    assert_eq!(first.last().unwrap()["finishReason"], "tool-calls");
    let message = |approved: bool, signature: &Value| {
        json!({ "id": first[0]["messageId"], "role": "assistant", "parts": [{
            "type": "tool-pay", "toolCallId": asked["toolCallId"], "state": "approval-responded",
            "input": { "euros": 100 },
            "approval": { "id": asked["approvalId"], "approved": approved, "signature": signature },
        }] })
    };
    let forged = message(true, &json!("{\"forged\": true}"));
    let refused = server.post("/api/chat", body(json!([user("Pay"), forged]))).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    let approved = message(true, &asked["signature"]);
    let second = send(&server, "/api/chat", json!([user("Pay"), approved.clone()])).await;
    let second = parts(second).await;
    assert_eq!(second[0]["messageId"], first[0]["messageId"]);
    let output = second.iter().find(|part| part["type"] == "tool-output-available");
    assert_eq!(output.unwrap()["output"], "paid 100");
    assert_eq!(*paid.lock().unwrap(), [100]);
    let again = server.post("/api/chat", body(json!([user("Pay"), approved]))).await;
    assert_eq!(again.status, 409, "{again:?}");
}

#[tokio::test]
async fn a_client_that_reconnects_receives_the_whole_message_and_nothing_when_no_turn_runs() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    assert_eq!(server.get("/api/chat/c/stream").await.status, 204);
    let mut first = send(&server, "/api/chat", json!([user("Go")])).await;
    strings.send("Half ".to_owned()).unwrap();
    while first.next().await.unwrap()["type"] != "text-delta" {}
    drop(first);
    let request = server.request("GET", "/api/chat/c/stream");
    let second = SseEvents::new(server.open(request, "").await);
    strings.send("an answer.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    let parts = parts(second).await;
    let text: String = parts.iter().filter_map(|part| part["delta"].as_str()).collect();
    assert_eq!(text, "Half an answer.");
    assert_eq!(server.get("/api/chat/c/stream").await.status, 204);
}

#[tokio::test]
async fn a_client_that_reconnects_without_broadcast_receives_it_too() {
    let (model, strings) = ManualModel::new();
    let endpoint = Endpoint::new("/support");
    let server = serve(ServerBuilder::new(no_tools(), model).endpoint(endpoint)).await;
    let mut first = send(&server, "/support", json!([user("Go")])).await;
    strings.send("All ".to_owned()).unwrap();
    while first.next().await.unwrap()["type"] != "text-delta" {}
    drop(first);
    let request = server.request("GET", "/support/c/stream");
    let second = SseEvents::new(server.open(request, "").await);
    strings.send("of it.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    let parts = parts(second).await;
    let text: String = parts.iter().filter_map(|part| part["delta"].as_str()).collect();
    assert_eq!(text, "All of it.");
}

#[tokio::test]
async fn a_request_without_a_message_is_refused() {
    let server = serve(ServerBuilder::new(no_tools(), FnModel::echo())).await;
    for wrong in [
        json!({ "messages": [user("Hi")] }),
        body(json!([])),
        body(json!([{ "id": "m", "role": "user", "parts": [] }])),
        json!({ "id": "c", "messages": [user("Hi")], "model": "nobody" }),
    ] {
        let refused = server.post("/api/chat", wrong).await;
        assert_eq!(refused.status, 400, "{refused:?}");
    }
}

#[tokio::test]
async fn endpoints_of_ones_own_speak_it_too() {
    let server = ServerBuilder::new(no_tools(), FnModel::echo())
        .endpoint(Endpoint::new("/support"))
        .endpoint(Endpoint::new("/chat/{room}"));
    let server = serve(server).await;
    for path in ["/support", "/support/chat", "/support/7/chat", "/chat/lobby/chat"] {
        let parts = parts(send(&server, path, json!([user("Hi")])).await).await;
        assert_eq!(parts.last().unwrap()["finishReason"], "stop", "{path}");
    }
    assert_eq!(server.get("/support/chat").await.json()["id"], "/support/chat");
    let other = server.post("/support/7", body(json!([user("Hi")]))).await;
    assert_eq!((other.status, &other.json()["error"]["kind"]), (405, &json!("method")));
}

fn frame(kind: &str, request: &str, more: Value) -> Value {
    let mut frame = json!({ "type": kind, "requestId": request, "headers": {}, "body": {} });
    let more = more.as_object().unwrap().clone();
    frame.as_object_mut().unwrap().extend(more);
    frame
}

#[tokio::test]
async fn a_websocket_carries_several_requests_and_comes_back_to_one() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let mut socket = Socket::open(&server, "/api/chat").await;
    socket.send(frame("resume", "r0", json!({ "id": "c" }))).await;
    assert_eq!(socket.next().await.unwrap(), json!({ "type": "no-active", "requestId": "r0" }));
    socket.send(frame("send", "r1", body(json!([user("Go")])))).await;
    assert_eq!(socket.next().await.unwrap(), json!({ "type": "start", "requestId": "r1" }));
    strings.send("Half ".to_owned()).unwrap();
    let mut sequence = 0;
    loop {
        let chunk = socket.next().await.unwrap();
        assert_eq!(chunk["sequence"], sequence);
        sequence += 1;
        if chunk["chunk"]["type"] == "text-delta" {
            break;
        }
    }
    drop(socket);
    let mut socket = Socket::open(&server, "/api/chat").await;
    socket.send(frame("resume", "r2", json!({ "id": "c" }))).await;
    assert_eq!(socket.next().await.unwrap()["type"], "start");
    strings.send("an answer.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    let mut text = String::new();
    loop {
        let chunk = socket.next().await.unwrap();
        if chunk["type"] == "end" {
            break;
        }
        text.push_str(chunk["chunk"]["delta"].as_str().unwrap_or_default());
    }
    assert_eq!(text, "Half an answer.");
    socket.send(json!({ "type": "dance", "requestId": "r3" })).await;
    assert_eq!(socket.next().await.unwrap()["type"], "error");
}

#[tokio::test]
async fn a_websocket_may_stop_its_turn() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let mut socket = Socket::open(&server, "/api/chat").await;
    socket.send(frame("send", "r1", body(json!([user("Go")])))).await;
    strings.send("Half ".to_owned()).unwrap();
    while socket.next().await.unwrap()["chunk"]["type"] != "text-delta" {}
    let mut events = server.events("/api/conversations/c", None).await;
    socket.send(json!({ "type": "abort", "requestId": "r1" })).await;
    assert_eq!(events.read_until("ended").await["event"]["end"], "cancelled");
}
