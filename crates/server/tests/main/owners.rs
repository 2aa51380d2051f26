//! A conversation belongs to the subject that began it. For every other subject it does not exist, on any route or protocol.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolwright::chat::{Append, Entry, EntryBody, MemoryStore, Model, PrincipalRecord, Store};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright::{BoxFuture, Content, Secret, Tool, ToolError, tool};
use toolwright_mcp::{Claims, ClientPeer, ResourceServer, ScopeRule, StaticTokens};
use toolwright_server::{Endpoint, ServerBuilder};

use crate::approvals::{Payments, paying_model, payment_tool};
use crate::rooms::Socket;
use crate::support::{
    HttpResponse, ManualModel, SseEvents, TestServer, event_type, find_event, invoker, joined_text,
    serve, stored_answer, within_timeout,
};

pub(crate) const HERE: &str = "http://localhost/mcp";

/// The bearer token of a subject.
pub(crate) fn token(subject: &str) -> String {
    format!("the-long-token-of-{subject}")
}

pub(crate) fn resource_server(table: StaticTokens) -> ResourceServer {
    ResourceServer::new(HERE, table).authorization_server("https://login.example")
}

/// An OAuth server that three subjects can sign in to.
fn oauth() -> ResourceServer {
    let table = ["ada", "bob", "eve"].into_iter().fold(StaticTokens::new(), |table, subject| {
        let claims = Claims::new(subject, [HERE]);
        table.token(&Secret::new(token(subject)), claims)
    });
    resource_server(table)
}

impl TestServer {
    /// Sends a JSON request with the token of a subject.
    pub(crate) async fn send_as(
        &self,
        subject: &str,
        method: &str,
        path: &str,
        body: Value,
    ) -> HttpResponse {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.send(self.request_as(subject, method, path), &body).await
    }

    pub(crate) fn request_as(
        &self,
        subject: &str,
        method: &str,
        path: &str,
    ) -> hyper::http::request::Builder {
        let request = self.request(method, path);
        let request = request.header("content-type", "application/json");
        request.header("authorization", format!("Bearer {}", token(subject)))
    }

    /// Sends a message as a subject, and returns all events until the turn ends or pauses.
    pub(crate) async fn turn_as(&self, subject: &str, path: &str, text: &str) -> Vec<Value> {
        let message = json!({ "text": text });
        let path = path.to_owned();
        let accepted = self.send_as(subject, "POST", &format!("{path}/prompt"), message).await;
        assert_eq!(accepted.status, 202, "{accepted:?}");
        let seq = accepted.json()["seq"].as_u64().unwrap();
        self.events_as(subject, &path, seq).await.collect_turn().await
    }

    pub(crate) async fn events_as(&self, subject: &str, path: &str, after: u64) -> SseEvents {
        let path = format!("{path}/events?after={after}");
        SseEvents::new(self.open(self.request_as(subject, "GET", &path), "").await)
    }
}

/// Runs until it is cancelled, as an MCP task.
#[tool]
async fn work(client: ClientPeer) -> String {
    client.run_as_task();
    std::future::pending().await
}

/// The approval that a paused turn asks for.
pub(crate) fn decision(asked: &Value, verdict: Value) -> Value {
    let mut decision = json!({ "call": asked["call"]["id"], "token": asked["token"] });
    let verdict = verdict.as_object().unwrap().clone();
    decision.as_object_mut().unwrap().extend(verdict);
    decision
}

/// One way to reach a conversation: the protocol, the request, and what it answers.
type Attempt = (&'static str, String, BoxFuture<'static, String>);

