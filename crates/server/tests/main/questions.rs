//! What attached MCP servers ask during a call: a question that the person of the turn answers, over every protocol.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolwright::chat::{MemoryStore, Store};
use toolwright::mcp::{AttachedServer, ClientPeer, ElicitResponse, McpServer, RemoteServer, Trust};
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Registry, Tool, ToolError};
use toolwright_server::ServerBuilder;

use crate::approvals::PATH;
use crate::restart::kept;
use crate::support::{SseEvents, TestServer, event_type, find_event, invoker, joined_text, serve};
use crate::{ag_ui, ai_sdk};

/// The revision with sessions, and the one without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// An MCP server whose tools ask, and how often they have acted and started.
struct Shop {
    url: String,
    started: Arc<AtomicUsize>,
    greeted: Arc<AtomicUsize>,
    _end: tokio::sync::oneshot::Sender<()>,
}

impl Shop {
    async fn open() -> Self {
        let (started, greeted) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counts = (Arc::clone(&started), Arc::clone(&greeted));
        let greet = Tool::builder("greet", "Greets a person.").run_async(move |_, cx| {
            let (started, greeted) = counts.clone();
            async move {
                started.fetch_add(1, Ordering::SeqCst);
                let client = ClientPeer::from_context(&cx)?;
                let form = json!({
                    "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"],
                });
                let answer = client.elicit("name", "Who are you?", form).await?;
                greeted.fetch_add(1, Ordering::SeqCst);
                Ok::<_, ToolError>(match answer {
                    ElicitResponse::Accept(form) => format!("Hello, {}!", form["name"].as_str().unwrap()),
                    other => format!("{other:?}"),
                })
            }
        });
        let write =
            Tool::builder("write", "Has a text written.").run_async(move |_, cx| async move {
                let messages =
                    json!([{ "role": "user", "content": { "type": "text", "text": "A poem?" } }]);
                let params = json!({ "messages": messages, "maxTokens": 9 });
                let written = ClientPeer::from_context(&cx)?.create_message("poem", params).await?;
                Ok::<_, ToolError>(format!(
                    "It is: {}",
                    written["content"]["text"].as_str().unwrap()
                ))
            });
        let server = McpServer::builder(invoker(vec![greet.unwrap(), write.unwrap()]));
        let bound = server.build().unwrap().bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let url = format!("http://{}/mcp", bound.addr());
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        tokio::spawn(bound.run(async { drop(ended.await) }));
        Self { url, started, greeted, _end: end }
    }

    /// Attaches the server as `serve` does.
    async fn attach(&self, revision: &str, store: &Arc<MemoryStore>) -> (Invoker, AttachedServer) {
        let registry = Registry::new();
        let server = RemoteServer::url("shop", &self.url).revision(revision).trust(Trust::Calls);
        let server = server.resume_calls(store.shared_state());
        let attached = server.attach(&registry).await.unwrap();
        (Invoker::new(&registry).unwrap(), attached)
    }

    fn counts(&self) -> (usize, usize) {
        (self.started.load(Ordering::SeqCst), self.greeted.load(Ordering::SeqCst))
    }
}

/// A server with the shop attached, whose model calls one of its tools.
struct Served {
    server: TestServer,
    shop: Shop,
    _attached: AttachedServer,
}

async fn serve_shop(revision: &str, tool: &str) -> Served {
    let (shop, store) = (Shop::open().await, Arc::<MemoryStore>::default());
    let (invoker, attached) = shop.attach(revision, &store).await;
    let model = ScriptedModel::new().calls(tool, "{}").replies("Done.");
    let server = serve(kept(ServerBuilder::new(invoker, model), &store)).await;
    Served { server, shop, _attached: attached }
}

/// Sends a message to the native endpoint, and returns the question.
async fn ask_native(server: &TestServer) -> Value {
    let events = server.post_and_collect(PATH, "Go.").await;
    assert_eq!(event_type(events.last().unwrap()), "paused", "{events:#?}");
    find_event(&events, "asked").clone()
}

