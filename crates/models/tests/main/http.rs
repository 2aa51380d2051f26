//! The one transport that opens connections, against a server of this machine.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolwright_chat::{Model, ModelErrorKind, ModelEvent};
use toolwright_core::{Config, ConfigSources, Secret};
use toolwright_models::{HttpTransport, Timeouts, Vendor, forbid_live_requests};

use crate::canned_transport::{ask, weather_request};

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n";
const HELLO: &str = "{\"message\":{\"content\":\"Hello\"}}\n";
const DONE: &str = "{\"message\":{\"content\":\" there.\"},\"done\":true}\n";

/// A server that waits for one connection.
async fn listen() -> (TcpListener, String) {
    // Nothing in this file may reach further than this machine.
    forbid_live_requests();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    (listener, address)
}

/// Reads a whole request, and returns it as text.
async fn read_request(connection: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut buffer = [0; 4_096];
        let read = connection.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the request ends too early");
        text.extend_from_slice(&buffer[..read]);
        let told = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = told.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        let length = head.split_once("content-length: ");
        let length = length.map_or("0", |(_, rest)| rest.lines().next().unwrap());
        let length: usize = length.parse().unwrap();
        if body.len() >= length {
            return told;
        }
    }
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn model(base: &str, patience: Timeouts) -> Arc<dyn Model> {
    let connect = Vendor::by_name("ollama").unwrap().model("qwen3");
    let connect = connect.base_url(base).api_key(Secret::new("hunter2"));
    connect.timeouts(patience).build().unwrap()
}

/// Makes one attempt, and waits hardly at all for what `hurry` names.
fn timeouts_with(hurry: fn(&mut Timeouts) -> &mut Duration) -> Timeouts {
    let mut patience = Timeouts::default();
    patience.retries = 0;
    *hurry(&mut patience) = Duration::from_millis(20);
    patience
}

/// Answers with these bytes, and then waits for the other side to go.
fn respond_with(listener: TcpListener, bytes: String) -> JoinHandle<String> {
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let asked = read_request(&mut connection).await;
        connection.write_all(bytes.as_bytes()).await.unwrap();
        let mut rest = [0; 16];
        // Nothing more is asked: this ends when the connection does, in peace or not.
        while connection.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        asked
    })
}

#[tokio::test]
async fn models_are_listed_with_a_get_request() {
    let (listener, base) = listen().await;
    let body = r#"{"models":[{"name":"qwen3:8b"}]}"#;
    let length = body.len();
    let server = respond_with(
        listener,
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"),
    );
    let sources = ConfigSources::new().defaults([("models.ollama.base_url", base.as_str())]);
    let config = Config::load(sources).unwrap().config;
    let ollama = Vendor::by_name("ollama").unwrap();
    let names = ollama.list_models(&config, &HttpTransport::new()).await;
    assert_eq!(names.unwrap(), ["qwen3:8b"]);
    let request = server.await.unwrap();
    assert!(
        request.starts_with("GET /api/tags HTTP/1.1\r\n"),
        "{request}"
    );
}