/// Every route and protocol that takes the id of a conversation, tried by a subject.
fn attempts(server: &Arc<TestServer>, who: &'static str, id: &str, asked: &Value) -> Vec<Attempt> {
    let mut all: Vec<Attempt> = Vec::new();
    let approve = decision(asked, json!({ "verdict": "approve" }));
    let answer = decision(asked, json!({ "verdict": "answer", "answer": "forged" }));
    for base in [format!("/api/conversations/{id}"), format!("/help/{id}")] {
        for (method, rest, body) in [
            ("GET", "", Value::Null),
            ("GET", "/export", Value::Null),
            ("POST", "/decide", approve.clone()),
            ("POST", "/decide", answer.clone()),
            ("POST", "/stop", Value::Null),
            ("DELETE", "/queue/1", Value::Null),
            ("DELETE", "", Value::Null),
            ("GET", "/stream", Value::Null),
        ] {
            let (server, path) = (Arc::clone(server), format!("{base}{rest}"));
            all.push((
                "native",
                format!("{method} {path} {}", body["verdict"].as_str().unwrap_or("")),
                Box::pin(async move {
                    let answer = server.send_as(who, method, &path, body).await;
                    format!("{} {}", answer.status, answer.text())
                }),
            ));
        }
        let (events, path) = (Arc::clone(server), format!("{base}/events"));
        all.push((
            "native",
            format!("GET {path}"),
            Box::pin(async move {
                let request = events.request_as(who, "GET", &path);
                let mut events = SseEvents::new(events.open(request, "").await);
                events.next().await.unwrap()["event"].to_string()
            }),
        ));
        for frame in [
            json!({ "type": "stop" }),
            json!({ "type": "decide", "call": approve["call"], "token": approve["token"], "verdict": "approve" }),
        ] {
            let (server, path) = (Arc::clone(server), base.clone());
            all.push((
                "WebSocket",
                format!("GET {path} (upgrade), {}", frame["type"]),
                Box::pin(async move {
                    let mut socket = Socket::open_as(&server, &path, &token(who)).await;
                    let snapshot = socket.until("snapshot").await["event"].to_string();
                    socket.send(frame).await;
                    // Answers come in order: what the frame above caused is known before this error.
                    socket.send(json!({ "type": "nonsense" })).await;
                    let mut frames = snapshot;
                    loop {
                        let frame = socket.next().await.unwrap();
                        let event = &frame["event"];
                        if event["type"] == "snapshot" {
                            // The lease that the decision has acquired begins a new term: subscribers read a snapshot, before
                            // or after the response to the next frame.
                            assert_eq!(
                                (&event["entries"], &event["pending"]),
                                (&json!([]), &json!([]))
                            );
                            continue;
                        }
                        let frame = frame.to_string();
                        frames.push_str(&frame);
                        if frame.contains("nonsense") {
                            return frames;
                        }
                    }
                }),
            ));
        }
    }
    let approval = json!({
        "id": asked["call"]["id"], "approved": true, "signature": asked["token"].to_string(),
    });
    let part = json!({
        "type": "tool-pay", "toolCallId": asked["call"]["id"], "state": "approval-responded",
        "approval": approval,
    });
    let chat = json!({
        "id": id, "messages": [{ "id": "m", "role": "assistant", "parts": [part] }],
    });
    for (method, path, body) in [
        ("POST", "/api/chat".to_owned(), chat.clone()),
        ("GET", format!("/api/chat/{id}/stream"), Value::Null),
        ("POST", format!("/api/chat/{id}/stop"), Value::Null),
        ("POST", "/help".to_owned(), chat.clone()),
    ] {
        let server = Arc::clone(server);
        all.push((
            "AI SDK",
            format!("{method} {path}"),
            Box::pin(async move {
                let answer = server.send_as(who, method, &path, body).await;
                format!("{} {}", answer.status, answer.text())
            }),
        ));
    }
    let mut send = chat;
    (send["type"], send["requestId"]) = ("send".into(), "1".into());
    for frame in [send, json!({ "type": "resume", "requestId": "1", "id": id })] {
        let server = Arc::clone(server);
        all.push((
            "AI SDK over WebSocket",
            format!("GET /api/chat (upgrade), {}", frame["type"]),
            Box::pin(async move {
                let mut socket = Socket::open_as(&server, "/api/chat", &token(who)).await;
                socket.send(frame).await;
                socket.next().await.unwrap().to_string()
            }),
        ));
    }
    let run = |more: Value| {
        let mut run =
            json!({ "threadId": id, "runId": "r", "messages": [], "tools": [], "context": [] });
        run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run
    };
    let interrupt = format!("approval-{}", asked["call"]["id"].as_str().unwrap());
    let resolved = json!({ "approved": true });
    for (what, body) in [
        ("connect", run(json!({}))),
        (
            "resume",
            run(
                json!({ "resume": [{ "interruptId": interrupt, "status": "resolved", "payload": resolved }] }),
            ),
        ),
    ] {
        let server = Arc::clone(server);
        all.push((
            "AG-UI",
            format!("POST /agui, {what}"),
            Box::pin(async move {
                let answer = server.send_as(who, "POST", "/agui", body).await;
                format!("{} {}", answer.status, answer.text())
            }),
        ));
    }
    all
}

