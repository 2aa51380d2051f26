//! Rooms: connected clients, and which of them receive which events.

use std::sync::{Arc, Mutex};

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use toolwright::testing::FnModel;
use toolwright_server::{Endpoint, Path, PeerCount, ServerBuilder};

use crate::support::{TestServer, event_type, no_tools, serve, within_timeout};

pub(crate) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Socket {
    pub(crate) async fn open(server: &TestServer, path: &str) -> Self {
        Self::open_with(server, path, &[]).await
    }

    pub(crate) async fn open_as(server: &TestServer, path: &str, token: &str) -> Self {
        let bearer = format!("Bearer {token}");
        Self::open_with(server, path, &[("authorization", &bearer)]).await
    }

    pub(crate) async fn open_with(
        server: &TestServer,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Self {
        let url = format!("ws://{}{path}", server.addr);
        let mut request = url.into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let (socket, _) = within_timeout(connect_async(request)).await.unwrap();
        Self(socket)
    }

    pub(crate) async fn send(&mut self, frame: Value) {
        let frame = Message::text(frame.to_string());
        within_timeout(self.0.send(frame)).await.unwrap();
    }

    /// The next frame; `None` when the connection has ended.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            match within_timeout(self.0.next()).await?.ok()? {
                Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Reads until an event of this type.
    pub(crate) async fn until(&mut self, wanted: &str) -> Value {
        loop {
            let frame = self.next().await.expect("the connection ended");
            if event_type(&frame["event"]) == wanted {
                return frame;
            }
        }
    }
}

fn room(broadcast: bool) -> ServerBuilder {
    let endpoint = Endpoint::new("/chat/{room}").memory(true).broadcast(broadcast);
    ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint)
}

#[tokio::test]
async fn everybody_hears_an_answer_that_is_broadcast() {
    let server = serve(room(true)).await;
    let mut ada = Socket::open(&server, "/chat/lobby").await;
    assert_eq!(ada.next().await.unwrap()["type"], "hello");
    ada.until("snapshot").await;
    let mut bob = Socket::open(&server, "/chat/lobby").await;
    bob.until("snapshot").await;
    assert_eq!(ada.until("peers").await["event"]["count"], 2);
    let mut elsewhere = Socket::open(&server, "/chat/attic").await;
    elsewhere.until("snapshot").await;
    ada.send(json!({ "type": "prompt", "text": "Hi" })).await;
    for socket in [&mut ada, &mut bob] {
        assert_eq!(socket.until("text").await["event"]["delta"], "Hi");
        socket.until("ended").await;
    }
    elsewhere.send(json!({ "type": "prompt", "text": "Alone" })).await;
    assert_eq!(elsewhere.until("text").await["event"]["delta"], "Alone");
}

#[tokio::test]
async fn only_the_sender_receives_an_answer_that_is_not_broadcast() {
    let server = serve(room(false)).await;
    let mut ada = Socket::open(&server, "/chat/lobby").await;
    ada.until("snapshot").await;
    let mut bob = Socket::open(&server, "/chat/lobby").await;
    bob.until("snapshot").await;
    ada.send(json!({ "type": "prompt", "text": "Hi" })).await;
    ada.until("ended").await;
    bob.send(json!({ "type": "prompt", "text": "Mine" })).await;
    // The first answer that Bob receives is his own.
    assert_eq!(bob.until("text").await["event"]["delta"], "Mine");
    bob.until("ended").await;
}

#[tokio::test]
async fn a_peer_that_reconnects_to_a_room_misses_nothing() {
    let server = serve(room(false)).await;
    let mut ada = Socket::open(&server, "/chat/lobby").await;
    let hello = ada.next().await.unwrap();
    let peer = hello["peer"].as_str().unwrap().to_owned();
    let seq = ada.until("snapshot").await["seq"].as_u64().unwrap();
    ada.send(json!({ "type": "prompt", "text": "Hi" })).await;
    ada.until("said").await;
    drop(ada);
    let again = format!("/chat/lobby?peer={peer}&after={seq}");
    let mut ada = Socket::open(&server, &again).await;
    ada.until("said").await;
    assert_eq!(ada.until("text").await["event"]["delta"], "Hi");
    ada.until("ended").await;
}

