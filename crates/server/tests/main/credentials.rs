//! A connection has the rights that its credential has now, and ends with it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use toolwright::{Invoker, Registry, Secret, Tool, ToolError};
use toolwright_mcp::{Claims, ResourceServer, ScopeRule, VerifyError};
use toolwright_server::ServerBuilder;

use crate::owners::{HERE, names_tools, token};
use crate::rooms::Socket;
use crate::support::{
    ManualModel, SseEvents, TestServer, event_type, invoker, serve, within_timeout,
};

const PATH: &str = "/api/conversations/c";

fn tool(name: &str, read_only: bool) -> Tool {
    let tool = Tool::builder(name, "Does something.").read_only(read_only);
    tool.run(|_, _| Ok::<_, ToolError>("done")).unwrap()
}

/// Has every token verified with the claims that the test sets; `None` refuses it.
fn verified_by(claims: &Arc<Mutex<Option<Claims>>>) -> ResourceServer {
    let claims = Arc::clone(claims);
    let verifier = move |_: Secret| {
        let claims = claims.lock().unwrap().clone();
        async move { claims.ok_or_else(|| VerifyError::invalid_token("the token was revoked")) }
    };
    ResourceServer::new(HERE, verifier)
        .authorization_server("https://login.example")
        .clock_skew(Duration::ZERO)
        .scope("look", ScopeRule::read_only())
        .scope("all", ScopeRule::all())
}

fn ada() -> Claims {
    Claims::new("ada", [HERE]).scopes(["look"])
}

async fn serve_with(invoker: Invoker, claims: &Arc<Mutex<Option<Claims>>>) -> TestServer {
    let oauth = verified_by(claims);
    serve(ServerBuilder::new(invoker, names_tools()).configure_auth(|guard| guard.oauth(oauth)))
        .await
}