/// Replaces what is different in every answer: ids, names drawn at random and sequence numbers.
fn normalised(answer: &str, id: &str) -> String {
    let answer = answer.replace(id, "ID");
    let mut normalised = String::new();
    let mut word = String::new();
    for c in answer.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c);
            continue;
        }
        let drawn = word.len() >= 10 && word.chars().any(|c| c.is_ascii_digit());
        normalised.push_str(if drawn { "DRAWN" } else { &word });
        normalised.push(c);
        word.clear();
    }
    normalised
}

async fn mcp(server: &TestServer, who: &str, method: &str, mut params: Value) -> HttpResponse {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
    });
    let name = params["name"].as_str().or(params["taskId"].as_str());
    let request = server
        .request_as(who, "POST", "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .header("mcp-name", name.unwrap());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    server.send(request, &body.to_string()).await
}

/// Waits until the server has noticed that the earlier connections of a subject to a conversation are closed, which
/// snapshots would count.
async fn until_absent(server: &TestServer, who: &str, id: &str) {
    for base in ["/api/conversations", "/help"] {
        let path = format!("{base}/{id}");
        while server.send_as(who, "GET", &path, Value::Null).await.json()["peers"] != 0 {}
    }
}

#[tokio::test]
async fn a_conversation_of_another_subject_does_not_exist_on_any_route() {
    let paid = Payments::default();
    let model = ScriptedModel::new()
        .calls("pay", r#"{"euros": 100}"#)
        .calls("pay", r#"{"euros": 100}"#)
        .replies("It is done.")
        .replies("It is done.");
    let tools = vec![payment_tool(&paid), work::tool()];
    let server = ServerBuilder::new(invoker(tools), model)
        .endpoint(Endpoint::new("/help").memory(true))
        .configure_auth(|guard| guard.oauth(oauth()));
    let server = Arc::new(serve(server).await);
    let mut asked = Vec::new();
    for base in ["/api/conversations/adas-secret", "/help/adas-secret"] {
        let events = server.turn_as("ada", base, "Pay the ransom.").await;
        assert_eq!(event_type(events.last().unwrap()), "paused");
        asked.push(find_event(&events, "asked").clone());
    }
    let before =
        server.send_as("ada", "GET", "/api/conversations/adas-secret/export", Value::Null).await;
    println!("| protocol | request | answer to bob and eve |\n|---|---|---|");
    for who in ["bob", "eve"] {
        for asked in &asked {
            let tried = attempts(&server, who, "adas-secret", asked);
            let unknown = attempts(&server, who, "never-begun", asked);
            for ((protocol, name, tried), (_, _, unknown)) in tried.into_iter().zip(unknown) {
                for id in ["adas-secret", "never-begun"] {
                    within_timeout(until_absent(&server, who, id)).await;
                }
                let (tried, unknown) = (within_timeout(tried).await, within_timeout(unknown).await);
                let tried = normalised(&tried, "adas-secret");
                assert_eq!(tried, normalised(&unknown, "never-begun"), "{who}: {protocol} {name}");
                assert!(!tried.contains("ransom"), "{who}: {protocol} {name}");
                assert!(!tried.starts_with("403"), "{who}: {protocol} {name}: {tried}");
                let shown: String = tried.chars().take(90).collect();
                let shown = shown.replace(['\n', '|'], " ");
                println!("| {protocol} | {name} | `{shown}` |");
            }
        }
        let listed = server.send_as(who, "GET", "/api/conversations", Value::Null).await;
        assert_eq!(listed.json(), json!([]), "{who}");
    }
    // Nothing of it was changed, and ada can still decide.
    let after =
        server.send_as("ada", "GET", "/api/conversations/adas-secret/export", Value::Null).await;
    assert_eq!(after.text(), before.text());
    assert!(paid.lock().unwrap().is_empty());
    let listed = server.send_as("ada", "GET", "/api/conversations", Value::Null).await;
    let mut ids: Vec<String> = listed
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    assert_eq!(ids, ["/help/adas-secret", "adas-secret"]);
    for (base, asked) in ["/api/conversations/adas-secret", "/help/adas-secret"].iter().zip(&asked)
    {
        let approve = decision(asked, json!({ "verdict": "approve" }));
        let decided = server.send_as("ada", "POST", &format!("{base}/decide"), approve).await;
        assert_eq!(decided.status, 202, "{decided:?}");
        let seq = decided.json()["seq"].as_u64().unwrap();
        let events = server.events_as("ada", base, seq).await.collect_turn().await;
        assert_eq!(joined_text(&events), "It is done.");
    }
    assert_eq!(*paid.lock().unwrap(), [100, 100]);
    // What another begins under the same id is a conversation of its own.
    let mine =
        server.send_as("bob", "GET", "/api/conversations/adas-secret/export", Value::Null).await;
    assert_eq!(mine.status, 404);
}

#[tokio::test]
async fn an_mcp_task_of_another_subject_does_not_exist() {
    let server = ServerBuilder::new(invoker(work::tool()), FnModel::echo());
    let server = serve(server.configure_auth(|guard| guard.oauth(oauth()))).await;
    let begun = mcp(&server, "ada", "tools/call", json!({ "name": "work" })).await;
    let begun = begun.json();
    let task = begun["result"]["taskId"].as_str().unwrap();
    for who in ["bob", "eve"] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let tried = mcp(&server, who, method, json!({ "taskId": task })).await;
            let unknown = mcp(&server, who, method, json!({ "taskId": "never" })).await;
            let tried = tried.text().replace(task, "ID");
            assert_eq!(tried, unknown.text().replace("never", "ID"), "{who} {method}");
            println!("| MCP | {method} | `{tried}` |");
        }
    }
    let own = mcp(&server, "ada", "tasks/get", json!({ "taskId": task })).await;
    assert_eq!(own.json()["result"]["status"], "working");
}

