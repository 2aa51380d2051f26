//! Shared by the tests: a server on a port of its own, a client, and a model that the test controls.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use toolwright::chat::{
    EntryBody, Item, Model, ModelEvent, ModelId, ModelRequest, ModelStream, StopReason, Store,
    Usage, is_turn_over,
};
use toolwright::{Bundle, Invoker, Registry, Tool};
use toolwright_server::{Server, ServerBuilder};

/// A test that waits longer has failed; more than a machine with much other work needs.
const TEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Waits for a future; panics after [`TEST_TIMEOUT`].
pub(crate) async fn within_timeout<T>(future: impl Future<Output = T>) -> T {
    timeout(TEST_TIMEOUT, future).await.expect("it did not come")
}

/// Waits until the last turn of a stored conversation is over, and returns the text of its last step.
pub(crate) async fn stored_answer(store: &dyn Store, conversation: &str) -> String {
    within_timeout(async {
        loop {
            let entries = store.load(conversation).await.unwrap();
            if is_turn_over(&entries) {
                let step = entries.iter().rev().find_map(|entry| match &entry.body {
                    EntryBody::Step { step, .. } => Some(step.text()),
                    _ => None,
                });
                return step.unwrap_or_default();
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

pub(crate) fn invoker(tools: impl Bundle) -> Invoker {
    let registry = Registry::new();
    registry.add(tools).unwrap();
    Invoker::new(&registry).unwrap()
}

pub(crate) fn no_tools() -> Invoker {
    invoker(Vec::<Tool>::new())
}

/// A server that runs until it is shut down.
pub(crate) struct TestServer {
    pub(crate) addr: SocketAddr,
    shut_down: Option<oneshot::Sender<()>>,
    served: Option<JoinHandle<()>>,
}

pub(crate) async fn serve(server: ServerBuilder) -> TestServer {
    serve_built(server.mount_all().build().unwrap()).await
}

pub(crate) async fn serve_built(server: Server) -> TestServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let served = tokio::spawn(async move {
        let ended = async { drop(ended.await) };
        server.serve(listener, ended).await.unwrap();
    });
    TestServer { addr, shut_down: Some(end), served: Some(served) }
}

impl TestServer {
    /// A server that the test itself serves.
    pub(crate) fn at(addr: SocketAddr) -> Self {
        Self { addr, shut_down: None, served: None }
    }

    /// Shuts the server down, and waits until it has ended.
    pub(crate) async fn end(mut self) {
        self.shut_down.take();
        if let Some(served) = self.served.take() {
            within_timeout(served).await.unwrap();
        }
    }

    pub(crate) async fn get(&self, path: &str) -> HttpResponse {
        self.send(self.request("GET", path), "").await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> HttpResponse {
        let request = self.request("POST", path);
        let request = request.header("content-type", "application/json");
        self.send(request, &body.to_string()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> HttpResponse {
        self.send(self.request("DELETE", path), "").await
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> hyper::http::request::Builder {
        Request::builder().method(method).uri(path).header("host", self.addr.to_string())
    }

    pub(crate) async fn send(
        &self,
        request: hyper::http::request::Builder,
        body: &str,
    ) -> HttpResponse {
        let response = self.open(request, body).await;
        let (head, body) = response.into_parts();
        let body = within_timeout(body.collect()).await.unwrap().to_bytes();
        HttpResponse { status: head.status.as_u16(), headers: head.headers, body }
    }

    /// Sends a request, and returns the response with its body unread.
    pub(crate) async fn open(
        &self,
        request: hyper::http::request::Builder,
        body: &str,
    ) -> Response<Incoming> {
        let stream = TcpStream::connect(self.addr).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let body = Full::new(Bytes::from(body.to_owned()));
        let response = within_timeout(sender.send_request(request.body(body).unwrap())).await;
        let mut response = response.unwrap();
        // The connection stays open as long as the sender exists.
        let open = Arc::new(std::sync::Mutex::new(sender));
        response.extensions_mut().insert(open);
        response
    }

    /// Reads the events of a conversation.
    pub(crate) async fn events(&self, path: &str, after: Option<u64>) -> SseEvents {
        let after = after.map_or_else(String::new, |after| format!("?after={after}"));
        let request = self.request("GET", &format!("{path}/events{after}"));
        SseEvents::new(self.open(request, "").await)
    }

    /// Sends a message, and returns the sequence number before its first event.
    pub(crate) async fn post_message(&self, path: &str, text: &str) -> u64 {
        let answer = self.post(&format!("{path}/prompt"), json!({ "text": text })).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        answer.json()["seq"].as_u64().unwrap()
    }

    /// Sends a message, and returns all events until the turn ends or pauses.
    pub(crate) async fn post_and_collect(&self, path: &str, text: &str) -> Vec<Value> {
        let after = self.post_message(path, text).await;
        self.events(path, Some(after)).await.collect_turn().await
    }
}

/// A response with its body.
#[derive(Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl HttpResponse {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

/// Server-sent events, one after the other.
pub(crate) struct SseEvents {
    body: Incoming,
    read: String,
    pub(crate) headers: HeaderMap,
    /// Contains the sender, which keeps the connection open.
    _open: hyper::http::Extensions,
}

impl SseEvents {
    pub(crate) fn new(response: Response<Incoming>) -> Self {
        assert_eq!(response.status(), 200);
        let (head, body) = response.into_parts();
        Self { headers: head.headers, _open: head.extensions, body, read: String::new() }
    }

    /// The data of the next event; `None` when the stream has ended.
    pub(crate) async fn next_data(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.read.find("\n\n") {
                let event: String = self.read.drain(..end + 2).collect();
                let mut lines = event.lines();
                if let Some(data) = lines.find_map(|line| line.strip_prefix("data: ")) {
                    return Some(data.to_owned());
                }
                continue;
            }
            let frame = within_timeout(self.body.frame()).await?.ok()?;
            let bytes = frame.into_data().unwrap_or_default();
            self.read.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    pub(crate) async fn next(&mut self) -> Option<Value> {
        let data = self.next_data().await?;
        Some(serde_json::from_str(&data).unwrap_or_else(|_| panic!("{data}")))
    }

    /// Reads until an event of this type.
    pub(crate) async fn read_until(&mut self, kind: &str) -> Value {
        loop {
            let line = self.next().await.expect("the stream ended");
            if line["event"]["type"] == kind {
                return line;
            }
        }
    }

    /// All events until the turn ends or pauses, without sequence numbers.
    pub(crate) async fn collect_turn(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let mut line = self.next().await.expect("the stream ended");
            let event = line["event"].take();
            let last = ["ended", "paused", "error"].contains(&event_type(&event));
            events.push(event);
            if last {
                return events;
            }
        }
    }
}

pub(crate) fn event_type(event: &Value) -> &str {
    event["type"].as_str().unwrap_or_default()
}

/// The types of events in order; consecutive equal ones are counted once.
pub(crate) fn event_types(events: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = events.iter().map(event_type).collect();
    kinds.dedup();
    kinds
}

pub(crate) fn find_event<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let found = events.iter().find(|event| event_type(event) == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {events:#?}"))
}

/// The text of an answer.
pub(crate) fn joined_text(events: &[Value]) -> String {
    let texts = events.iter().filter(|event| event_type(event) == "text");
    texts.filter_map(|event| event["delta"].as_str()).collect()
}

/// A model whose output the test sends.
#[derive(Clone)]
pub(crate) struct ManualModel {
    id: ModelId,
    words: Arc<Mutex<mpsc::UnboundedReceiver<String>>>,
}

/// Sends the output of a [`ManualModel`].
pub(crate) type ManualModelSender = mpsc::UnboundedSender<String>;

impl ManualModel {
    /// A model and its sender: each text is a delta of the answer, an empty text ends it.
    pub(crate) fn new() -> (Self, ManualModelSender) {
        let (sender, words) = mpsc::unbounded_channel();
        let model = Self { id: ModelId::new("puppet", ""), words: Arc::new(Mutex::new(words)) };
        (model, sender)
    }
}

impl Model for ManualModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, _: ModelRequest) -> ModelStream {
        let words = Arc::clone(&self.words);
        let state = (words, String::new(), 0);
        futures::stream::unfold(state, async |(words, mut text, over)| match over {
            0 => {
                let word = words.lock().await.recv().await.unwrap_or_default();
                if word.is_empty() {
                    let item = ModelEvent::Item(Item::text(text.as_str()));
                    return Some((Ok(item), (words, text, 1)));
                }
                text.push_str(&word);
                Some((Ok(ModelEvent::Text(word)), (words, text, 0)))
            }
            1 => {
                let usage = Usage::new(10, 5);
                let finished = ModelEvent::Finished { stop: StopReason::End, usage };
                Some((Ok(finished), (words, text, 2)))
            }
            _ => None,
        })
        .boxed()
    }
}
