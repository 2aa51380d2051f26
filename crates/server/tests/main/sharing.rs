//! Conversations that their owners share by links, what admins read, and what an id of another's conversation reveals: nothing.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use toolwright::auth::Identity;
use toolwright::chat::{Owner, Store};
use toolwright::testing::FnModel;
use toolwright::{MemorySharedState, SharedState};
use toolwright_bus::InProcessBus;
use toolwright_server::{Endpoint, ServerBuilder};

use crate::owners::token;
use crate::rooms::Socket;
use crate::stores::TestStore;
use crate::support::{
    HttpResponse, ManualModel, SseEvents, TestServer, joined_text, no_tools, serve, serve_built,
    stored_answer, within_timeout,
};

/// The roles of each person.
pub(crate) type Roles = Arc<Mutex<HashMap<&'static str, Vec<&'static str>>>>;

/// Ada, Bob and Eve have no role, Root is an admin, Max a manager.
pub(crate) fn people() -> Roles {
    let roles: [(&str, Vec<&str>); 5] = [
        ("ada", vec![]),
        ("bob", vec![]),
        ("eve", vec![]),
        ("root", vec!["admin"]),
        ("max", vec!["manager"]),
    ];
    Arc::new(Mutex::new(roles.into()))
}

/// Has a server identify people by their tokens.
pub(crate) fn with_people(server: ServerBuilder, people: &Roles) -> ServerBuilder {
    let people = Arc::clone(people);
    server.login(move |head| {
        let bearer = head.headers.get("authorization").and_then(|it| it.to_str().ok());
        let people = people.lock().unwrap();
        let found = people.iter().find(|(name, _)| {
            bearer.is_some_and(|bearer| bearer == format!("Bearer {}", token(name)))
        });
        let identity = found.map(|(name, roles)| {
            let shown = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
            Identity::new(*name).display_name(shown).roles(roles.iter().copied())
        });
        std::future::ready(Ok(identity))
    })
}

fn server() -> ServerBuilder {
    ServerBuilder::new(no_tools(), FnModel::echo())
        .endpoint(Endpoint::new("/help").memory(true))
        .endpoint(Endpoint::new("/room/{name}").memory(true).broadcast(true).open_to_all())
        .limits(|limits| limits.heartbeat_interval = Duration::from_millis(50))
}

const PLANS: &str = "/api/conversations/plans";

/// Shares a conversation, and returns the share.
async fn share(server: &TestServer, who: &str, path: &str, body: Value) -> Value {
    let shared = server.send_as(who, "POST", &format!("{path}/shares"), body).await;
    assert_eq!(shared.status, 201, "{shared:?}");
    shared.json()
}

/// Accepts a link, and returns the path of the conversation.
async fn accept(server: &TestServer, who: &str, share: &Value) -> String {
    let accepted =
        server.send_as(who, "POST", "/api/shares", json!({ "token": share["token"] })).await;
    assert_eq!(accepted.status, 200, "{accepted:?}");
    format!("/api/conversations/{}", accepted.json()["id"].as_str().unwrap())
}

async fn status(server: &TestServer, who: &str, method: &str, path: &str, body: Value) -> u16 {
    server.send_as(who, method, path, body).await.status
}

/// Everything that a client sees of a response, except the date; of a stream, the beginning.
async fn observed(
    server: &TestServer,
    who: &str,
    method: &str,
    path: &str,
    body: &Value,
) -> String {
    let request = server.request_as(who, method, path);
    let response = server.open(request, &body.to_string()).await;
    let (head, mut body) = response.into_parts();
    let mut headers: Vec<String> = head
        .headers
        .iter()
        .filter(|(name, _)| *name != "date")
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    headers.sort();
    let is_stream = headers.iter().any(|header| header.contains("event-stream"));
    let text = match is_stream {
        false => {
            let bytes = within_timeout(body.collect()).await.unwrap().to_bytes();
            String::from_utf8(bytes.to_vec()).unwrap()
        }
        true => {
            let mut text = String::new();
            // The answer of AG-UI ends; the events of a conversation do not.
            while !text.contains("snapshot")
                && !text.contains("RUN_FINISHED")
                && !text.contains("RUN_ERROR")
                && let Some(frame) = within_timeout(body.frame()).await
            {
                let bytes = frame.unwrap().into_data().unwrap_or_default();
                text.push_str(std::str::from_utf8(&bytes).unwrap());
            }
            text
        }
    };
    format!("{} {headers:?} {text}", head.status)
}