async fn answer(socket: &mut Socket) -> String {
    socket.send(json!({ "type": "prompt", "text": "Which tools?" })).await;
    let ended = socket.until("ended").await;
    let text = &ended["event"]["content"][0]["text"];
    text.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_tool_that_appears_later_is_denied_to_a_socket_whose_scopes_do_not_open_it() {
    let registry = Registry::new();
    registry.add(tool("look", true)).unwrap();
    let claims = Arc::new(Mutex::new(Some(ada())));
    let server = serve_with(Invoker::new(&registry).unwrap(), &claims).await;
    let mut socket = Socket::open_as(&server, PATH, &token("ada")).await;
    assert_eq!(answer(&mut socket).await, "look");
    registry.add(vec![tool("pay", false), tool("list", true)]).unwrap();
    assert_eq!(answer(&mut socket).await, "look list");
}

#[tokio::test]
async fn scopes_that_change_hold_from_the_next_message_on() {
    let claims = Arc::new(Mutex::new(Some(ada())));
    let tools = invoker(vec![tool("look", true), tool("pay", false)]);
    let server = serve_with(tools, &claims).await;
    let mut socket = Socket::open_as(&server, PATH, &token("ada")).await;
    assert_eq!(answer(&mut socket).await, "look");
    *claims.lock().unwrap() = Some(Claims::new("ada", [HERE]).scopes(["all"]));
    assert_eq!(answer(&mut socket).await, "look pay");
}

/// Reads until the connection ends, and returns the kinds of what came.
async fn rest(socket: &mut Socket) -> Vec<String> {
    let mut kinds = Vec::new();
    let reading = async {
        while let Some(frame) = socket.next().await {
            kinds.push(event_type(&frame).to_owned());
        }
    };
    within_timeout(reading).await;
    kinds
}

#[tokio::test]
async fn a_socket_whose_token_is_revoked_runs_nothing_more() {
    for (path, frame) in [
        (PATH, json!({ "type": "prompt", "text": "Hi" })),
        (
            "/api/chat",
            json!({ "type": "send", "requestId": "1", "id": "c",
                    "messages": [{ "role": "user", "parts": [{ "type": "text", "text": "Hi" }] }] }),
        ),
    ] {
        let claims = Arc::new(Mutex::new(Some(ada())));
        let server = serve_with(invoker(tool("look", true)), &claims).await;
        let mut socket = Socket::open_as(&server, path, &token("ada")).await;
        *claims.lock().unwrap() = None;
        socket.send(frame).await;
        rest(&mut socket).await;
        *claims.lock().unwrap() = Some(ada());
        let request = server.request_as("ada", "GET", PATH);
        let shown = server.send(request, "").await.json();
        assert_eq!(shown["entries"], json!([]), "{path}");
    }
}

#[tokio::test]
async fn a_stream_of_any_protocol_ends_when_the_token_is_revoked() {
    let messages = json!([
        { "id": "m", "role": "user", "content": "Hi", "parts": [{ "type": "text", "text": "Hi" }] },
    ]);
    for (path, body) in [
        ("/api/chat", json!({ "id": "c", "messages": messages })),
        ("/agui", json!({ "threadId": "c", "runId": "r", "messages": messages })),
        (
            "/v1/chat/completions",
            json!({ "model": "puppet", "stream": true, "messages": messages }),
        ),
    ] {
        let claims = Arc::new(Mutex::new(Some(ada())));
        // The turn does not end: the model never answers.
        let (model, _sender) = ManualModel::new();
        let server = ServerBuilder::new(invoker(tool("look", true)), model);
        let oauth = verified_by(&claims);
        let server = serve(
            server
                .configure_auth(|guard| guard.oauth(oauth))
                .limits(|limits| limits.heartbeat_interval = Duration::from_millis(10)),
        )
        .await;
        let request =
            server.request_as("ada", "POST", path).header("content-type", "application/json");
        let mut events = SseEvents::new(server.open(request, &body.to_string()).await);
        assert!(events.next().await.is_some(), "{path}");
        *claims.lock().unwrap() = None;
        within_timeout(async { while events.next_data().await.is_some() {} }).await;
    }
}

#[tokio::test]
async fn connections_end_when_the_token_expires() {
    // Long enough to open three connections, however busy the machine is.
    let expiry = SystemTime::now() + Duration::from_secs(5);
    let claims = Arc::new(Mutex::new(Some(ada().expires(expiry))));
    let server = serve_with(invoker(tool("look", true)), &claims).await;
    let mut native = Socket::open_as(&server, PATH, &token("ada")).await;
    let mut ai_sdk = Socket::open_as(&server, "/api/chat", &token("ada")).await;
    let request = server.request_as("ada", "GET", &format!("{PATH}/events"));
    let mut events = SseEvents::new(server.open(request, "").await);
    rest(&mut native).await;
    rest(&mut ai_sdk).await;
    within_timeout(async { while events.next().await.is_some() {} }).await;
    assert!(SystemTime::now() >= expiry);
}

#[tokio::test]
async fn connections_end_when_the_cookie_session_does() {
    let shared = "a-token-that-everybody-shares";
    let server = ServerBuilder::new(invoker(tool("look", true)), names_tools());
    let server = serve(server.token(Secret::new(shared))).await;
    let given = server.post("/api/session", json!({ "token": shared })).await;
    let cookie = given.header("set-cookie").split(';').next().unwrap();
    let cookie = cookie.to_owned();
    let headers = [("cookie", cookie.as_str())];
    let mut native = Socket::open_with(&server, PATH, &headers).await;
    native.until("snapshot").await;
    let mut ai_sdk = Socket::open_with(&server, "/api/chat", &headers).await;
    let request = server.request("GET", &format!("{PATH}/events")).header("cookie", &cookie);
    let mut events = SseEvents::new(server.open(request, "").await);
    assert_eq!(events.next().await.unwrap()["event"]["type"], "snapshot");
    let end = server.request("DELETE", "/api/session").header("cookie", &cookie);
    assert_eq!(server.send(end, "").await.status, 204);
    rest(&mut native).await;
    rest(&mut ai_sdk).await;
    within_timeout(async { while events.next().await.is_some() {} }).await;
}

#[tokio::test]
async fn a_verifier_that_is_away_for_a_while_ends_no_connection() {
    let away = Arc::new(Mutex::new(false));
    let verifier = {
        let away = Arc::clone(&away);
        move |_: Secret| {
            let away = *away.lock().unwrap();
            async move {
                match away {
                    true => Err(VerifyError::unavailable("it is away")),
                    false => Ok(ada()),
                }
            }
        }
    };
    let oauth = ResourceServer::new(HERE, verifier)
        .authorization_server("https://login.example")
        .scope("look", ScopeRule::read_only());
    let server = ServerBuilder::new(invoker(tool("look", true)), names_tools());
    let server = serve(server.configure_auth(|guard| guard.oauth(oauth))).await;
    let mut socket = Socket::open_as(&server, PATH, &token("ada")).await;
    assert_eq!(answer(&mut socket).await, "look");
    *away.lock().unwrap() = true;
    socket.send(json!({ "type": "prompt", "text": "Which tools?" })).await;
    let refused = socket.next().await.unwrap();
    assert_eq!(refused["error"]["kind"], "unavailable", "{refused}");
    *away.lock().unwrap() = false;
    assert_eq!(answer(&mut socket).await, "look");
}
