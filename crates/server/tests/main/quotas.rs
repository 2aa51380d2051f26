//! Quotas per person: refused alike in every protocol, counted by all nodes together, and a fair order of turns.

use axum::http::request::Parts;
use serde_json::{Value, json};
use toolwright::auth::Identity;
use toolwright::chat::{Model, ModelRequest, Owner, Price, Prices, Usage};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel, UnreachableSharedState};
use toolwright::{Tool, ToolError};
use toolwright_bus::InProcessBus;
use toolwright_server::{Endpoint, QuotaLimits, QuotaSettings, ServerBuilder};

use crate::approvals::{Payments, paying_model, payment_tool};
use crate::rooms::Socket;
use crate::stores::TestStore;
use crate::support::{
    HttpResponse, ManualModel, SseEvents, TestServer, find_event, invoker, joined_text, no_tools,
    serve, serve_built, stored_answer, within_timeout,
};

/// The subject is the end of the bearer token; `boss` has the role `staff`.
fn identify(head: &Parts) -> Option<Identity> {
    let token = head.headers.get("authorization")?.to_str().ok()?;
    let subject = token.strip_prefix("Bearer the-long-token-of-")?;
    let roles = (subject == "boss").then_some("staff");
    Some(Identity::new(subject).roles(roles))
}

/// A server with quotas and people who have signed in.
fn with_quota(server: ServerBuilder, limits: QuotaLimits) -> ServerBuilder {
    server
        .login(|head| std::future::ready(Ok(identify(&head))))
        .quota(QuotaSettings::new(limits).role("staff", generous()))
}

fn generous() -> QuotaLimits {
    QuotaLimits::new()
        .messages_per_minute(u64::MAX)
        .concurrent_turns(u64::MAX)
        .tokens_per_day(u64::MAX)
        .cost_per_day(f64::INFINITY)
}

fn limits() -> QuotaLimits {
    QuotaLimits::new()
}

fn look() -> Tool {
    let tool = Tool::builder("look", "Looks at something.").read_only(true);
    tool.run(|_, _| Ok::<_, ToolError>("seen")).unwrap()
}

fn path(conversation: &str) -> String {
    format!("/api/conversations/{conversation}")
}

async fn post(server: &TestServer, subject: &str, conversation: &str) -> HttpResponse {
    let path = format!("{}/prompt", path(conversation));
    server.send_as(subject, "POST", &path, json!({ "text": "Hi" })).await
}

async fn events(server: &TestServer, subject: &str, conversation: &str, after: u64) -> SseEvents {
    let path = format!("{}/events?after={after}", path(conversation));
    SseEvents::new(server.open(server.request_as(subject, "GET", &path), "").await)
}

/// Sends a message, and waits until it is answered.
async fn ask(server: &TestServer, subject: &str, conversation: &str) -> Vec<Value> {
    let accepted = post(server, subject, conversation).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let after = accepted.json()["seq"].as_u64().unwrap();
    events(server, subject, conversation, after).await.collect_turn().await
}

fn assert_refused(refused: &HttpResponse, limit: &str) {
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_ne!(refused.header("retry-after"), "", "{refused:?}");
    let error = &refused.json()["error"];
    assert_eq!(error["limit"], limit, "{error}");
    assert!(error["retry_after"].as_u64() > Some(0), "{error}");
    assert!(error["message"].as_str().unwrap().contains("quota of"), "{error}");
}

/// The left amount of a limit, as `/api/quota` shows it.
async fn left(server: &TestServer, subject: &str, limit: &str) -> Value {
    let quota = server.send_as(subject, "GET", "/api/quota", Value::Null).await.json();
    let limits = quota["limits"].as_array().unwrap();
    let found = limits.iter().find(|it| it["limit"] == limit);
    found.map_or(Value::Null, |it| it["left"].clone())
}

