//! Who may enter a room: where people can be told apart, nobody but those whom its endpoint lets in, over every protocol.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use test_support::openid_provider::{OpenIdServer, person};
use toolwright::auth::{Claims, Identity, Principal, SignIn, StaticTokens};
use toolwright::chat::{
    EntryBody, InboxBody, InboxItem, MemoryStore, MessagePart, Model, PrincipalRecord, Store,
    TurnEnd,
};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright::{BoxFuture, Content, Invoker, Registry, Role, Secret, State, Tool, ToolError};
use toolwright_server::{Endpoint, Path, ServerBuilder};

use crate::approvals::{Payments, payment_tool};
use crate::owners::{HERE, decision, resource_server, token};
use crate::rooms::Socket;
use crate::sharing::{people, with_people};
use crate::sign_in::{Browser, builder as sign_in_builder, provider};
use crate::support::{
    ManualModel, SseEvents, TestServer, event_type, find_event, invoker, joined_text, no_tools,
    serve, serve_built, within_timeout,
};

const ADAS: &str = "/support/ada";

fn support() -> Endpoint {
    Endpoint::new("/support/{customer}").memory(true).broadcast(true)
}

/// A server on which Ada, Bob, Eve, Root, who is an admin, and Max can be told apart.
fn server(endpoint: Endpoint, model: impl Model) -> ServerBuilder {
    with_people(ServerBuilder::new(no_tools(), model).endpoint(endpoint), &people())
}

fn kept(server: ServerBuilder, store: &Arc<MemoryStore>) -> ServerBuilder {
    server.store(Arc::clone(store) as Arc<dyn Store>, "memory").node_name("one")
}

