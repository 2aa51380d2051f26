//! Sign-in sessions are shared by all nodes, survive a restart, and can be ended from anywhere.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright::chat::{MemoryStore, Owner, Store};
use toolwright::testing::{FnModel, UnreachableSharedState};
use toolwright::{Secret, SharedState, subject_key_prefix};
use toolwright_mcp::{Claims, StaticTokens};
use toolwright_server::{LoginSession, LoginSessions, ServerBuilder};

use crate::owners::{HERE, resource_server, token};
use crate::rooms::Socket;
use crate::support::{SseEvents, TestServer, no_tools, serve, within_timeout};

const PATH: &str = "/api/conversations/c";

fn builder() -> ServerBuilder {
    let table = ["ada", "bob"].iter().fold(StaticTokens::new(), |table, subject| {
        table.token(&Secret::new(token(subject)), Claims::new(*subject, [HERE]))
    });
    let oauth = resource_server(table);
    ServerBuilder::new(no_tools(), FnModel::echo())
        .configure_auth(|auth| auth.oauth(oauth))
        .limits(|limits| limits.session_check_interval = Duration::from_millis(10))
}

/// A node with this store.
async fn node(store: &Arc<MemoryStore>) -> TestServer {
    serve(builder().store(Arc::clone(store), "memory")).await
}

/// Signs in, and returns the cookie.
async fn sign_in(server: &TestServer, subject: &str) -> String {
    let given = server.post("/api/session", json!({ "token": token(subject) })).await;
    assert_eq!(given.status, 204, "{given:?}");
    given.header("set-cookie").split(';').next().unwrap().to_owned()
}

async fn status(server: &TestServer, cookie: &str) -> u16 {
    let request = server.request("GET", "/api/info").header("cookie", cookie);
    server.send(request, "").await.status
}

fn subject(name: &str) -> Owner {
    Owner::Subject(name.to_owned())
}

#[tokio::test]
async fn a_session_is_valid_at_every_node_and_after_a_restart() {
    let store = Arc::new(MemoryStore::new());
    let (one, two) = (node(&store).await, node(&store).await);
    let cookie = sign_in(&one, "ada").await;
    assert_eq!((status(&one, &cookie).await, status(&two, &cookie).await), (200, 200));
    one.end().await;
    two.end().await;
    let restarted = node(&store).await;
    assert_eq!(status(&restarted, &cookie).await, 200);
    let elsewhere = node(&Arc::new(MemoryStore::new())).await;
    assert_eq!(status(&elsewhere, &cookie).await, 401);
}

#[tokio::test]
async fn a_session_that_ends_at_one_node_ends_its_connections_to_another() {
    let store = Arc::new(MemoryStore::new());
    let (one, two) = (node(&store).await, node(&store).await);
    let (ended, kept) = (sign_in(&one, "ada").await, sign_in(&one, "ada").await);
    let mut socket = Socket::open_with(&two, PATH, &[("cookie", &ended)]).await;
    socket.until("snapshot").await;
    let request = two.request("GET", &format!("{PATH}/events")).header("cookie", &ended);
    let mut events = SseEvents::new(two.open(request, "").await);
    events.next().await.unwrap();
    let mut other = Socket::open_with(&two, PATH, &[("cookie", &kept)]).await;
    other.until("snapshot").await;
    let end = one.request("DELETE", "/api/session").header("cookie", &ended);
    assert_eq!(one.send(end, "").await.status, 204);
    within_timeout(async { while socket.next().await.is_some() {} }).await;
    within_timeout(async { while events.next().await.is_some() {} }).await;
    within_timeout(async { while status(&two, &ended).await != 401 {} }).await;
    assert_eq!(status(&two, &kept).await, 200);
    other.send(json!({ "type": "prompt", "text": "Hi" })).await;
    other.until("ended").await;
}

#[tokio::test]
async fn sessions_are_listed_and_ended_by_their_id() {
    let store = Arc::new(MemoryStore::new());
    let server = node(&store).await;
    let (ada, bob) = (sign_in(&server, "ada").await, sign_in(&server, "bob").await);
    let sessions = LoginSessions::new(store.shared_state());
    let list = async |owner: Option<&Owner>| sessions.list(owner, 99).await.unwrap();
    let owners = |sessions: Vec<LoginSession>| -> Vec<Owner> {
        sessions.into_iter().map(|session| session.owner).collect()
    };
    let mut all = owners(list(None).await);
    all.sort_by_key(|owner| owner.stored_name(""));
    assert_eq!(all, [subject("ada"), subject("bob")]);
    assert!(list(Some(&Owner::Operator)).await.is_empty());
    let of_ada = list(Some(&subject("ada"))).await;
    let [session] = of_ada.as_slice() else { panic!("{of_ada:?}") };
    assert_eq!(session.owner, subject("ada"));
    assert_eq!(session.expires - session.began, 12 * 60 * 60 * 1000);
    assert!(sessions.end(&session.id).await.unwrap());
    assert!(!sessions.end(&session.id).await.unwrap());
    within_timeout(async { while status(&server, &ada).await != 401 {} }).await;
    assert_eq!(status(&server, &bob).await, 200);
    // As `store erase` does.
    let prefix = subject_key_prefix(Some("bob"));
    assert!(store.shared_state().remove_prefix(&prefix).await.unwrap() > 0);
    within_timeout(async { while status(&server, &bob).await != 401 {} }).await;
}