/// Calls a tool over MCP, in the revision without sessions.
async fn call_mcp(server: &TestServer, subject: &str) -> HttpResponse {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "look", "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let request = server
        .request_as(subject, "POST", "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "look");
    server.send(request, &body.to_string()).await
}

/// Calls a tool over MCP in a session.
async fn call_mcp_in_session(server: &TestServer, subject: &str) -> HttpResponse {
    let send = async |session: Option<&str>, method: &str, params: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = server
            .request_as(subject, "POST", "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-06-18");
        let request = match session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        };
        server.send(request, &body.to_string()).await
    };
    let client = json!({ "name": "t", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let session = send(None, "initialize", hello).await;
    let session = session.header("mcp-session-id");
    send(Some(session), "tools/call", json!({ "name": "look", "arguments": {} })).await
}

#[tokio::test]
async fn a_message_over_the_rate_is_refused_in_every_protocol_and_only_for_its_sender() {
    let model = ScriptedModel::new().replies("One.").replies("Two.");
    let server = ServerBuilder::new(invoker(vec![look()]), model.clone());
    let server = serve(with_quota(server, limits().messages_per_minute(1))).await;
    assert_eq!(left(&server, "ada", "messages_per_minute").await, 1);
    ask(&server, "ada", "c").await;
    assert_eq!(left(&server, "ada", "messages_per_minute").await, 0);

    let refused = post(&server, "ada", "c").await;
    assert_refused(&refused, "messages_per_minute");
    assert_eq!(refused.json()["error"]["kind"], "rate_limit");
    assert_refused(&post(&server, "ada", "another").await, "messages_per_minute");
    let parts = json!([{ "type": "text", "text": "Hi" }]);
    let sdk = json!({ "id": "c", "messages": [{ "id": "m", "role": "user", "parts": parts }] });
    let refused = server.send_as("ada", "POST", "/api/chat", sdk.clone()).await;
    assert_refused(&refused, "messages_per_minute");
    let run = json!({
        "threadId": "c", "runId": "r", "tools": [], "context": [], "state": {}, "forwardedProps": {},
        "messages": [{ "id": "m", "role": "user", "content": "Hi" }],
    });
    let refused = server.send_as("ada", "POST", "/agui", run).await;
    assert_refused(&refused, "messages_per_minute");
    let completion =
        json!({ "model": "script", "messages": [{ "role": "user", "content": "Hi" }] });
    let refused = server.send_as("ada", "POST", "/v1/chat/completions", completion).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (429, &json!("rate_limit")));
    assert_ne!(refused.header("retry-after"), "");
    let refused = server.send_as("ada", "POST", "/api/tools/look", json!({})).await;
    assert_refused(&refused, "messages_per_minute");

    let mut socket = Socket::open_as(&server, &path("c"), "the-long-token-of-ada").await;
    socket.until("snapshot").await;
    socket.send(json!({ "type": "prompt", "text": "Hi" })).await;
    let refused = socket.next().await.unwrap();
    assert_eq!(refused["type"], "refused", "{refused}");
    assert_eq!(refused["error"]["limit"], "messages_per_minute", "{refused}");
    let mut socket = Socket::open_as(&server, "/api/chat", "the-long-token-of-ada").await;
    let mut send = json!({ "type": "send", "requestId": "1" });
    send.as_object_mut().unwrap().extend(sdk.as_object().unwrap().clone());
    socket.send(send).await;
    let refused = socket.next().await.unwrap();
    assert_eq!(refused["type"], "error", "{refused}");
    assert!(refused["errorText"].as_str().unwrap().contains("1 messages per minute"), "{refused}");

    let refused = call_mcp(&server, "ada").await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_ne!(refused.header("retry-after"), "");
    let error = &refused.json()["error"];
    assert!(error["message"].as_str().unwrap().contains("1 messages per minute"), "{error}");
    assert!(error["data"]["retryAfter"].as_u64() > Some(0), "{error}");
    // In revisions with sessions, an error is a response.
    let refused = call_mcp_in_session(&server, "ada").await;
    assert_eq!(refused.status, 200, "{refused:?}");
    assert_ne!(refused.json()["error"]["data"]["retryAfter"], Value::Null, "{refused:?}");

    assert_eq!(model.requests().len(), 1, "nothing refused has reached the model");
    assert_eq!(joined_text(&ask(&server, "bob", "c").await), "Two.");
    let metrics = server.send_as("bob", "GET", "/metrics", Value::Null).await;
    let counted = r#"toolwright_quota_refused_total{limit="messages_per_minute"}"#;
    assert!(metrics.text().contains(counted), "{}", metrics.text());
}