/// Asks with a token, and returns the status and what the response shows.
async fn ask(
    server: &TestServer,
    who: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> (u16, String) {
    let request = server.request_as(who, method, path);
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = server.open(request, &body).await;
    let status = response.status().as_u16();
    let kind = response.headers().get("content-type");
    if kind.is_some_and(|kind| kind == "text/event-stream") {
        let first = within_timeout(SseEvents::new(response).next_data()).await;
        return (status, first.unwrap_or_default());
    }
    let body = within_timeout(http_body_util::BodyExt::collect(response.into_body())).await;
    (status, String::from_utf8(body.unwrap().to_bytes().to_vec()).unwrap())
}

async fn status(server: &TestServer, who: &str, path: &str) -> u16 {
    ask(server, who, "GET", path, &Value::Null).await.0
}

async fn say(server: &TestServer, who: &str, path: &str, text: &str) -> u16 {
    let body = json!({ "text": text });
    ask(server, who, "POST", &format!("{path}/prompt"), &body).await.0
}

/// Upgrades to a WebSocket, sends a frame, and returns what comes back: the status if the upgrade is refused, else frames up to
/// an error or the first event.
async fn ask_by_socket(server: &TestServer, who: &str, path: &str, frame: Value) -> (u16, String) {
    let upgrade = server
        .request_as(who, "GET", path)
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
    let response = server.open(upgrade, "").await;
    if response.status() != 101 {
        return (response.status().as_u16(), String::new());
    }
    drop(response);
    let mut socket = Socket::open_as(server, path, &token(who)).await;
    socket.send(frame).await;
    let mut answers = String::new();
    while let Some(answer) = socket.next().await {
        answers.push_str(&answer.to_string());
        if answer["type"] == "error" {
            return (404, answers);
        }
        if answer["type"] == "chunk" || event_type(&answer["event"]) == "snapshot" {
            return (101, answers);
        }
    }
    (101, answers)
}

/// The requests that reach Ada's room, and the path of each as the server lists it.
fn requests(asked: &Value) -> Vec<(&'static str, String, Value)> {
    let id = "%2Fsupport%2Fada";
    let approve = decision(asked, json!({ "verdict": "approve" }));
    let text = |text: &str| json!({ "text": text });
    let part = json!({
        "type": "tool-pay", "toolCallId": asked["call"]["id"], "state": "approval-responded",
        "approval": { "id": asked["call"]["id"], "approved": true, "signature": asked["token"].to_string() },
    });
    let decided = |id: &str| json!({ "id": id, "messages": [{ "id": "m", "role": "assistant", "parts": [part] }] });
    let said = |id: &str| {
        let part = json!({ "type": "text", "text": "Hi" });
        json!({ "id": id, "messages": [{ "id": "m", "role": "user", "parts": [part] }] })
    };
    let run = |messages: Value| json!({ "threadId": ADAS, "runId": "r", "messages": messages, "tools": [], "context": [] });
    let mut all = Vec::new();
    for base in [ADAS.to_owned(), format!("/api/conversations/{id}")] {
        for (method, rest, body) in [
            ("GET", "", Value::Null),
            ("GET", "?at=0", Value::Null),
            ("GET", "/events", Value::Null),
            ("GET", "/events?after=0&peer=p", Value::Null),
            ("GET", "/export", Value::Null),
            ("GET", "/stream", Value::Null),
            ("GET", "/shares", Value::Null),
            ("POST", "/shares", json!({ "access": "participate" })),
            ("DELETE", "/shares/1", Value::Null),
            ("PATCH", "", json!({ "title": "Mine" })),
            ("POST", "/prompt", text("Hi")),
            ("POST", "/decide", approve.clone()),
            ("POST", "/chat", decided(ADAS)),
            ("POST", "/chat", said(ADAS)),
            ("DELETE", "/queue/1", Value::Null),
            ("POST", "/stop", Value::Null),
            ("DELETE", "", Value::Null),
        ] {
            all.push((method, format!("{base}{rest}"), body));
        }
    }
    all.extend([
        ("POST", "/api/chat".to_owned(), said(ADAS)),
        ("POST", "/api/chat".to_owned(), decided(ADAS)),
        ("GET", format!("/api/chat/{id}/stream"), Value::Null),
        ("POST", format!("/api/chat/{id}/stop"), Value::Null),
        ("POST", "/agui".to_owned(), run(json!([]))),
        ("POST", "/agui".to_owned(), run(json!([{ "id": "1", "role": "user", "content": "Hi" }]))),
        // What only admins may name.
        ("GET", format!("/api/conversations/@%2F{id}"), Value::Null),
        ("GET", format!("/api/conversations/@ada%2F{id}"), Value::Null),
    ]);
    all
}

/// The WebSockets that reach Ada's room, with a first frame.
fn sockets() -> Vec<(String, Value)> {
    let said = |id: &str| {
        let part = json!({ "type": "text", "text": "Hi" });
        let messages = json!([{ "id": "m", "role": "user", "parts": [part] }]);
        json!({ "type": "send", "requestId": "1", "id": id, "messages": messages })
    };
    let resume = json!({ "type": "resume", "requestId": "1", "id": ADAS });
    let prompt = json!({ "type": "prompt", "text": "Hi" });
    vec![
        (ADAS.to_owned(), prompt.clone()),
        ("/api/conversations/%2Fsupport%2Fada".to_owned(), prompt),
        (format!("{ADAS}/chat"), said(ADAS)),
        (format!("{ADAS}/chat"), resume.clone()),
        ("/api/chat".to_owned(), said(ADAS)),
        ("/api/chat".to_owned(), resume),
    ]
}

#[tokio::test]
async fn nobody_but_the_person_whom_the_path_names_enters_over_any_protocol() {
    let (store, paid) = (Arc::<MemoryStore>::default(), Payments::default());
    let model = ScriptedModel::new().calls("pay", r#"{"euros": 100}"#).replies("Done.");
    let built = ServerBuilder::new(invoker(payment_tool(&paid)), model)
        .endpoint(support().for_subject("customer"));
    let built = with_people(kept(built, &store), &people()).mount_all().build().unwrap();
    let routes: Vec<String> = built.paths().to_vec();
    let server = serve_built(built).await;
    let events = server.turn_as("ada", ADAS, "Pay the ransom.").await;
    assert_eq!(event_type(events.last().unwrap()), "paused");
    let asked = find_event(&events, "asked").clone();
    let journal = async || serde_json::to_value(store.load(ADAS).await.unwrap()).unwrap();
    let before = journal().await;

    // No route of the endpoint is forgotten here.
    let tried: BTreeSet<String> = requests(&asked).into_iter().map(|(_, path, _)| path).collect();
    let templates = routes.iter().filter(|path| path.starts_with("/support/"));
    for path in templates {
        let path = path.replace("{customer}", "ada").replace("{queue-position}", "1");
        let path = path.replace("{share-id}", "1");
        assert!(tried.contains(&path), "{path}");
    }
    for who in ["bob", "max"] {
        for (method, path, body) in requests(&asked) {
            let (status, text) = ask(&server, who, method, &path, &body).await;
            assert_eq!(status, 404, "{who}: {method} {path}: {text}");
            assert!(!text.contains("ransom") && !text.contains("pay"), "{path}: {text}");
        }
        for (path, frame) in sockets() {
            let (status, text) = ask_by_socket(&server, who, &path, frame).await;
            assert_eq!(status, 404, "{who}: socket of {path}: {text}");
            assert!(!text.contains("ransom"), "{path}: {text}");
        }
        let listed = server.send_as(who, "GET", "/api/conversations", Value::Null).await;
        assert_eq!(listed.json(), json!([]), "{who}");
        assert_eq!(status_of_approvals(&server, who).await, json!([]), "{who}");
        // A completion has no history but its own.
        let message = json!([{ "role": "user", "content": ADAS }]);
        let request = json!({ "model": "script", "messages": message, "user": ADAS });
        let (_, text) = ask(&server, who, "POST", "/v1/chat/completions", &request).await;
        assert!(!text.contains("ransom"), "{text}");
        // Over MCP there are tools, and no conversations.
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
        let (_, text) = ask(&server, who, "POST", "/mcp", &list).await;
        assert!(!text.contains("support"), "{text}");
    }
    assert_eq!(journal().await, before);
    assert!(store.inbox(ADAS).await.unwrap().is_empty());
    assert!(paid.lock().unwrap().is_empty());

    // Ada enters over each of them: what was refused above was not malformed.
    for (path, _) in sockets().into_iter().filter(|(path, _)| !path.ends_with("/chat")) {
        let mut socket = Socket::open_as(&server, &path, &token("ada")).await;
        socket.until("snapshot").await;
    }
    for (method, path, body) in requests(&asked) {
        let names_nothing = ["/queue/1", "/shares/1", "?at=0"].iter().any(|it| path.ends_with(it));
        if names_nothing || path.contains('@') {
            continue;
        }
        let (status, text) = ask(&server, "ada", method, &path, &body).await;
        let is_gone = method == "DELETE" || path.ends_with("/export");
        assert!(status != 404 || is_gone, "{method} {path}: {text}");
    }
}

async fn status_of_approvals(server: &TestServer, who: &str) -> Value {
    server.send_as(who, "GET", "/api/approvals", Value::Null).await.json()
}

fn build_error(server: ServerBuilder) -> String {
    server.mount_all().build().err().map(|error| error.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn a_server_on_which_people_can_be_told_apart_does_not_start_before_a_room_says_who_may_enter()
 {
    let error = build_error(server(support(), FnModel::echo()));
    assert_eq!(
        error,
        "endpoint `/support/{customer}`: people can be told apart, and its path has parameters: say who may enter, with \
         `.for_subject(\"customer\")` for the person whom `customer` names, `.allow_if(|caller: Principal, path: Path<…>| …)` \
         for a function that decides, or `.open_to_all()` for everyone"
    );
    for endpoint in [
        support().for_subject("customer"),
        support().for_claim("customer", "number"),
        support().allow_if(async || true),
        support().open_to_all(),
        Endpoint::new("/support").memory(true),
    ] {
        assert_eq!(build_error(server(endpoint, FnModel::echo())), "");
    }
    let with = |change: fn(ServerBuilder) -> ServerBuilder| {
        build_error(change(ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(support())))
    };
    // Each kind of credential that names people.
    let oauth = with(|server| {
        server.configure_auth(|auth| auth.oauth(resource_server(StaticTokens::new())))
    });
    let named = with(|server| {
        server.configure_auth(|auth| {
            auth.token(Secret::new("a-token-of-everyone"))
                .token_for("ada", Secret::new(token("ada")))
        })
    });
    for error in [oauth, named] {
        assert!(error.contains("say who may enter"), "{error}");
    }
    // Without one there is only the operator.
    assert_eq!(with(|server| server), "");
    assert_eq!(with(|server| server.token(Secret::new("a-token-of-everyone"))), "");
}

#[tokio::test]
async fn a_rule_that_does_not_fit_the_path_is_an_error_when_the_server_is_built() {
    struct Teams;
    let error = |endpoint: Endpoint| {
        build_error(ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint))
    };
    for (endpoint, reason) in [
        (
            support().for_subject("custommer"),
            "no parameter `custommer` that says who may enter; did you mean `customer`?",
        ),
        (
            support().for_claim("team", "teams"),
            "no parameter `team` that says who may enter; it has `customer`",
        ),
        (
            support().for_subject("customer").open_to_all(),
            "`.open_to_all()` contradicts its other rules",
        ),
        (Endpoint::new("/help").for_subject("id"), "its path has no parameters"),
        (Endpoint::new("/help").open_to_all(), "its path has no parameters"),
        (
            support().allow_if(|_: Path<(String, String)>| async { true }),
            "it wants 2 values, and the path has 1",
        ),
        (
            support().allow_if(|_: State<Teams>| async { true }),
            "needs state of type `main::room_access::",
        ),
    ] {
        let error = error(endpoint);
        assert!(error.contains(reason), "{error}");
    }
}

#[tokio::test]
async fn every_parameter_that_a_rule_names_has_to_fit_and_the_others_are_free() {
    let endpoint = Endpoint::new("/desk/{team}/{customer}/{topic}")
        .memory(true)
        .for_subject("customer")
        .allow_if(
            |Path((team, ..)): Path<(String, String, String)>| async move { team != "closed" },
        );
    let server = serve(server(endpoint, FnModel::echo())).await;
    for (path, entered) in [
        ("/desk/north/ada/bills", 200),
        ("/desk/south/ada/else", 200),
        ("/desk/north/bob/bills", 404),
        ("/desk/ada/bob/ada", 404),
        ("/desk/closed/ada/bills", 404),
        // Encoded or not, a value is the same.
        ("/desk/north/%61da/bills", 200),
        ("/desk/north/Ada/bills", 404),
        ("/desk/north/ada%00/bills", 400),
        ("/desk/north/ada%20/bills", 404),
    ] {
        assert_eq!(status(&server, "ada", path).await, entered, "{path}");
    }
}

#[tokio::test]
async fn a_claim_lets_in_everyone_who_has_its_value() {
    let people = |name: &str| {
        let identity = Identity::new(name);
        match name {
            "ada" => identity.claim("team", "north").claim("team", "south"),
            "bob" => identity.claim("team", "south").claim("other", "north"),
            _ => identity,
        }
    };
    let server = ServerBuilder::new(no_tools(), FnModel::echo())
        .endpoint(Endpoint::new("/team/{team}").memory(true).for_claim("team", "team"))
        .login(move |head| {
            let bearer = head.headers.get("authorization").and_then(|it| it.to_str().ok());
            let name = bearer.and_then(|bearer| bearer.strip_prefix("Bearer the-long-token-of-"));
            std::future::ready(Ok(name.map(people)))
        });
    let server = serve(server).await;
    for (who, path, entered) in [
        ("ada", "/team/north", 200),
        ("ada", "/team/south", 200),
        ("bob", "/team/north", 404),
        ("bob", "/team/south", 200),
        ("eve", "/team/south", 404),
        // A subject is no claim.
        ("eve", "/team/eve", 404),
    ] {
        assert_eq!(status(&server, who, path).await, entered, "{who} {path}");
    }
    server.turn_as("ada", "/team/south", "From Ada.").await;
    let shown = server.send_as("bob", "GET", "/team/south", Value::Null).await;
    assert!(shown.text().contains("From Ada."), "{shown:?}");
    // What the journal records of a person is not for the others in the room.
    assert!(!shown.text().contains("north"), "{shown:?}");
}

#[tokio::test]
async fn a_claim_of_a_token_or_of_a_provider_counts_too() {
    let tokens = StaticTokens::new()
        .token(&Secret::new(token("ada")), Claims::new("ada", [HERE]).claim("customer", "7"))
        .token(&Secret::new(token("bob")), Claims::new("bob", [HERE]));
    let endpoint = || support().for_claim("customer", "customer");
    let by_token = ServerBuilder::new(no_tools(), FnModel::echo())
        .endpoint(endpoint())
        .configure_auth(|auth| auth.oauth(resource_server(tokens)));
    let by_token = serve(by_token).await;
    assert_eq!(status(&by_token, "ada", "/support/7").await, 200);
    assert_eq!(status(&by_token, "ada", ADAS).await, 404);
    assert_eq!(status(&by_token, "bob", "/support/7").await, 404);

    let corp = OpenIdServer::start().await;
    let signed_in = sign_in_builder(SignIn::new().provider(provider("corp", &corp)));
    let signed_in = serve(signed_in.endpoint(endpoint())).await;
    let mut enter = person("1", "Ada", &["staff"]);
    enter["customer"] = json!(7);
    corp.behaviour().person = enter;
    let (mut ada, mut bob) = (Browser::new(&signed_in), Browser::new(&signed_in));
    ada.sign_in("corp", &corp).await;
    corp.behaviour().person = person("2", "Bob", &["staff"]);
    bob.sign_in("corp", &corp).await;
    assert_eq!(ada.get("/support/7").await.status, 200);
    assert_eq!(ada.get("/support/8").await.status, 404);
    assert_eq!(bob.get("/support/7").await.status, 404);
}

/// The people whom a function lets in, in the state of the program.
#[derive(Clone, Default)]
struct Members {
    names: Arc<Mutex<BTreeSet<&'static str>>>,
    is_down: Arc<AtomicBool>,
    questions: Arc<AtomicUsize>,
}

impl Members {
    fn of(names: &[&'static str]) -> Self {
        Self { names: Arc::new(Mutex::new(names.iter().copied().collect())), ..Self::default() }
    }

    fn remove(&self, name: &str) {
        self.names.lock().unwrap().remove(name);
    }

    fn contains(&self, name: Option<&str>) -> Result<bool, &'static str> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        match self.is_down.load(Ordering::Relaxed) {
            true => Err("the table of members cannot be read"),
            false => Ok(name.is_some_and(|name| self.names.lock().unwrap().contains(name))),
        }
    }
}

/// A server whose rooms are for the members, who are state of the program.
fn club(members: &Members, model: impl Model, tools: Vec<Tool>) -> ServerBuilder {
    let registry = Registry::of(tools).unwrap();
    let invoker = Invoker::builder(&registry).state(members.clone()).build().unwrap();
    let endpoint = Endpoint::new("/club/{room}").memory(true).broadcast(true).allow_if(
        |caller: Principal, Path(room): Path<String>, members: State<Members>| async move {
            assert_ne!(room, "cursed", "a mistake in the function");
            members.contains(caller.subject())
        },
    );
    let server = ServerBuilder::new(invoker, model).endpoint(endpoint);
    let server = server.limits(|limits| limits.shutdown_grace = Duration::ZERO);
    with_people(server, &people())
}

const LOBBY: &str = "/club/lobby";

#[tokio::test]
async fn a_function_with_the_state_of_the_program_decides_and_its_failure_lets_nobody_in() {
    let members = Members::of(&["ada"]);
    let server = serve(club(&members, FnModel::echo(), Vec::new())).await;
    assert_eq!(status(&server, "ada", LOBBY).await, 200);
    assert_eq!(status(&server, "bob", LOBBY).await, 404);
    members.is_down.store(true, Ordering::Relaxed);
    for path in [LOBBY, "/club/cursed"] {
        let (status, text) = ask(&server, "ada", "GET", path, &Value::Null).await;
        assert_eq!(status, 503, "{text}");
        // The reason is for the log.
        assert!(text.contains("cannot be decided now") && !text.contains("table"), "{text}");
    }
}

#[tokio::test]
async fn open_connections_end_when_the_function_does_not_allow_them_any_more() {
    let members = Members::of(&["ada", "bob"]);
    let server = club(&members, FnModel::echo(), Vec::new());
    let heartbeat = Duration::from_millis(50);
    let server = serve(server.limits(|limits| limits.heartbeat_interval = heartbeat)).await;
    let mut events = server.events_as("bob", LOBBY, 0).await;
    let mut socket = Socket::open_as(&server, LOBBY, &token("bob")).await;
    let mut frames = Socket::open_as(&server, LOBBY, &token("bob")).await;
    socket.until("snapshot").await;
    frames.until("snapshot").await;
    // While it cannot be decided, nothing ends, and nothing is accepted.
    members.is_down.store(true, Ordering::Relaxed);
    let asked = members.questions.load(Ordering::Relaxed);
    within_timeout(async {
        while members.questions.load(Ordering::Relaxed) < asked + 6 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    members.is_down.store(false, Ordering::Relaxed);
    server.turn_as("ada", LOBBY, "Still here?").await;
    events.read_until("ended").await;
    socket.until("ended").await;
    members.remove("bob");
    frames.send(json!({ "type": "prompt", "text": "Let me in." })).await;
    // Comments arrive until then, so that no single wait is long.
    within_timeout(async { while events.next_data().await.is_some() {} }).await;
    within_timeout(async { while socket.next().await.is_some() {} }).await;
    while let Some(frame) = frames.next().await {
        // The message before it may be among the frames.
        assert!(!frame.to_string().contains("Let me in."), "{frame}");
    }
    let shown = server.send_as("ada", "GET", LOBBY, Value::Null).await;
    assert!(!shown.text().contains("Let me in."), "{shown:?}");
}

#[tokio::test]
async fn a_message_that_has_waited_is_not_answered_for_a_person_who_may_not_enter_any_more() {
    let members = Members::of(&["ada", "bob"]);
    let (model, strings) = ManualModel::new();
    let server = serve(club(&members, model, Vec::new())).await;
    let mut events = server.events_as("ada", LOBBY, 0).await;
    assert_eq!(say(&server, "ada", LOBBY, "First.").await, 202);
    strings.send("Half".to_owned()).unwrap();
    events.read_until("text").await;
    assert_eq!(say(&server, "bob", LOBBY, "Second.").await, 202);
    members.remove("bob");
    strings.send(String::new()).unwrap();
    events.read_until("ended").await;
    let error = events.read_until("error").await;
    assert_eq!(error["event"]["kind"], "forbidden", "{error}");
    // The next one is, so the model was not asked in between.
    assert_eq!(say(&server, "ada", LOBBY, "Third.").await, 202);
    strings.send("Yes.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    assert_eq!(joined_text(&events.collect_turn().await), "Yes.");
}

#[tokio::test]
async fn a_stored_message_of_a_person_who_may_not_enter_is_not_answered() {
    let store = Arc::<MemoryStore>::default();
    let parts = vec![MessagePart { role: Role::User, content: vec![Content::text("Secrets?")] }];
    let body = InboxBody::Message { parts, model: None, after: None, client_tools: Vec::new() };
    let item = InboxItem::new("1", 1, body).with_principal(Some(PrincipalRecord::new("bob")));
    store.push_inbox(ADAS, &item, 9).await.unwrap().unwrap();
    let model = FnModel::new(|_| -> String { panic!("it must not be asked") });
    let _server = serve(kept(server(support().for_subject("customer"), model), &store)).await;
    assert!(
        matches!(ended(&store, ADAS).await, TurnEnd::Failed { reason } if reason.contains("may not enter"))
    );
}

/// Waits until the last turn of a stored conversation has ended.
async fn ended(store: &MemoryStore, conversation: &str) -> TurnEnd {
    within_timeout(async {
        loop {
            let entries = store.load(conversation).await.unwrap();
            match entries.last().map(|entry| &entry.body) {
                Some(EntryBody::TurnEnded { end }) => return end.clone(),
                _ => tokio::task::yield_now().await,
            }
        }
    })
    .await
}

#[tokio::test]
async fn an_interrupted_turn_of_a_person_who_may_not_enter_any_more_ends_without_an_answer() {
    let store = Arc::<MemoryStore>::default();
    let members = Members::of(&["ada", "bob"]);
    let (model, strings) = ManualModel::new();
    let before = serve(kept(club(&members, model, Vec::new()), &store)).await;
    let mut events = before.events_as("ada", LOBBY, 0).await;
    assert_eq!(say(&before, "bob", LOBBY, "Go.").await, 202);
    strings.send("Half".to_owned()).unwrap();
    events.read_until("text").await;
    before.end().await;
    members.remove("bob");
    let model = FnModel::new(|_| -> String { panic!("it must not be asked") });
    let after = serve(kept(club(&members, model, Vec::new()), &store)).await;
    assert_eq!(ended(&store, LOBBY).await, TurnEnd::Cancelled);
    // The room is not blocked.
    assert_eq!(say(&after, "ada", LOBBY, "And I?").await, 202);
}

#[tokio::test]
async fn a_call_of_a_person_who_may_not_enter_any_more_is_not_approved_by_another() {
    let (store, paid, members) =
        (Arc::<MemoryStore>::default(), Payments::default(), Members::of(&["bob"]));
    let pay = {
        let paid = Arc::clone(&paid);
        Tool::builder("pay", "Pays.")
            .destructive(true)
            .approvers("role:manager".parse().unwrap())
            .run(move |_, _| {
                paid.lock().unwrap().push(1);
                Ok::<_, ToolError>("paid")
            })
    };
    let model = ScriptedModel::new().calls("pay", "{}").replies("Paid.");
    let server = serve(kept(club(&members, model, vec![pay.unwrap()]), &store)).await;
    let events = server.turn_as("bob", LOBBY, "Pay.").await;
    assert_eq!(event_type(events.last().unwrap()), "paused");
    // The manager, who may not enter the room, sees the call alone.
    assert_eq!(status(&server, "max", LOBBY).await, 404);
    let listed = status_of_approvals(&server, "max").await;
    let approve =
        json!({ "call": listed[0]["call"], "token": listed[0]["token"], "verdict": "approve" });
    let at = format!("/api/approvals/{}", listed[0]["id"].as_str().unwrap());
    members.remove("bob");
    let (status, text) = ask(&server, "max", "POST", &at, &approve).await;
    assert_eq!(status, 404, "{text}");
    assert!(paid.lock().unwrap().is_empty());
}

#[tokio::test]
async fn an_admin_reads_a_room_without_being_let_in_and_each_access_is_recorded() {
    let server = serve(server(support().for_subject("customer"), FnModel::echo())).await;
    server.turn_as("ada", ADAS, "My secret.").await;
    for path in
        [ADAS, "/api/conversations/%2Fsupport%2Fada", "/api/conversations/@%2F%2Fsupport%2Fada"]
    {
        let (status, text) = ask(&server, "root", "GET", path, &Value::Null).await;
        assert_eq!(status, 200, "{path}: {text}");
        assert!(text.contains("My secret.") && text.contains(r#""access":"admin""#), "{text}");
    }
    for (method, rest) in [("POST", "/stop"), ("DELETE", "")] {
        let path = format!("{ADAS}{rest}");
        assert_eq!(ask(&server, "root", method, &path, &Value::Null).await.0, 403, "{path}");
    }
    assert_eq!(say(&server, "root", ADAS, "Hi").await, 403);
    // A room that nobody has begun does not exist.
    assert_eq!(status(&server, "root", "/support/bob").await, 404);
    let audit = server.send_as("root", "GET", "/api/audit", Value::Null).await.json();
    let reads = audit.as_array().unwrap().iter().filter(|it| it["action"] == "read");
    let rooms: Vec<&Value> = reads.map(|it| &it["conversation"]).collect();
    assert_eq!(rooms, ["@//support/ada"; 3]);
}

#[tokio::test]
async fn a_room_that_was_open_to_all_is_closed_by_the_rule_and_keeps_its_entries() {
    let store = Arc::<MemoryStore>::default();
    let open = serve(kept(server(support().open_to_all(), FnModel::echo()), &store)).await;
    open.turn_as("ada", ADAS, "From Ada.").await;
    open.turn_as("bob", ADAS, "From Bob.").await;
    open.end().await;
    let closed = server(support().for_subject("customer"), FnModel::echo());
    let closed = serve(kept(closed, &store)).await;
    assert_eq!(status(&closed, "bob", ADAS).await, 404);
    let shown = closed.send_as("ada", "GET", ADAS, Value::Null).await;
    assert!(shown.text().contains("From Ada.") && shown.text().contains("From Bob."), "{shown:?}");
}

#[tokio::test]
async fn without_identities_the_operator_enters_every_room() {
    let refuse: fn() -> BoxFuture<'static, bool> = || Box::pin(async { false });
    let rooms = || {
        ServerBuilder::new(no_tools(), FnModel::echo())
            .endpoint(support().for_subject("customer"))
            .endpoint(Endpoint::new("/club/{room}").allow_if(refuse))
    };
    let anonymous = serve(rooms()).await;
    let shared = serve(rooms().token(Secret::new(token("everybody")))).await;
    for path in [ADAS, "/support/bob", LOBBY] {
        assert_eq!(anonymous.get(path).await.status, 200, "{path}");
        assert_eq!(status(&shared, "everybody", path).await, 200, "{path}");
    }
    // Beside people who can be told apart, those who have the token of the server are the operator, too.
    let beside = rooms().configure_auth(|auth| {
        let everybody = Secret::new(token("everybody"));
        auth.token(everybody).token_for("ada", Secret::new(token("ada")))
    });
    let beside = serve(beside).await;
    for (who, path, entered) in [
        ("everybody", ADAS, 200),
        ("ada", ADAS, 200),
        ("ada", "/support/bob", 404),
        ("ada", LOBBY, 404),
    ] {
        assert_eq!(status(&beside, who, path).await, entered, "{who} {path}");
    }
}