/// Replaces times, random ids and peer ids.
fn normalised(text: &str, id: &str) -> String {
    let decoded = id.replace("%2F", "/");
    let text = text.replace(id, "ID").replace(&decoded, "ID");
    // Below `/help`, an id that begins with `@` is one's own, and is encoded in the name.
    let text = text.replace("adas-secret", "NAME").replace("never-begun", "NAME");
    let mut words: Vec<String> = vec![String::new()];
    for c in text.chars() {
        match c.is_ascii_alphanumeric() {
            true => words.last_mut().unwrap().push(c),
            false => words.extend([c.to_string(), String::new()]),
        }
    }
    let is_drawn = |word: &str| word.len() >= 10 && word.chars().any(|c| c.is_ascii_digit());
    words.iter().map(|word| if is_drawn(word) { "DRAWN" } else { word }).collect()
}

#[tokio::test]
async fn every_route_answers_alike_for_what_is_not_yours_and_what_does_not_exist() {
    let built = with_people(server(), &people()).mount_all().build().unwrap();
    let paths: Vec<String> = built.paths().to_vec();
    let server = serve_built(built).await;
    for base in ["/api/conversations/adas-secret", "/help/adas-secret"] {
        server.turn_as("ada", base, "It is in the cellar.").await;
    }
    let secret =
        share(&server, "ada", "/api/conversations/adas-secret", json!({ "access": "participate" }))
            .await;
    let shared = format!("@~{}", secret["id"].as_str().unwrap());
    let pairs = [
        ("adas-secret".to_owned(), "never-begun".to_owned()),
        ("@ada%2Fadas-secret".to_owned(), "@ada%2Fnever-begun".to_owned()),
        ("@ada%2F%2Fhelp%2Fadas-secret".to_owned(), "@ada%2F%2Fhelp%2Fnever-begun".to_owned()),
        ("%2Fhelp%2Fadas-secret".to_owned(), "%2Fhelp%2Fnever-begun".to_owned()),
        (shared, "@~0123456789abcdef".to_owned()),
    ];
    let share_id = secret["id"].as_str().unwrap();
    let body = |id: &str| {
        let id = id.replace("%2F", "/");
        json!({
            "text": "Hi.", "title": "Mine", "access": "read", "id": id, "threadId": id, "runId": "r",
            "messages": [], "call": "c", "verdict": "approve",
            "token": { "id": "a", "digest": "b", "expires": 1, "signature": "c" },
        })
    };
    let mut tried = 0;
    for who in ["bob", "max"] {
        for (theirs, unknown) in &pairs {
            for path in &paths {
                let has_id = path.contains("{id}")
                    || ["/api/chat", "/help", "/agui"].contains(&path.as_str());
                if !has_id {
                    continue;
                }
                for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
                    // What it creates for oneself under an id of one's own is not about another's conversation.
                    let creates = method == "POST" && path.ends_with("/prompt");
                    if creates && (!theirs.starts_with('@') || path.starts_with("/help")) {
                        continue;
                    }
                    let at = |id: &str| {
                        let path = path.replace("{id}", id).replace("{queue-position}", "1");
                        path.replace("{share-id}", share_id)
                    };
                    let theirs_seen =
                        observed(&server, who, method, &at(theirs), &body(theirs)).await;
                    let unknown_seen =
                        observed(&server, who, method, &at(unknown), &body(unknown)).await;
                    let theirs_seen = normalised(&theirs_seen, theirs);
                    assert_eq!(
                        theirs_seen,
                        normalised(&unknown_seen, unknown),
                        "{who}: {method} {path} {theirs}"
                    );
                    assert!(!theirs_seen.contains("cellar"), "{who}: {method} {path}");
                    tried += 1;
                }
            }
            // Over WebSockets: the upgrade itself, and frames that name the conversation.
            for path in
                [format!("/api/conversations/{theirs}"), format!("/api/conversations/{unknown}")]
            {
                if path.contains('@') {
                    let request = server
                        .request_as(who, "GET", &path)
                        .header("connection", "upgrade")
                        .header("upgrade", "websocket")
                        .header("sec-websocket-version", "13")
                        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
                    let refused = server.send(request, "").await;
                    assert_eq!(refused.status, 404, "{refused:?}");
                }
            }
            let mut frames = Vec::new();
            for id in [theirs, unknown] {
                let id = id.replace("%2F", "/");
                let mut socket = Socket::open_as(&server, "/api/chat", &token(who)).await;
                socket.send(json!({ "type": "resume", "requestId": "1", "id": id })).await;
                frames.push(normalised(&socket.next().await.unwrap().to_string(), &id));
            }
            assert_eq!(frames[0], frames[1], "{who} {theirs}");
        }
        let listed = server.send_as(who, "GET", "/api/conversations", Value::Null).await;
        assert!(!listed.text().contains("cellar"), "{listed:?}");
        assert_eq!(
            status(&server, who, "GET", "/api/conversations?all=true", Value::Null).await,
            403
        );
        assert_eq!(server.send_as(who, "GET", "/api/audit", Value::Null).await.json(), json!([]));
    }
    assert!(tried > 200, "{tried}");
    // Nothing has changed for the owner.
    let shown = server.send_as("ada", "GET", "/api/conversations/adas-secret", Value::Null).await;
    assert_eq!(shown.json()["entries"].as_array().unwrap().len(), 3);
    let shares = server.send_as("ada", "GET", "/api/conversations/adas-secret/shares", Value::Null);
    assert_eq!(shares.await.json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_link_to_read_shows_the_conversation_and_nothing_else_is_possible() {
    let server = serve(with_people(server(), &people())).await;
    server.turn_as("ada", PLANS, "The plan.").await;
    let link = share(&server, "ada", PLANS, json!({ "access": "read" })).await;
    let path = accept(&server, "bob", &link).await;
    let shown = server.send_as("bob", "GET", &path, Value::Null).await.json();
    assert_eq!((&shown["access"], &shown["id"]), (&json!("read"), &json!(&path[19..])));
    assert!(shown["entries"].to_string().contains("The plan."));
    let exported = server.send_as("bob", "GET", &format!("{path}/export"), Value::Null).await;
    assert!(exported.text().contains("The plan."));
    let listed = server.send_as("bob", "GET", "/api/conversations", Value::Null).await.json();
    let entry = &listed[0];
    assert_eq!(
        (&entry["title"], &entry["access"], &entry["owner"]),
        (&json!("The plan."), &json!("read"), &json!("Ada"))
    );
    let decision = json!({ "call": "c", "verdict": "deny",
        "token": { "id": "a", "digest": "b", "expires": 1, "signature": "c" } });
    for (method, rest, body) in [
        ("POST", "/prompt", json!({ "text": "Mine." })),
        ("POST", "/stop", Value::Null),
        ("POST", "/decide", decision),
        ("DELETE", "/queue/1", Value::Null),
        ("PATCH", "", json!({ "title": "Mine" })),
        ("DELETE", "", Value::Null),
        ("GET", "/shares", Value::Null),
        ("POST", "/shares", json!({ "access": "read" })),
    ] {
        let refused = server.send_as("bob", method, &format!("{path}{rest}"), body).await;
        assert_eq!(refused.status, 403, "{method} {rest}: {refused:?}");
    }
    let id = path.strip_prefix("/api/conversations/").unwrap();
    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "Mine." }] });
    let chat = json!({ "id": id, "messages": [message] });
    assert_eq!(status(&server, "bob", "POST", "/api/chat", chat).await, 403);
    let run = json!({ "threadId": id, "runId": "r", "messages": [{ "id": "m", "role": "user", "content": "Mine." }] });
    assert_eq!(status(&server, "bob", "POST", "/agui", run).await, 403);
    let connect = json!({ "threadId": id, "runId": "r", "messages": [] });
    let connected = server.send_as("bob", "POST", "/agui", connect).await;
    assert!(connected.text().contains("The plan."), "{connected:?}");
    let mut socket = Socket::open_as(&server, &path, &token("bob")).await;
    socket.until("snapshot").await;
    for frame in [json!({ "type": "prompt", "text": "Mine." }), json!({ "type": "stop" })] {
        socket.send(frame).await;
        let refused = socket.next().await.unwrap();
        assert_eq!(refused["error"]["kind"], "forbidden", "{refused}");
    }
    // Another person who knows the id has not accepted the link.
    assert_eq!(status(&server, "eve", "GET", &path, Value::Null).await, 404);
    let shares = server.send_as("ada", "GET", &format!("{PLANS}/shares"), Value::Null).await;
    assert_eq!(shares.json()[0]["participants"][0]["name"], "Bob");
    assert!(!shares.text().contains(link["token"].as_str().unwrap()), "the token is not stored");
    let after = server.send_as("ada", "GET", PLANS, Value::Null).await.json();
    assert_eq!(after["entries"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_participant_sends_messages_and_the_owner_sees_them() {
    for store in TestStore::all().await {
        let server = serve(with_people(store.node(server(), "one").await, &people())).await;
        server.turn_as("ada", PLANS, "The plan.").await;
        let link = share(&server, "ada", PLANS, json!({ "access": "participate" })).await;
        let path = accept(&server, "bob", &link).await;
        let mut ada = follow(&server, "ada", PLANS).await;
        ada.read_until("snapshot").await;
        let events = server.turn_as("bob", &path, "My idea.").await;
        assert!(joined_text(&events).contains("My idea."), "{events:?}");
        assert_eq!(ada.read_until("said").await["event"]["content"][0]["text"], "My idea.");
        for (method, rest) in [("DELETE", ""), ("GET", "/shares")] {
            let refused =
                status(&server, "bob", method, &format!("{path}{rest}"), Value::Null).await;
            assert_eq!(refused, 403, "{method} {rest}");
        }
        // Over the AI SDK and AG-UI, too.
        let id = path.strip_prefix("/api/conversations/").unwrap();
        let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "Another." }] });
        let chat = json!({ "id": id, "messages": [message] });
        let answer = server.send_as("bob", "POST", "/api/chat", chat).await;
        assert!(answer.text().contains("Another."), "{answer:?}");
        let run = json!({ "threadId": id, "runId": "r", "messages": [{ "id": "m", "role": "user", "content": "Third." }] });
        let answer = server.send_as("bob", "POST", "/agui", run).await;
        assert!(answer.text().contains("RUN_FINISHED"), "{answer:?}");
        let shown = server.send_as("ada", "GET", PLANS, Value::Null).await;
        for text in ["The plan.", "My idea.", "Another.", "Third."] {
            assert!(shown.text().contains(text), "{text}");
        }
        assert!(!shown.text().contains("subject"), "principals are not shown: {shown:?}");
    }
}