#[tokio::test]
async fn calls_of_tools_count_toward_the_rate() {
    let server = ServerBuilder::new(invoker(vec![look()]), FnModel::echo());
    let server = serve(with_quota(server, limits().messages_per_minute(3))).await;
    assert_eq!(call_mcp(&server, "ada").await.status, 200);
    assert!(call_mcp_in_session(&server, "ada").await.text().contains("seen"));
    let called = server.send_as("ada", "POST", "/api/tools/look", json!({})).await;
    assert_eq!(called.status, 200, "{called:?}");
    assert_refused(&post(&server, "ada", "c").await, "messages_per_minute");
}

#[tokio::test]
async fn a_role_lifts_limits_and_the_program_itself_has_none() {
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).mount_all();
    let server = with_quota(server, limits().messages_per_minute(0)).build().unwrap();
    let events = server.send_message("/api/conversations/own", "Hi").await.unwrap();
    drop(events);
    let server = serve_built(server).await;
    for conversation in ["a", "b", "c"] {
        ask(&server, "boss", conversation).await;
    }
    assert_eq!(left(&server, "boss", "messages_per_minute").await, Value::Null);
    assert_refused(&post(&server, "ada", "c").await, "messages_per_minute");
}

#[tokio::test]
async fn a_message_that_is_refused_otherwise_is_not_counted() {
    let (model, strings) = ManualModel::new();
    let quota = limits().messages_per_minute(2).concurrent_turns(1);
    let server = serve(with_quota(ServerBuilder::new(no_tools(), model), quota)).await;
    let after = post(&server, "ada", "a").await.json()["seq"].as_u64().unwrap();
    for _ in 0..3 {
        let refused = post(&server, "ada", "b").await;
        assert_refused(&refused, "concurrent_turns");
    }
    assert_eq!(left(&server, "ada", "messages_per_minute").await, 1);
    assert_eq!(left(&server, "ada", "concurrent_turns").await, 0);
    strings.send(String::new()).unwrap();
    events(&server, "ada", "a", after).await.collect_turn().await;
    assert_eq!(left(&server, "ada", "concurrent_turns").await, 1);
    strings.send(String::new()).unwrap();
    ask(&server, "ada", "b").await;
    assert_refused(&post(&server, "ada", "b").await, "messages_per_minute");
}

#[tokio::test]
async fn a_message_to_a_conversation_whose_turn_runs_waits_for_its_slot() {
    let (model, strings) = ManualModel::new();
    let quota = limits().concurrent_turns(1);
    let server = serve(with_quota(ServerBuilder::new(no_tools(), model), quota)).await;
    let after = post(&server, "ada", "a").await.json()["seq"].as_u64().unwrap();
    let mut first = events(&server, "ada", "a", after).await;
    strings.send("One.".to_owned()).unwrap();
    first.read_until("text").await;
    let second = post(&server, "ada", "a").await;
    assert_eq!((second.status, &second.json()["queued"]), (202, &json!(true)));
    assert_refused(&post(&server, "ada", "b").await, "concurrent_turns");
    for word in ["", "Two.", ""] {
        strings.send(word.to_owned()).unwrap();
    }
    first.read_until("ended").await;
    assert_eq!(first.read_until("text").await["event"]["delta"], "Two.");
    first.read_until("ended").await;
}

#[tokio::test]
async fn tokens_and_cost_of_the_day_are_refused_when_they_are_used_up() {
    let prices = || Prices::default().with("function", Price::new(100_000.0, 100_000.0));
    let server = ServerBuilder::new(no_tools(), FnModel::echo())
        .configure_chat(move |chat| chat.prices(prices()));
    // An answer has 15 tokens, which cost 1.50.
    let quota = limits().tokens_per_day(40).cost_per_day(4.0);
    let server = serve(with_quota(server, quota)).await;
    ask(&server, "ada", "a").await;
    assert_eq!(left(&server, "ada", "tokens_per_day").await, 25);
    assert_eq!(left(&server, "ada", "cost_per_day").await, 2.5);
    ask(&server, "ada", "b").await;
    ask(&server, "ada", "b").await;
    let refused = post(&server, "ada", "a").await;
    assert_refused(&refused, "tokens_per_day");
    assert_eq!(refused.json()["error"]["kind"], "quota");
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("40 tokens per day is used up: it resets in 2"), "{message}");
    let completion =
        json!({ "model": "function", "messages": [{ "role": "user", "content": "Hi" }] });
    let refused = server.send_as("ada", "POST", "/v1/chat/completions", completion).await;
    assert_eq!(refused.json()["error"]["code"], "insufficient_quota", "{refused:?}");
    ask(&server, "bob", "a").await;
}