#[tokio::test]
async fn what_is_stored_contains_neither_the_token_nor_the_cookie() {
    let store = Arc::new(MemoryStore::new());
    let server = node(&store).await;
    let cookie = sign_in(&server, "ada").await;
    let (_, value) = cookie.split_once('=').unwrap();
    let [_, id, secret] = value.split('.').collect::<Vec<_>>()[..] else { panic!("{cookie}") };
    let stored = store.shared_state().list("login_session", "", 9).await.unwrap();
    let stored = format!("{stored:?}");
    for hidden in [&token("ada"), id, secret] {
        assert!(!stored.contains(hidden), "{stored}");
    }
    // The id alone, which the node has in memory, opens and ends nothing.
    let guessed = cookie.replace(secret, &"0".repeat(secret.len()));
    assert_eq!(status(&server, &cookie).await, 200);
    assert_eq!(status(&server, &guessed).await, 401);
    let end = server.request("DELETE", "/api/session").header("cookie", &guessed);
    assert_eq!(server.send(end, "").await.status, 204);
    assert_eq!(status(&server, &cookie).await, 200);
    // A row that was moved to another session is not opened either.
    let state = store.shared_state();
    let other = sign_in(&server, "bob").await;
    let rows = state.list("login_session", "", 9).await.unwrap();
    let [(one, ada_or_bob), (two, other_one)] = &rows[..] else { panic!("{rows:?}") };
    state.put("login_session", one, other_one, None).await.unwrap();
    state.put("login_session", two, ada_or_bob, None).await.unwrap();
    let restarted = node(&store).await;
    assert_eq!((status(&restarted, &cookie).await, status(&restarted, &other).await), (401, 401));
}

#[tokio::test]
async fn shared_state_that_is_away_ends_no_session() {
    let state = UnreachableSharedState::new();
    let server = serve(builder().shared_state(state.clone())).await;
    let cookie = sign_in(&server, "ada").await;
    let mut socket = Socket::open_with(&server, PATH, &[("cookie", &cookie)]).await;
    socket.until("snapshot").await;
    state.set_unreachable(true);
    // Until then, the session counts as valid.
    within_timeout(async { while status(&server, &cookie).await == 200 {} }).await;
    assert_eq!(status(&server, &cookie).await, 503);
    let page = server.request("GET", "/").header("cookie", &cookie);
    assert_eq!(server.send(page, "").await.status, 200, "the page itself needs no session");
    let bearer = server.request_as("ada", "GET", "/api/info");
    assert_eq!(server.send(bearer, "").await.status, 200, "a token needs no session");
    socket.send(json!({ "type": "prompt", "text": "Hi" })).await;
    let refused = socket.next().await.unwrap();
    assert_eq!(refused["error"]["kind"], "store", "{refused}");
    let sign_in = server.post("/api/session", json!({ "token": token("ada") })).await;
    assert_eq!(sign_in.status, 503);
    state.set_unreachable(false);
    assert_eq!(status(&server, &cookie).await, 200);
    socket.send(json!({ "type": "prompt", "text": "Hi" })).await;
    socket.until("ended").await;
}

#[tokio::test]
async fn wrong_tokens_are_counted_without_shared_state_too() {
    let state = UnreachableSharedState::new();
    state.set_unreachable(true);
    let server = serve(builder().shared_state(state)).await;
    let guess = json!({ "token": "wrong-token-altogether" });
    for _ in 0..10 {
        assert_eq!(server.post("/api/session", guess.clone()).await.status, 401);
    }
    assert_eq!(server.post("/api/session", guess).await.status, 429);
}

#[tokio::test]
async fn wrong_tokens_at_all_nodes_count_together() {
    let store = Arc::new(MemoryStore::new());
    let nodes = [node(&store).await, node(&store).await];
    let guess = json!({ "token": "wrong-token-altogether" });
    for n in 0..10 {
        assert_eq!(nodes[n % 2].post("/api/session", guess.clone()).await.status, 401);
    }
    for node in &nodes {
        assert_eq!(node.post("/api/session", guess.clone()).await.status, 429);
    }
}