/// The events of a conversation, which begin with a snapshot.
async fn follow(server: &TestServer, who: &str, path: &str) -> SseEvents {
    let request = server.request_as(who, "GET", &format!("{path}/events"));
    SseEvents::new(server.open(request, "").await)
}

/// Reads until a stream ends.
async fn until_end(mut events: SseEvents) {
    while events.next().await.is_some() {}
}

#[tokio::test]
async fn the_end_of_a_share_ends_its_open_streams_and_sockets_and_every_request() {
    let (model, words) = ManualModel::new();
    let server = ServerBuilder::new(no_tools(), model)
        // The end is signalled: nothing is polled meanwhile.
        .limits(|limits| limits.heartbeat_interval = Duration::from_secs(3600));
    let server = serve(with_people(server, &people())).await;
    words.send(String::new()).unwrap();
    server.turn_as("ada", PLANS, "The plan.").await;
    let link = share(&server, "ada", PLANS, json!({ "access": "participate" })).await;
    let path = accept(&server, "bob", &link).await;
    let id = path.strip_prefix("/api/conversations/").unwrap().to_owned();
    let mut native = follow(&server, "bob", &path).await;
    native.read_until("snapshot").await;
    let mut socket = Socket::open_as(&server, &path, &token("bob")).await;
    socket.until("snapshot").await;
    // Its own turn runs while the share ends.
    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "Go on." }] });
    let chat = json!({ "id": id, "messages": [message] });
    let request = server.request_as("bob", "POST", "/api/chat");
    let mut ai_sdk = SseEvents::new(server.open(request, &chat.to_string()).await);
    ai_sdk.next().await.unwrap();
    let mut ai_socket = Socket::open_as(&server, "/api/chat", &token("bob")).await;
    ai_socket.send(json!({ "type": "resume", "requestId": "1", "id": id })).await;
    ai_socket.next().await.unwrap();
    let mut ada = follow(&server, "ada", PLANS).await;
    ada.read_until("snapshot").await;
    let revoke = format!("{PLANS}/shares/{}", link["id"].as_str().unwrap());
    assert_eq!(status(&server, "ada", "DELETE", &revoke, Value::Null).await, 204);
    until_end(native).await;
    while socket.next().await.is_some() {}
    while ai_sdk.next_data().await.is_some() {}
    // The connection of the AI SDK is not of one conversation: it stays, and sends no more of this one.
    words.send("secret".to_owned()).unwrap();
    words.send(String::new()).unwrap();
    ada.read_until("ended").await;
    ai_socket.send(json!({ "type": "resume", "requestId": "2", "id": id })).await;
    loop {
        let frame = ai_socket.next().await.unwrap();
        assert!(!frame.to_string().contains("secret"), "{frame}");
        if frame["requestId"] == "2" {
            assert_eq!(frame["type"], "error", "{frame}");
            break;
        }
    }
    let unknown = server.send_as("bob", "GET", "/api/conversations/@~00", Value::Null).await;
    for (method, rest) in [("GET", ""), ("GET", "/events"), ("GET", "/export"), ("POST", "/prompt")]
    {
        let gone =
            server.send_as("bob", method, &format!("{path}{rest}"), json!({ "text": "x" })).await;
        assert_eq!((gone.status, gone.text()), (404, unknown.text()), "{method} {rest}");
    }
    let again =
        server.send_as("bob", "POST", "/api/shares", json!({ "token": link["token"] })).await;
    let never = server.send_as("bob", "POST", "/api/shares", json!({ "token": "never" })).await;
    assert_eq!((again.status, again.text()), (404, never.text()));
    let listed = server.send_as("bob", "GET", "/api/conversations", Value::Null).await;
    assert_eq!(listed.json(), json!([]));
    assert_eq!(status(&server, "ada", "DELETE", &revoke, Value::Null).await, 404);
}