/// A model whose vendor reports no usage.
fn silent() -> ScriptedModel {
    let reply = |_: &ModelRequest| ModelReply::text("y".repeat(400)).usage(Usage::default());
    ScriptedModel::new().replies_with(reply).replies_with(reply)
}

#[tokio::test]
async fn usage_that_no_vendor_reports_is_estimated_and_counts() {
    let prices = || Prices::default().with("script", Price::new(10_000.0, 10_000.0));
    let server =
        ServerBuilder::new(no_tools(), silent()).configure_chat(move |chat| chat.prices(prices()));
    let quota = limits().tokens_per_day(150).cost_per_day(100.0);
    let server = serve(with_quota(server, quota)).await;
    let events = ask(&server, "ada", "a").await;
    let usage = &find_event(&events, "step")["usage"];
    assert_eq!((&usage["estimated"], &usage["output"]), (&json!(true), &json!(100)));
    let shown = server.send_as("ada", "GET", "/api/quota", Value::Null).await.json();
    for limit in shown["limits"].as_array().unwrap() {
        let (used, estimated) = (&limit["used"], &limit["estimated"]);
        match limit["limit"].as_str().unwrap() {
            "tokens_per_day" | "cost_per_day" => assert_eq!(used, estimated, "{limit}"),
            _ => assert!(estimated.is_null(), "{limit}"),
        }
    }
    let metrics = server.send_as("boss", "GET", "/metrics", Value::Null).await;
    let estimated = metrics.text().lines().find(|line| line.starts_with(ESTIMATED_TOKENS));
    let total = usage["input"].as_u64().unwrap() + 100;
    assert_eq!(estimated, Some(&*format!("{ESTIMATED_TOKENS} {total}")));
    ask(&server, "ada", "a").await;
    assert_refused(&post(&server, "ada", "a").await, "tokens_per_day");
}

#[tokio::test]
async fn a_history_that_a_client_of_openai_sends_is_part_of_the_estimate() {
    let server = ServerBuilder::new(no_tools(), silent());
    let server = serve(with_quota(server, limits().tokens_per_day(1_000_000))).await;
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let (before, now) = ("x".repeat(40_000), "And now?");
    let messages = [message("user", &before), message("assistant", "Yes."), message("user", now)];
    let completion = json!({ "model": "script", "messages": messages });
    let answer = server.send_as("ada", "POST", "/v1/chat/completions", completion).await.json();
    let usage = &answer["usage"];
    assert_eq!(usage["estimated"], true, "{answer}");
    assert!(usage["prompt_tokens"].as_u64().unwrap() > 10_000, "{usage}");
    assert!(left(&server, "ada", "tokens_per_day").await.as_u64().unwrap() < 990_000);
}

const ESTIMATED_TOKENS: &str = "toolwright_tokens_estimated_total";

#[tokio::test]
async fn cost_that_is_limited_and_not_known_is_not_spent() {
    let model = ScriptedModel::new().replies("Free?");
    let server = ServerBuilder::new(no_tools(), model.clone());
    let server = serve(with_quota(server, limits().cost_per_day(1.0))).await;
    let refused = post(&server, "ada", "a").await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.text().contains("the price of `script` is not known"), "{}", refused.text());
    assert!(model.requests().is_empty());
    ask(&server, "boss", "a").await;
}