#[tokio::test]
async fn a_frame_that_makes_no_sense_is_refused_and_the_connection_stays() {
    let server = serve(room(true)).await;
    let mut ada = Socket::open(&server, "/chat/lobby").await;
    ada.until("snapshot").await;
    ada.send(json!({ "type": "dance" })).await;
    loop {
        let frame = ada.next().await.unwrap();
        if event_type(&frame) == "refused" {
            assert_eq!(frame["error"]["kind"], "invalid");
            break;
        }
    }
    ada.send(json!({ "type": "prompt", "text": "Hi" })).await;
    ada.until("ended").await;
}

#[tokio::test]
async fn handlers_are_called_when_clients_connect_and_disconnect() {
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel();
    let left = heard.clone();
    let endpoint = Endpoint::new("/chat/{room}")
        .on_ready(move |Path(room): Path<String>, PeerCount(peers): PeerCount| {
            let _ = heard.send(format!("{room} +{peers}"));
            async {}
        })
        .on_disconnect(move |Path(room): Path<String>, PeerCount(peers): PeerCount| {
            let _ = left.send(format!("{room} -{peers}"));
            async {}
        });
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server).await;
    let mut ada = Socket::open(&server, "/chat/lobby").await;
    ada.until("snapshot").await;
    assert_eq!(within_timeout(hears.recv()).await.unwrap(), "lobby +1");
    let events = server.events("/chat/lobby", None).await;
    assert_eq!(within_timeout(hears.recv()).await.unwrap(), "lobby +2");
    drop(ada);
    assert_eq!(within_timeout(hears.recv()).await.unwrap(), "lobby -1");
    drop(events);
    assert_eq!(within_timeout(hears.recv()).await.unwrap(), "lobby -0");
    assert_eq!(server.get("/chat/lobby").await.json()["peers"], 0);
}

#[tokio::test]
async fn a_room_is_the_same_wherever_it_is_entered_from() {
    let refuse = |_: &str| toolwright_server::GuardrailVerdict::Reject("Not here.".to_owned());
    let endpoint = Endpoint::new("/chat/{room}").memory(true).guard_input(refuse);
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server).await;
    // The settings of the endpoint hold for clients that use the console's routes, too.
    for path in ["/chat/lobby", "/api/conversations/%2Fchat%2Flobby"] {
        let events = server.post_and_collect(path, "Hi").await;
        assert_eq!(crate::support::joined_text(&events), "Not here.", "{path}");
    }
    assert_eq!(server.get("/api/conversations/%2Fchat%2Flobby").await.json()["id"], "/chat/lobby");
}

/// The session that a handler was called with.
type Heard = Arc<Mutex<Vec<String>>>;

#[tokio::test]
async fn a_message_of_one_room_is_not_published_in_another() {
    let heard = Heard::default();
    let hears = Arc::clone(&heard);
    let endpoint = Endpoint::new("/chat/{room}").on_message(
        move |message: toolwright_server::IncomingMessage, Path(room): Path<String>| {
            hears.lock().unwrap().push(format!("{room}: {}", message.text()));
            async {}
        },
    );
    let server = ServerBuilder::new(no_tools(), FnModel::echo()).endpoint(endpoint);
    let server = serve(server).await;
    server.post_and_collect("/chat/a%2Fb", "one").await;
    server.post_and_collect("/chat/c", "two").await;
    assert_eq!(*heard.lock().unwrap(), ["a/b: one", "c: two"]);
    let shown = server.get("/chat/a%2Fb").await.json();
    assert_eq!(shown["id"], "/chat/a%2Fb");
}