#[tokio::test]
async fn a_share_ends_when_it_expires_and_when_the_person_leaves() {
    for store in TestStore::all().await {
        let server = serve(with_people(store.node(server(), "one").await, &people())).await;
        server.turn_as("ada", PLANS, "The plan.").await;
        let link = share(&server, "ada", PLANS, json!({ "access": "read", "expires_in": 1 })).await;
        let path = accept(&server, "bob", &link).await;
        until_end(follow(&server, "bob", &path).await).await;
        assert_eq!(status(&server, "bob", "GET", &path, Value::Null).await, 404);
        let shares = server.send_as("ada", "GET", &format!("{PLANS}/shares"), Value::Null).await;
        assert_eq!(shares.json(), json!([]));
        let zero = json!({ "access": "read", "expires_in": 0 });
        assert_eq!(status(&server, "ada", "POST", &format!("{PLANS}/shares"), zero).await, 400);

        let link = share(&server, "ada", PLANS, json!({ "access": "read" })).await;
        let path = accept(&server, "bob", &link).await;
        let mut events = follow(&server, "bob", &path).await;
        events.read_until("snapshot").await;
        let leave = format!("/api/shares/{}", link["id"].as_str().unwrap());
        assert_eq!(status(&server, "eve", "DELETE", &leave, Value::Null).await, 404);
        assert_eq!(status(&server, "bob", "DELETE", &leave, Value::Null).await, 204);
        until_end(events).await;
        assert_eq!(status(&server, "bob", "GET", &path, Value::Null).await, 404);
        let shares = server.send_as("ada", "GET", &format!("{PLANS}/shares"), Value::Null).await;
        assert_eq!(shares.json()[0]["participants"], json!([]));
    }
}