#[tokio::test]
async fn a_turn_that_pauses_and_goes_on_is_one_message_and_frees_its_slot_meanwhile() {
    let paid = Payments::default();
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), paying_model());
    let quota = limits().messages_per_minute(2).concurrent_turns(1).tokens_per_day(100);
    let server = serve(with_quota(server, quota)).await;
    let paused = ask(&server, "ada", "a").await;
    let asked = find_event(&paused, "asked");
    assert_eq!(left(&server, "ada", "concurrent_turns").await, 1);
    assert_eq!(left(&server, "ada", "tokens_per_day").await, 85, "the first step is counted");
    let decision =
        json!({ "call": asked["call"]["id"], "token": asked["token"], "verdict": "approve" });
    let decide = format!("{}/decide", path("a"));
    let decided = server.send_as("ada", "POST", &decide, decision).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    let after = decided.json()["seq"].as_u64().unwrap();
    events(&server, "ada", "a", after).await.collect_turn().await;
    assert_eq!(left(&server, "ada", "messages_per_minute").await, 1);
    assert_eq!(left(&server, "ada", "tokens_per_day").await, 70);
    assert_eq!(*paid.lock().unwrap(), [100]);
}

/// Two nodes with one store; connected by a bus, or not.
async fn nodes(
    store: &TestStore,
    model: impl Model + Clone,
    quota: QuotaLimits,
    has_bus: bool,
) -> [TestServer; 2] {
    let bus = InProcessBus::new();
    let node = async |name: &str| {
        let node = store.node(ServerBuilder::new(no_tools(), model.clone()), name).await;
        let node = if has_bus { node.bus(bus.node()) } else { node };
        serve(with_quota(node, quota)).await
    };
    [node("one").await, node("two").await]
}

#[tokio::test]
async fn two_nodes_count_messages_tokens_and_turns_together() {
    for store in TestStore::all().await {
        let (model, strings) = ManualModel::new();
        let quota = limits().messages_per_minute(3).concurrent_turns(1).tokens_per_day(1000);
        let [one, two] = nodes(&store, model, quota, false).await;
        let after = post(&one, "ada", "a").await.json()["seq"].as_u64().unwrap();
        assert_refused(&post(&two, "ada", "b").await, "concurrent_turns");
        assert_eq!(post(&two, "bob", "b").await.status, 202);
        // One model answers both.
        strings.send(String::new()).unwrap();
        strings.send(String::new()).unwrap();
        events(&one, "ada", "a", after).await.collect_turn().await;
        strings.send(String::new()).unwrap();
        ask(&two, "ada", "b").await;
        assert_eq!(left(&one, "ada", "messages_per_minute").await, 1);
        assert_eq!(left(&one, "ada", "tokens_per_day").await, 970);
        strings.send(String::new()).unwrap();
        ask(&one, "ada", "a").await;
        assert_refused(&post(&two, "ada", "a").await, "messages_per_minute");
    }
}

#[tokio::test]
async fn a_message_that_another_node_takes_runs_in_the_slot_it_was_accepted_with() {
    for store in TestStore::all().await {
        let (model, strings) = ManualModel::new();
        let [one, two] = nodes(&store, model, limits().concurrent_turns(1), true).await;
        for (round, (node, other)) in
            [(&one, &two), (&two, &one), (&one, &two)].into_iter().enumerate()
        {
            let after = post(node, "ada", "a").await.json()["seq"].as_u64().unwrap();
            let mut shown = events(node, "ada", "a", after).await;
            strings.send("First.".to_owned()).unwrap();
            shown.read_until("text").await;
            // To the node that has no lease, which leaves it to the other.
            assert_eq!(post(other, "ada", "a").await.status, 202, "round {round}");
            for word in ["", "Second.", ""] {
                strings.send(word.to_owned()).unwrap();
            }
            shown.read_until("ended").await;
            shown.read_until("ended").await;
        }
    }
}

#[tokio::test]
async fn a_turn_that_another_process_resumes_is_one_message_and_takes_its_slot_over() {
    for store in TestStore::all().await {
        let (model, strings) = ManualModel::new();
        let quota = limits().messages_per_minute(2).concurrent_turns(1).tokens_per_day(100);
        let before = ServerBuilder::new(no_tools(), model)
            .limits(|limits| limits.shutdown_grace = std::time::Duration::ZERO);
        // Restarted under the same name, a node takes its conversations back at once.
        let before = serve(with_quota(store.node(before, "one").await, quota)).await;
        let after = post(&before, "ada", "a").await.json()["seq"].as_u64().unwrap();
        strings.send("Half".to_owned()).unwrap();
        events(&before, "ada", "a", after).await.read_until("text").await;
        before.end().await;
        let model = ScriptedModel::new().replies("A whole answer.");
        let server = store.node(ServerBuilder::new(no_tools(), model), "one").await;
        let server = serve(with_quota(server, quota)).await;
        let stored_name = Owner::Subject("ada".to_owned()).stored_name("a");
        assert_eq!(stored_answer(&*store.open().await, &stored_name).await, "A whole answer.");
        assert_eq!(left(&server, "ada", "messages_per_minute").await, 1);
        assert_eq!(left(&server, "ada", "tokens_per_day").await, 85);
    }
}