#[tokio::test]
async fn two_subjects_may_use_the_same_id_for_conversations_of_their_own() {
    let server = ServerBuilder::new(invoker(Vec::<Tool>::new()), FnModel::echo());
    let server = serve(server.configure_auth(|guard| guard.oauth(oauth()))).await;
    let path = "/api/conversations/notes";
    server.turn_as("ada", path, "From Ada.").await;
    server.turn_as("bob", path, "From Bob.").await;
    for (who, text) in [("ada", "From Ada."), ("bob", "From Bob.")] {
        let shown = server.send_as(who, "GET", path, Value::Null).await.json();
        assert_eq!(shown["id"], "notes");
        assert_eq!(shown["entries"][0]["what"]["user"]["content"][0]["text"], text);
        assert_eq!(shown["entries"].as_array().unwrap().len(), 3);
    }
    let gone = server.send_as("bob", "DELETE", path, Value::Null).await;
    assert_eq!(gone.status, 204);
    let kept = server.send_as("ada", "GET", path, Value::Null).await;
    assert_eq!(kept.json()["entries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_operator_keeps_conversations_from_before_there_were_subjects() {
    let store = Arc::<MemoryStore>::default();
    let server = |model| {
        ServerBuilder::new(invoker(Vec::<Tool>::new()), model)
            .store(Arc::clone(&store) as Arc<dyn Store>, "memory")
            .node_name("one")
    };
    let before = serve(server(FnModel::echo())).await;
    before.post_and_collect("/api/conversations/old", "From before.").await;
    before.end().await;
    let with_subjects =
        serve(server(FnModel::echo()).configure_auth(|guard| guard.oauth(oauth()))).await;
    let path = "/api/conversations/old";
    let seen = with_subjects.send_as("ada", "GET", path, Value::Null).await.json();
    assert_eq!(seen["entries"], json!([]));
    with_subjects.turn_as("ada", path, "From Ada.").await;
    with_subjects.end().await;
    // A shared token has no subject: it is the operator's.
    let locked = server(FnModel::echo()).token(Secret::new(token("everybody")));
    let locked = serve(locked).await;
    let seen = locked.send_as("everybody", "GET", path, Value::Null).await.json();
    assert_eq!(seen["entries"][0]["what"]["user"]["content"][0]["text"], "From before.");
    let listed = locked.send_as("everybody", "GET", "/api/conversations", Value::Null).await.json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    // Nor does an id reach what belongs to a subject.
    for path in ["@ada%2Fold", "@ada%2fold"] {
        let path = format!("/api/conversations/{path}");
        let seen = locked.send_as("everybody", "GET", &path, Value::Null).await;
        assert_eq!(seen.status, 404, "{seen:?}");
    }
}

#[tokio::test]
async fn a_subject_named_operator_is_not_the_operator() {
    let store = Arc::<MemoryStore>::default();
    let server = |server: ServerBuilder| {
        server.store(Arc::clone(&store) as Arc<dyn Store>, "memory").node_name("one")
    };
    let model = || ServerBuilder::new(invoker(Vec::<Tool>::new()), FnModel::echo());
    let before = serve(server(model())).await;
    before.post_and_collect("/api/conversations/old", "From before.").await;
    before.end().await;
    let claims = Claims::new("operator", [HERE]);
    let table = StaticTokens::new().token(&Secret::new(token("operator")), claims);
    let guarded = server(model()).configure_auth(|guard| guard.oauth(resource_server(table)));
    let guarded = serve(guarded).await;
    let seen = guarded.send_as("operator", "GET", "/api/conversations/old", Value::Null).await;
    assert_eq!(seen.json()["entries"], json!([]));
    let listed = guarded.send_as("operator", "GET", "/api/conversations", Value::Null).await;
    assert_eq!(listed.json(), json!([]));
}

#[tokio::test]
async fn in_a_room_only_the_subject_that_was_asked_may_decide() {
    let paid = Payments::default();
    let server = ServerBuilder::new(invoker(payment_tool(&paid)), paying_model())
        .endpoint(Endpoint::new("/room/{name}").memory(true).broadcast(true).open_to_all())
        .configure_auth(|guard| guard.oauth(oauth()));
    let server = serve(server).await;
    let path = "/room/till";
    let events = server.turn_as("ada", path, "Pay Bob.").await;
    let asked = find_event(&events, "asked").clone();
    let shown = server.send_as("bob", "GET", path, Value::Null).await.json();
    assert_eq!(shown["pending"][0]["call"]["id"], asked["call"]["id"]);
    for verdict in [
        json!({ "verdict": "approve" }),
        json!({ "verdict": "edit", "arguments": { "euros": 1 } }),
        json!({ "verdict": "deny" }),
        json!({ "verdict": "answer", "answer": "forged" }),
    ] {
        let tried = server
            .send_as("bob", "POST", &format!("{path}/decide"), decision(&asked, verdict.clone()))
            .await;
        assert_eq!(tried.status, 403, "{verdict}: {tried:?}");
    }
    // The question is still open, with the same token.
    let approve = decision(&asked, json!({ "verdict": "approve" }));
    let decided = server.send_as("ada", "POST", &format!("{path}/decide"), approve).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    let seq = decided.json()["seq"].as_u64().unwrap();
    let events = server.events_as("ada", path, seq).await.collect_turn().await;
    assert_eq!(joined_text(&events), "It is done.");
    assert_eq!(*paid.lock().unwrap(), [100]);
}

/// A server on a store that outlives it. Ada's scope opens `look` only, Bob's opens everything.
fn scoped(store: &Arc<MemoryStore>, model: impl Model, ada: Claims) -> ServerBuilder {
    let tool = |name: &str, read_only| {
        let tool = Tool::builder(name, "Does something.").read_only(read_only);
        tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
    };
    let bob = Claims::new("bob", [HERE]).scopes(["all"]);
    let table = StaticTokens::new()
        .token(&Secret::new(token("ada")), ada)
        .token(&Secret::new(token("bob")), bob);
    let oauth = resource_server(table)
        .clock_skew(Duration::ZERO)
        .scope("look", ScopeRule::read_only())
        .scope("all", ScopeRule::all());
    ServerBuilder::new(invoker(vec![tool("look", true), tool("pay", false)]), model)
        .endpoint(Endpoint::new("/room/{name}").memory(true).broadcast(true).open_to_all())
        .store(Arc::clone(store) as Arc<dyn Store>, "memory")
        .node_name("one")
        .limits(|limits| limits.shutdown_grace = Duration::ZERO)
        .configure_auth(|guard| guard.oauth(oauth))
}

/// A model that answers with the names of the tools it is offered.
pub(crate) fn names_tools() -> FnModel {
    FnModel::new(|request| {
        let names = request.tools.iter().map(|tool| tool.spec().name.to_string());
        names.collect::<Vec<_>>().join(" ")
    })
}

const ROOM: &str = "/room/lobby";

/// Has Ada begin a turn that the end of the server interrupts.
async fn interrupt(store: &Arc<MemoryStore>, ada: Claims) {
    let (model, strings) = ManualModel::new();
    let server = serve(scoped(store, model, ada)).await;
    let message = json!({ "text": "Go." });
    let accepted = server.send_as("ada", "POST", &format!("{ROOM}/prompt"), message).await;
    let seq = accepted.json()["seq"].as_u64().unwrap();
    strings.send("Half".to_owned()).unwrap();
    server.events_as("ada", ROOM, seq).await.read_until("text").await;
    server.end().await;
}

fn ada() -> Claims {
    Claims::new("ada", [HERE]).scopes(["look"])
}

#[tokio::test]
async fn an_interrupted_turn_resumes_with_the_rights_of_the_subject_that_began_it() {
    let store = Arc::<MemoryStore>::default();
    interrupt(&store, ada()).await;
    let server = serve(scoped(&store, names_tools(), ada())).await;
    assert_eq!(stored_answer(&*store, ROOM).await, "look");
    // What the journal records of a principal is not for the others in the room.
    let shown = server.send_as("bob", "GET", ROOM, Value::Null).await;
    assert!(!shown.text().contains("scopes"), "{shown:?}");
    let exported = server.send_as("bob", "GET", &format!("{ROOM}/export"), Value::Null).await;
    assert!(!exported.text().contains("scopes"), "{exported:?}");
}

#[tokio::test]
async fn an_interrupted_turn_whose_credential_has_expired_waits_for_its_subject() {
    let store = Arc::<MemoryStore>::default();
    let mut expired = PrincipalRecord::new("ada");
    (expired.scopes, expired.expires) = (vec!["look".to_owned()], Some(1));
    let content = vec![Content::text("Go.")];
    let message = Entry::new("1", 1, EntryBody::User { content }).with_principal(Some(expired));
    let lease = store.acquire(ROOM, "one", Duration::from_secs(60)).await.unwrap().unwrap();
    store.append(&lease, Append::new(&[message])).await.unwrap();
    let server = serve(scoped(&store, names_tools(), ada())).await;
    for _ in 0..3 {
        let shown = server.send_as("bob", "GET", ROOM, Value::Null).await.json();
        assert_eq!(shown["running"], false);
        assert_eq!(shown["entries"].as_array().unwrap().len(), 1);
    }
    let request = server.request_as("ada", "GET", &format!("{ROOM}/events"));
    let mut events = SseEvents::new(server.open(request, "").await);
    assert_eq!(joined_text(&events.collect_turn().await), "look");
}

#[tokio::test]
async fn an_interrupted_turn_resumes_within_the_rules_of_today() {
    let store = Arc::<MemoryStore>::default();
    interrupt(&store, ada()).await;
    // Today no scope opens anything but to Bob.
    let tool = Tool::builder("look", "Looks.").read_only(true);
    let tool = tool.run(|_, _| Ok::<_, ToolError>("seen")).unwrap();
    let bob = Claims::new("bob", [HERE]).scopes(["all"]);
    let table = StaticTokens::new().token(&Secret::new(token("bob")), bob);
    let oauth = resource_server(table).scope("all", ScopeRule::all());
    let model = FnModel::new(|request| format!("{} tools", request.tools.len()));
    let server = ServerBuilder::new(invoker(tool), model)
        .endpoint(Endpoint::new("/room/{name}").memory(true).broadcast(true).open_to_all())
        .store(Arc::clone(&store) as Arc<dyn Store>, "memory")
        .node_name("one")
        .configure_auth(|guard| guard.oauth(oauth));
    let _server = serve(server).await;
    assert_eq!(stored_answer(&*store, ROOM).await, "0 tools");
}

#[tokio::test]
async fn a_completion_over_the_openai_api_is_in_no_list_of_conversations() {
    let server = ServerBuilder::new(invoker(Vec::<Tool>::new()), FnModel::echo());
    let server = serve(server.configure_auth(|guard| guard.oauth(oauth()))).await;
    let request =
        json!({ "model": "function", "messages": [{ "role": "user", "content": "A secret." }] });
    let completed = server.send_as("ada", "POST", "/v1/chat/completions", request).await;
    assert_eq!(completed.status, 200, "{completed:?}");
    let id = completed.json()["id"].as_str().unwrap().to_owned();
    for who in ["ada", "bob", "eve"] {
        let path = format!("/api/conversations/{id}");
        let shown = server.send_as(who, "GET", &path, Value::Null).await;
        assert_eq!(shown.json()["entries"], json!([]), "{who}");
        println!("| OpenAI | GET /api/conversations/ID of a completion, {who} | no entries |");
        let listed = server.send_as(who, "GET", "/api/conversations", Value::Null).await;
        assert_eq!(listed.json(), json!([]), "{who}");
    }
}