#[tokio::test]
async fn a_conversation_that_begins_later_under_the_same_name_is_not_shared() {
    for store in TestStore::all().await {
        let server = serve(with_people(store.node(server(), "one").await, &people())).await;
        server.turn_as("ada", PLANS, "The plan.").await;
        let rename = json!({ "title": "Great  plans" });
        assert_eq!(status(&server, "ada", "PATCH", PLANS, rename).await, 204);
        let link = share(&server, "ada", PLANS, json!({ "access": "participate" })).await;
        let path = accept(&server, "bob", &link).await;
        let mut events = follow(&server, "bob", &path).await;
        events.read_until("snapshot").await;
        assert_eq!(status(&server, "ada", "DELETE", PLANS, Value::Null).await, 204);
        until_end(events).await;
        let message = json!({ "text": "Something else." });
        let prompt = format!("{PLANS}/prompt");
        assert_eq!(status(&server, "ada", "POST", &prompt, message).await, 202);
        within_timeout(async {
            // The numbers of events do not continue after a deletion.
            let shown = async || server.send_as("ada", "GET", PLANS, Value::Null).await.json();
            while shown().await["entries"].as_array().unwrap().len() < 3 {}
        })
        .await;
        assert_eq!(status(&server, "bob", "GET", &path, Value::Null).await, 404);
        let message = json!({ "text": "Mine." });
        assert_eq!(status(&server, "bob", "POST", &format!("{path}/prompt"), message).await, 404);
        let listed = server.send_as("bob", "GET", "/api/conversations", Value::Null).await;
        assert_eq!(listed.json(), json!([]));
        let listed = server.send_as("ada", "GET", "/api/conversations", Value::Null).await.json();
        assert_eq!(listed[0]["title"], "Something else.", "the title was of the other one");
    }
}