#[tokio::test]
async fn of_many_messages_at_once_no_more_are_accepted_than_slots() {
    for store in TestStore::all().await {
        let (model, strings) = ManualModel::new();
        let [one, two] = nodes(&store, model, limits().concurrent_turns(2), false).await;
        let posts = (0..40).map(|n| {
            let node = if n % 2 == 0 { &one } else { &two };
            async move { post(node, "ada", &format!("c{n}")).await.status }
        });
        let statuses = within_timeout(futures::future::join_all(posts)).await;
        let accepted = statuses.iter().filter(|status| **status == 202).count();
        let refused = statuses.iter().filter(|status| **status == 429).count();
        assert_eq!((accepted, refused), (2, 38));
        drop(strings);
    }
}

#[tokio::test]
async fn without_the_shared_state_rate_is_counted_here_and_tokens_are_not_spent() {
    let state = UnreachableSharedState::new();
    let (model, strings) = ManualModel::new();
    let server = ServerBuilder::new(no_tools(), model).shared_state(state.clone());
    let quota = limits().messages_per_minute(3).concurrent_turns(2);
    let server = serve(with_quota(server, quota)).await;
    state.set_unreachable(true);
    assert_eq!(post(&server, "ada", "a").await.status, 202);
    assert_eq!(post(&server, "ada", "b").await.status, 202);
    assert_refused(&post(&server, "ada", "c").await, "concurrent_turns");
    assert_eq!(post(&server, "ada", "b").await.status, 202, "queued");
    assert_refused(&post(&server, "ada", "a").await, "messages_per_minute");
    drop(strings);

    let server = ServerBuilder::new(no_tools(), FnModel::echo()).shared_state(state.clone());
    let server = serve(with_quota(server, limits().tokens_per_day(100))).await;
    let refused = post(&server, "ada", "a").await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, "6"), "{refused:?}");
    assert!(refused.text().contains("`tokens_per_day` cannot be checked"), "{}", refused.text());
    ask(&server, "boss", "a").await;
}

#[tokio::test]
async fn a_person_with_one_message_does_not_wait_for_all_of_a_busy_one() {
    let (model, strings) = ManualModel::new();
    let server = ServerBuilder::new(no_tools(), model)
        .endpoint(Endpoint::new("/chat/{room}").broadcast(true).open_to_all())
        .limits(|limits| limits.max_turns = 1);
    let server = serve(with_quota(server, limits().tokens_per_day(1000))).await;
    for n in 0..5 {
        assert_eq!(post(&server, "busy", &format!("b{n}")).await.status, 202);
    }
    assert_eq!(server.get("/readyz").await.status, 503);
    let after = post(&server, "ann", "a").await.json()["seq"].as_u64().unwrap();
    let mut answered = events(&server, "ann", "a", after).await;
    // The turn that runs, and at most one more of the busy person.
    for word in ["1", "", "2", "", "3", ""] {
        strings.send(word.to_owned()).unwrap();
    }
    let text = joined_text(&answered.collect_turn().await);
    assert!(["2", "3"].contains(&&*text), "{text}");
    drop(strings);
}

#[tokio::test]
async fn one_person_does_not_take_all_places_of_those_who_wait() {
    let (model, strings) = ManualModel::new();
    let server = ServerBuilder::new(no_tools(), model).limits(|limits| {
        limits.max_turns = 1;
        limits.max_waiting_turns = 8;
    });
    let server = serve(with_quota(server, limits().tokens_per_day(1000))).await;
    let mut accepted = 0;
    loop {
        match post(&server, "busy", &format!("b{accepted}")).await.status {
            202 => accepted += 1,
            status => break assert_eq!(status, 503),
        }
    }
    assert!((2..8).contains(&accepted), "{accepted}");
    assert_eq!(post(&server, "ann", "a").await.status, 202);
    drop(strings);
}