#[tokio::test]
async fn pieces_arrive_as_they_are_sent() {
    let (listener, base) = listen().await;
    let (got_it, goes_on) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let asked = read_request(&mut connection).await;
        let beginning = HEAD.to_owned() + &chunk(HELLO);
        connection.write_all(beginning.as_bytes()).await.unwrap();
        // The rest is not even written before the beginning has been read.
        goes_on.await.unwrap();
        let end = chunk(DONE) + "0\r\n\r\n";
        connection.write_all(end.as_bytes()).await.unwrap();
        asked
    });
    let mut answer = model(&base, Timeouts::default()).stream(weather_request());
    assert!(matches!(
        answer.next().await,
        Some(Ok(ModelEvent::RequestSent(_)))
    ));
    let first = answer.next().await.unwrap().unwrap();
    assert!(matches!(first, ModelEvent::Text(text) if text == "Hello"));
    got_it.send(()).unwrap();
    let rest: Vec<_> = answer.collect().await;
    assert!(matches!(rest.last(), Some(Ok(ModelEvent::Finished { .. }))));
    let asked = server.await.unwrap();
    assert!(asked.starts_with("POST /api/chat HTTP/1.1\r\n"), "{asked}");
    assert!(
        asked.contains("authorization: Bearer hunter2\r\n"),
        "{asked}"
    );
    assert!(
        asked.contains("content-type: application/json\r\n"),
        "{asked}"
    );
    assert!(asked.contains(r#""model":"qwen3""#), "{asked}");
}

#[tokio::test]
async fn dropping_the_answer_closes_the_connection() {
    let (listener, base) = listen().await;
    let server = respond_with(listener, HEAD.to_owned() + &chunk(HELLO));
    let mut answer = model(&base, Timeouts::default()).stream(weather_request());
    while !matches!(answer.next().await, Some(Ok(ModelEvent::Text(_)))) {}
    assert!(!server.is_finished());
    drop(answer);
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_sends_nothing_times_out() {
    let (_listener, base) = listen().await;
    let hurried = timeouts_with(|patience| &mut patience.first_byte);
    let error = ask(&model(&base, hurried), weather_request())
        .await
        .error
        .unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    assert!(error.message.starts_with("nothing was answered"), "{error}");
}

#[tokio::test]
async fn a_server_that_stops_is_left() {
    let (listener, base) = listen().await;
    let server = respond_with(listener, HEAD.to_owned() + &chunk(HELLO));
    let hurried = timeouts_with(|patience| &mut patience.idle);
    let told = ask(&model(&base, hurried), weather_request()).await;
    assert_eq!(told.texts(), ["Hello"]);
    let error = told.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    assert!(error.message.starts_with("the answer stopped"), "{error}");
    server.await.unwrap();
}

#[tokio::test]
async fn a_line_that_is_cut_is_an_error() {
    let (listener, base) = listen().await;
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        read_request(&mut connection).await;
        let beginning = HEAD.to_owned() + &chunk(HELLO);
        connection.write_all(beginning.as_bytes()).await.unwrap();
    });
    let told = ask(&model(&base, Timeouts::default()), weather_request()).await;
    assert_eq!(told.texts(), ["Hello"]);
    assert_eq!(told.error.unwrap().kind, ModelErrorKind::Network);
}

#[tokio::test]
async fn a_connection_that_fails_is_an_error() {
    let (listener, base) = listen().await;
    drop(listener);
    let hurried = timeouts_with(|patience| &mut patience.idle);
    let error = ask(&model(&base, hurried), weather_request())
        .await
        .error
        .unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_key_is_not_carried_to_where_a_redirect_leads() {
    let (elsewhere, other) = listen().await;
    let (listener, base) = listen().await;
    let moved = format!("HTTP/1.1 307 Moved\r\nlocation: {other}\r\ncontent-length: 0\r\n\r\n");
    let server = respond_with(listener, moved);
    let told = ask(&model(&base, Timeouts::default()), weather_request()).await;
    assert_eq!(told.error.unwrap().kind, ModelErrorKind::BadRequest);
    server.await.unwrap();
    let nobody = futures::FutureExt::now_or_never(elsewhere.accept());
    assert!(nobody.is_none());
}

/// Asks at an address that does not say it is this machine; the door behind it is closed.
async fn live() -> ModelErrorKind {
    let patience = timeouts_with(|patience| &mut patience.idle);
    let connect = Vendor::by_name("openai").unwrap().model("gpt-5");
    let connect = connect
        .base_url("http://0.0.0.0:1")
        .api_key(Secret::new("a key"));
    let model = connect.timeouts(patience).build().unwrap();
    let error = ask(&model, weather_request()).await.error.unwrap();
    let helps = error.message.contains("`Replayer`") && error.message.contains("scripted model");
    assert_eq!(helps, error.kind == ModelErrorKind::Forbidden, "{error}");
    error.kind
}

#[tokio::test]
async fn live_requests_can_be_forbidden() {
    forbid_live_requests();
    assert_eq!(live().await, ModelErrorKind::Forbidden);
}

/// The other half of the test below, which sets the variable for a process of its own.
#[tokio::test]
async fn the_environment_variable_counts() {
    if std::env::var_os("TOOLWRIGHT_FORBID_LIVE").is_some() {
        assert_eq!(live().await, ModelErrorKind::Forbidden);
    }
}

#[test]
fn a_variable_forbids_live_requests_too() {
    let child = |value: &str| {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "http::the_environment_variable_counts"])
            .env("TOOLWRIGHT_FORBID_LIVE", value)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(told.contains("running 1 test"), "{told}");
        output.status.success()
    };
    assert!(child("1"));
    // Then it fails because nobody opens.
    assert!(!child("0"));
}