#[tokio::test]
async fn an_owner_renames_a_conversation_of_any_endpoint_and_no_one_else_does() {
    let server = serve(with_people(server(), &people())).await;
    for base in [PLANS, "/help/plans"] {
        server.turn_as("ada", base, "The plan.").await;
        let rename = json!({ "title": " Summer\n2027 " });
        assert_eq!(status(&server, "ada", "PATCH", base, rename.clone()).await, 204);
        assert_eq!(status(&server, "bob", "PATCH", base, rename).await, 404);
    }
    let listed = server.send_as("ada", "GET", "/api/conversations", Value::Null).await.json();
    for shown in listed.as_array().unwrap() {
        assert_eq!(shown["title"], "Summer 2027");
    }
    assert_eq!(status(&server, "ada", "PATCH", PLANS, json!({ "title": "" })).await, 204);
    let listed = server.send_as("ada", "GET", "/api/conversations", Value::Null).await;
    assert!(listed.text().contains("The plan."), "{listed:?}");
    // A room has no owner.
    server.turn_as("ada", "/room/lobby", "Hello.").await;
    for (method, rest) in [("PATCH", ""), ("POST", "/shares"), ("GET", "/shares")] {
        let body = json!({ "title": "Mine", "access": "read" });
        let refused = status(&server, "ada", method, &format!("/room/lobby{rest}"), body).await;
        assert_eq!(refused, 403, "{method} {rest}");
    }
}

#[tokio::test]
async fn a_conversation_of_another_endpoint_is_shared_like_one_of_the_assistant() {
    let server = serve(with_people(server(), &people())).await;
    server.turn_as("ada", "/help/7", "Help me.").await;
    let link = share(&server, "ada", "/help/7", json!({ "access": "participate" })).await;
    let path = accept(&server, "bob", &link).await;
    let events = server.turn_as("bob", &path, "With this?").await;
    assert!(joined_text(&events).contains("With this?"));
    let shown = server.send_as("ada", "GET", "/help/7", Value::Null).await;
    assert!(shown.text().contains("With this?"));
}