async fn decide_native(server: &TestServer, asked: &Value, verdict: Value) -> Vec<Value> {
    let mut decision = json!({ "call": asked["call"]["id"], "token": asked["token"] });
    decision.as_object_mut().unwrap().extend(verdict.as_object().unwrap().clone());
    let decided = server.post(&format!("{PATH}/decide"), decision).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    let after = decided.json()["seq"].as_u64();
    server.events(PATH, after).await.collect_turn().await
}

/// The result of a tool in events of the native protocol.
fn result_of(events: &[Value], tool: &str) -> Value {
    let results = events.iter().filter(|event| event_type(event) == "result");
    let mut results = results.map(|event| &event["result"]);
    results.find(|result| result["tool"] == tool).unwrap_or_else(|| panic!("{events:#?}")).clone()
}

fn answer(text: &str) -> Value {
    json!({ "verdict": "answer", "answer": text })
}

#[tokio::test]
async fn a_question_over_native_events_is_answered_and_the_call_goes_on() {
    for revision in REVISIONS {
        let served = serve_shop(revision, "shop_greet").await;
        let asked = ask_native(&served.server).await;
        assert_eq!(asked["arguments"]["message"], "Who are you?");
        assert_eq!(asked["arguments"]["form"]["required"], json!(["name"]));
        assert_eq!(asked["tool"]["title"], "shop asks");
        assert!(asked["parent"].is_string(), "{asked}");
        let events = decide_native(&served.server, &asked, answer(r#"{"name":"Ada"}"#)).await;
        let result = result_of(&events, "shop_greet");
        assert_eq!(result["content"][0]["text"], "Hello, Ada!", "{revision}: {result}");
        assert_eq!(joined_text(&events), "Done.");
        // With a session the call waits at the server. Without one, the server starts it again for each round.
        let started = if revision == REVISIONS[0] { 1 } else { 2 };
        assert_eq!(served.shop.counts(), (started, 1), "{revision}");
    }
}

#[tokio::test]
async fn a_question_that_is_denied_is_declined() {
    for revision in REVISIONS {
        let served = serve_shop(revision, "shop_greet").await;
        let asked = ask_native(&served.server).await;
        let events =
            decide_native(&served.server, &asked, json!({ "verdict": "deny", "reason": "no" }))
                .await;
        let result = result_of(&events, "shop_greet");
        assert_eq!(result["content"][0]["text"], "Decline", "{revision}: {result}");
    }
}

#[tokio::test]
async fn a_person_writes_what_a_server_samples() {
    for revision in REVISIONS {
        let served = serve_shop(revision, "shop_write").await;
        let asked = ask_native(&served.server).await;
        assert_eq!(asked["arguments"]["message"], "user: A poem?", "{asked}");
        let events = decide_native(&served.server, &asked, answer("Roses.")).await;
        let result = result_of(&events, "shop_write");
        assert_eq!(result["content"][0]["text"], "It is: Roses.", "{revision}: {result}");
    }
}

#[tokio::test]
async fn a_question_over_ag_ui_is_an_interrupt_with_the_form_of_its_answer() {
    for revision in REVISIONS {
        let served = serve_shop(revision, "shop_greet").await;
        let server = &served.server;
        let events = ag_ui::run(server, json!({ "messages": [ag_ui::user("Go.")] })).await;
        let interrupt = &ag_ui::of(&events, "RUN_FINISHED")["outcome"]["interrupts"][0];
        assert_eq!(interrupt["reason"], "input_required", "{events:#?}");
        assert_eq!(interrupt["message"], "shop asks: Who are you?");
        let form = &interrupt["responseSchema"]["properties"]["answer"];
        assert_eq!(form["properties"]["name"]["type"], "string");
        let payload = json!({ "approved": true, "answer": { "name": "Ada" } });
        let resume =
            json!([{ "interruptId": interrupt["id"], "status": "resolved", "payload": payload }]);
        let events = ag_ui::run(server, json!({ "resume": resume })).await;
        let results = events.iter().filter(|event| event_type(event) == "TOOL_CALL_RESULT");
        let results: Vec<&Value> = results.map(|event| &event["content"]).collect();
        assert_eq!(results, [r#"{"name":"Ada"}"#, "Hello, Ada!"], "{revision}: {events:#?}");
        assert_eq!(ag_ui::of(&events, "RUN_FINISHED")["outcome"], json!({ "type": "success" }));
    }
}

#[tokio::test]
async fn a_question_over_the_ai_sdk_is_answered_in_its_part() {
    let by_output = |id: &Value, _: &Value| {
        json!({ "type": "tool-shop_ask_user", "toolCallId": id, "state": "output-available", "input": {},
            "output": { "name": "Ada" } })
    };
    let by_approval = |id: &Value, signature: &Value| {
        let approval =
            json!({ "id": id, "approved": true, "signature": signature, "reason": "Ada" });
        json!({ "type": "tool-shop_ask_user", "toolCallId": id, "state": "approval-responded", "input": {},
            "approval": approval })
    };
    let ways: [fn(&Value, &Value) -> Value; 2] = [by_output, by_approval];
    for (revision, answered) in REVISIONS.into_iter().flat_map(|it| ways.map(|way| (it, way))) {
        let served = serve_shop(revision, "shop_greet").await;
        let first = send_ai_sdk(&served.server, json!([ai_sdk::user("Go.")])).await;
        let asked = first.iter().find(|part| part["type"] == "tool-approval-request").unwrap();
        assert_eq!(asked["approvalDescriptor"]["input"]["message"], "Who are you?");
        let part = answered(&asked["toolCallId"], &asked["signature"]);
        let message = json!({ "id": first[0]["messageId"], "role": "assistant", "parts": [part] });
        let second = send_ai_sdk(&served.server, json!([ai_sdk::user("Go."), message])).await;
        let outputs = second.iter().filter(|part| part["type"] == "tool-output-available");
        let outputs: Vec<&Value> = outputs.map(|part| &part["output"]).collect();
        assert!(outputs.iter().any(|output| **output == "Hello, Ada!"), "{revision}: {second:#?}");
    }
}

async fn send_ai_sdk(server: &TestServer, messages: Value) -> Vec<Value> {
    let events: SseEvents = ai_sdk::send(server, "/api/chat", messages).await;
    ai_sdk::parts(events).await
}

#[tokio::test]
async fn a_question_outlives_a_restart_where_the_server_keeps_no_session() {
    let [with_sessions, without] = REVISIONS;
    for revision in [with_sessions, without] {
        let (shop, store) = (Shop::open().await, Arc::<MemoryStore>::default());
        let model = || ScriptedModel::new().calls("shop_greet", "{}").replies("Done.");
        let (invoker, attached) = shop.attach(revision, &store).await;
        let server = serve(kept(ServerBuilder::new(invoker, model()), &store)).await;
        let asked = ask_native(&server).await;
        server.end().await;
        attached.detach().await;

        let (invoker, _attached) = shop.attach(revision, &store).await;
        let model = ScriptedModel::new().replies("Done.");
        let server = serve(kept(ServerBuilder::new(invoker, model), &store)).await;
        let events = decide_native(&server, &asked, answer(r#"{"name":"Ada"}"#)).await;
        let result = result_of(&events, "shop_greet");
        if revision == without {
            assert_eq!(result["content"][0]["text"], "Hello, Ada!", "{result}");
            assert_eq!(shop.counts(), (2, 1));
        } else {
            // The session of the call has ended with the process; the call is not made twice.
            assert_eq!(result["outcome"], "outcome_unknown", "{result}");
            assert_eq!(shop.counts().0, 1);
        }
    }
}

#[tokio::test]
async fn only_the_tools_of_a_server_ask_its_questions() {
    let served = serve_shop(REVISIONS[1], "shop_ask_user").await;
    let listed = served.server.get("/api/tools").await.json().to_string();
    assert!(listed.contains("shop_greet") && !listed.contains("shop_ask_user"), "{listed}");
    let events = served.server.post_and_collect(PATH, "Go.").await;
    assert_eq!(joined_text(&events), "Done.");
    assert_eq!(result_of(&events, "shop_ask_user")["outcome"], "unknown_tool");
}