fn names(event: &Value) -> Vec<&str> {
    event["participants"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn a_room_and_a_shared_conversation_say_who_is_there() {
    let server = serve(with_people(server(), &people())).await;
    let mut ada = follow(&server, "ada", "/room/lobby").await;
    ada.read_until("snapshot").await;
    let bob = follow(&server, "bob", "/room/lobby").await;
    loop {
        let line = ada.read_until("peers").await;
        if names(&line["event"]) == ["Ada", "Bob"] {
            break;
        }
    }
    let shown = server.send_as("ada", "GET", "/room/lobby", Value::Null).await.json();
    assert_eq!(names(&shown), ["Ada", "Bob"]);
    drop(bob);
    while names(&ada.read_until("peers").await["event"]) != ["Ada"] {}

    server.turn_as("ada", PLANS, "The plan.").await;
    let alone = server.send_as("ada", "GET", PLANS, Value::Null).await.json();
    assert_eq!(names(&alone), Vec::<&str>::new());
    let mut ada = follow(&server, "ada", PLANS).await;
    ada.read_until("snapshot").await;
    let link = share(&server, "ada", PLANS, json!({ "access": "read" })).await;
    let path = accept(&server, "bob", &link).await;
    let _bob = follow(&server, "bob", &path).await;
    while names(&ada.read_until("peers").await["event"]) != ["Ada", "Bob"] {}
}

#[tokio::test]
async fn an_admin_reads_everything_changes_nothing_and_every_access_is_recorded() {
    let roles = people();
    let server = serve(with_people(server(), &roles)).await;
    server.turn_as("ada", PLANS, "The plan.").await;
    server.turn_as("ada", "/help/7", "Help me.").await;
    let all =
        server.send_as("root", "GET", "/api/conversations?all=true", Value::Null).await.json();
    let mut ids: Vec<&str> =
        all.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["@ada//help/7", "@ada/plans"]);
    assert_eq!(all[0]["owner"], "ada");
    let path = "/api/conversations/@ada%2Fplans";
    for path in [path, "/api/conversations/@ada%2F%2Fhelp%2F7"] {
        let shown = server.send_as("root", "GET", path, Value::Null).await;
        assert_eq!(shown.json()["access"], "admin", "{shown:?}");
        assert_eq!(shown.json()["entries"].as_array().unwrap().len(), 3);
    }
    assert_eq!(status(&server, "root", "GET", &format!("{path}/export"), Value::Null).await, 200);
    for (method, rest, body) in [
        ("POST", "/prompt", json!({ "text": "Mine." })),
        ("POST", "/stop", Value::Null),
        ("PATCH", "", json!({ "title": "Mine" })),
        ("POST", "/shares", json!({ "access": "participate" })),
        ("GET", "/shares", Value::Null),
        ("DELETE", "", Value::Null),
    ] {
        let refused = status(&server, "root", method, &format!("{path}{rest}"), body).await;
        assert_eq!(refused, 403, "{method} {rest}");
    }
    let unknown = "/api/conversations/@ada%2Fnever";
    assert_eq!(status(&server, "root", "GET", unknown, Value::Null).await, 404);
    let records = |accesses: &HttpResponse| -> Vec<String> {
        let accesses = accesses.json();
        let shown = |it: &Value| format!("{} {} {}", it["admin"], it["action"], it["conversation"]);
        let mut shown: Vec<String> = accesses.as_array().unwrap().iter().map(shown).collect();
        shown.sort();
        shown
    };
    let recorded = server.send_as("root", "GET", "/api/audit", Value::Null).await;
    assert_eq!(
        records(&recorded),
        [
            r#""Root" "list" null"#,
            r#""Root" "read" "@ada//help/7""#,
            r#""Root" "read" "@ada/plans""#,
            r#""Root" "read" "@ada/plans""#,
        ]
    );
    // the owner sees who has read, and no one else does.
    let own = server.send_as("ada", "GET", "/api/audit", Value::Null).await;
    let expected =
        [r#""Root" "read" "/help/7""#, r#""Root" "read" "plans""#, r#""Root" "read" "plans""#];
    assert_eq!(records(&own), expected);
    let other = server.send_as("bob", "GET", "/api/audit", Value::Null).await;
    assert_eq!(other.json(), json!([]));
    // Without the role, an open stream ends and the conversation does not exist.
    let events = follow(&server, "root", path).await;
    roles.lock().unwrap().insert("root", vec![]);
    until_end(events).await;
    assert_eq!(status(&server, "root", "GET", path, Value::Null).await, 404);
    // A person has no way in with a name that looks like an admin's.
    let shown = server.send_as("bob", "GET", path, Value::Null).await;
    assert_eq!(shown.status, 404);
}

#[tokio::test]
async fn a_share_that_ends_at_one_node_ends_its_streams_at_another() {
    for store in TestStore::all().await {
        let bus = InProcessBus::new();
        let roles = people();
        let node = async |name: &str| {
            let server = ServerBuilder::new(no_tools(), FnModel::echo())
                .bus(bus.node())
                .limits(|limits| limits.heartbeat_interval = Duration::from_secs(3600));
            serve(with_people(store.node(server, name).await, &roles)).await
        };
        let (one, two) = (node("one").await, node("two").await);
        one.turn_as("ada", PLANS, "The plan.").await;
        let link = share(&one, "ada", PLANS, json!({ "access": "read" })).await;
        let path = accept(&two, "bob", &link).await;
        let mut events = follow(&two, "bob", &path).await;
        let shown = events.read_until("snapshot").await;
        assert!(shown["event"]["entries"].to_string().contains("The plan."));
        let revoke = format!("{PLANS}/shares/{}", link["id"].as_str().unwrap());
        assert_eq!(status(&one, "ada", "DELETE", &revoke, Value::Null).await, 204);
        until_end(events).await;
        assert_eq!(status(&two, "bob", "GET", &path, Value::Null).await, 404);
    }
}

/// Begins a conversation under the name of one that was deleted.
async fn begin_again(server: &TestServer, store: &dyn Store) {
    let message = json!({ "text": "Another plan." });
    let path = format!("{PLANS}/prompt");
    assert_eq!(status(server, "ada", "POST", &path, message).await, 202);
    let name = Owner::Subject("ada".to_owned()).stored_name("plans");
    assert!(stored_answer(store, &name).await.contains("Another plan."));
}

#[tokio::test]
async fn deleting_a_conversation_ends_its_links() {
    for store in TestStore::all().await {
        let server = serve(with_people(store.node(server(), "one").await, &people())).await;
        server.turn_as("ada", PLANS, "The plan.").await;
        let link = share(&server, "ada", PLANS, json!({ "access": "read" })).await;
        let unused = share(&server, "ada", PLANS, json!({ "access": "participate" })).await;
        let path = accept(&server, "bob", &link).await;
        assert_eq!(status(&server, "ada", "DELETE", PLANS, Value::Null).await, 204);
        begin_again(&server, &*store.open().await).await;
        for link in [&link, &unused] {
            let token = json!({ "token": link["token"] });
            assert_eq!(status(&server, "bob", "POST", "/api/shares", token).await, 404);
        }
        assert_eq!(status(&server, "bob", "GET", &path, Value::Null).await, 404);
        let shares = server.send_as("ada", "GET", &format!("{PLANS}/shares"), Value::Null).await;
        assert_eq!(shares.json(), json!([]));
        let listed = server.send_as("bob", "GET", "/api/conversations", Value::Null).await;
        assert_eq!(listed.json(), json!([]));
    }
}

#[tokio::test]
async fn a_conversation_that_another_program_deletes_has_no_links_when_it_begins_again() {
    let store = TestStore::Memory(Arc::default());
    let server = serve(with_people(store.node(server(), "one").await, &people())).await;
    server.turn_as("ada", PLANS, "The plan.").await;
    let link = share(&server, "ada", PLANS, json!({ "access": "read" })).await;
    let stored = store.open().await;
    let name = Owner::Subject("ada".to_owned()).stored_name("plans");
    let lease = stored.acquire(&name, "other", Duration::from_secs(5)).await.unwrap().unwrap();
    assert!(stored.delete(&lease).await.unwrap());
    stored.release(&lease).await.unwrap();
    begin_again(&server, &*stored).await;
    let token = json!({ "token": link["token"] });
    assert_eq!(status(&server, "bob", "POST", "/api/shares", token).await, 404);
    let shares = server.send_as("ada", "GET", &format!("{PLANS}/shares"), Value::Null).await;
    assert_eq!(shares.json(), json!([]));
}

#[tokio::test]
async fn a_node_whose_clock_is_ahead_does_not_end_the_links_of_all() {
    let state: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
    let server = server().shared_state(Arc::clone(&state));
    let server = serve(with_people(server, &people())).await;
    server.turn_as("ada", PLANS, "The plan.").await;
    let hour = json!({ "access": "read", "expires_in": 3600 });
    let link = share(&server, "ada", PLANS, hour).await;
    // As if another node had made it, two hours ago by the clock of this one and just now by that of the store.
    let (key, text) = state.list("share", "", 10).await.unwrap().remove(0);
    let mut stored: Value = serde_json::from_str(&text).unwrap();
    for time in ["created", "expires"] {
        stored[time] = (stored[time].as_u64().unwrap() - 2 * 3_600_000).into();
    }
    let hour = Some(Duration::from_secs(3600));
    state.put("share", &key, &stored.to_string(), hour).await.unwrap();
    let path = accept(&server, "bob", &link).await;
    assert_eq!(status(&server, "bob", "GET", &path, Value::Null).await, 200);
    let shares = server.send_as("ada", "GET", &format!("{PLANS}/shares"), Value::Null).await;
    assert_eq!(shares.json()[0]["id"], link["id"]);
    assert_eq!(accept(&server, "eve", &link).await, path);
    let mut events = follow(&server, "bob", &path).await;
    server.turn_as("ada", PLANS, "Another plan.").await;
    events.read_until("ended").await;
}
