//! The HTTP transport, against a server on this machine.

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

/// Reads a complete request, and returns it as text.
async fn read_request(connection: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut buffer = [0; 4_096];
        let read = connection.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the request ends too early");
        text.extend_from_slice(&buffer[..read]);
        let request = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = request.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        let length = head.split_once("content-length: ");
        let length = length.map_or("0", |(_, rest)| rest.lines().next().unwrap());
        let length: usize = length.parse().unwrap();
        if body.len() >= length {
            return request;
        }
    }
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

fn model(base: &str, timeouts: Timeouts) -> Arc<dyn Model> {
    let builder = Vendor::by_name("ollama").unwrap().model("qwen3");
    let builder = builder.base_url(base).api_key(Secret::new("hunter2"));
    builder.timeouts(timeouts).build().unwrap()
}

/// No retries, and a timeout of 20 ms in the selected field.
fn timeouts_with(select: fn(&mut Timeouts) -> &mut Duration) -> Timeouts {
    let mut timeouts = Timeouts::default();
    timeouts.retries = 0;
    *select(&mut timeouts) = Duration::from_millis(20);
    timeouts
}

/// Responds with these bytes, then waits until the client closes the connection.
fn respond_with(listener: TcpListener, bytes: String) -> JoinHandle<String> {
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let request = read_request(&mut connection).await;
        connection.write_all(bytes.as_bytes()).await.unwrap();
        let mut rest = [0; 16];
        // Ends when the connection does, with or without an error.
        while connection.read(&mut rest).await.is_ok_and(|read| read > 0) {}
        request
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
    assert!(request.starts_with("GET /api/tags HTTP/1.1\r\n"), "{request}");
}

#[tokio::test]
async fn chunks_arrive_as_they_are_sent() {
    let (listener, base) = listen().await;
    let (first_read, continue_response) = oneshot::channel();
    let server = tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        let request = read_request(&mut connection).await;
        let start = HEAD.to_owned() + &chunk(HELLO);
        connection.write_all(start.as_bytes()).await.unwrap();
        // The rest is written only after the start has been read.
        continue_response.await.unwrap();
        let end = chunk(DONE) + "0\r\n\r\n";
        connection.write_all(end.as_bytes()).await.unwrap();
        request
    });
    let mut stream = model(&base, Timeouts::default()).stream(weather_request());
    assert!(matches!(stream.next().await, Some(Ok(ModelEvent::RequestSent(_)))));
    let first = stream.next().await.unwrap().unwrap();
    assert!(matches!(first, ModelEvent::Text(text) if text == "Hello"));
    first_read.send(()).unwrap();
    let rest: Vec<_> = stream.collect().await;
    assert!(matches!(rest.last(), Some(Ok(ModelEvent::Finished { .. }))));
    let request = server.await.unwrap();
    assert!(request.starts_with("POST /api/chat HTTP/1.1\r\n"), "{request}");
    assert!(request.contains("authorization: Bearer hunter2\r\n"), "{request}");
    assert!(request.contains("content-type: application/json\r\n"), "{request}");
    assert!(request.contains(r#""model":"qwen3""#), "{request}");
}

#[tokio::test]
async fn dropping_the_response_closes_the_connection() {
    let (listener, base) = listen().await;
    let server = respond_with(listener, HEAD.to_owned() + &chunk(HELLO));
    let mut stream = model(&base, Timeouts::default()).stream(weather_request());
    while !matches!(stream.next().await, Some(Ok(ModelEvent::Text(_)))) {}
    assert!(!server.is_finished());
    drop(stream);
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_sends_nothing_times_out() {
    let (_listener, base) = listen().await;
    let timeouts = timeouts_with(|timeouts| &mut timeouts.first_byte);
    let error = ask(&model(&base, timeouts), weather_request()).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    let expected = format!("ollama does not answer at {base}: nothing was answered");
    assert!(error.message.starts_with(&expected), "{error}");
}

#[tokio::test]
async fn a_server_that_stops_times_out() {
    let (listener, base) = listen().await;
    let server = respond_with(listener, HEAD.to_owned() + &chunk(HELLO));
    let timeouts = timeouts_with(|timeouts| &mut timeouts.idle);
    let collected = ask(&model(&base, timeouts), weather_request()).await;
    assert_eq!(collected.texts(), ["Hello"]);
    let error = collected.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Timeout);
    assert!(error.message.starts_with("ollama: the answer stopped"), "{error}");
    server.await.unwrap();
}

#[tokio::test]
async fn a_line_that_is_cut_is_an_error() {
    let (listener, base) = listen().await;
    tokio::spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        read_request(&mut connection).await;
        let start = HEAD.to_owned() + &chunk(HELLO);
        connection.write_all(start.as_bytes()).await.unwrap();
    });
    let collected = ask(&model(&base, Timeouts::default()), weather_request()).await;
    assert_eq!(collected.texts(), ["Hello"]);
    assert_eq!(collected.error.unwrap().kind, ModelErrorKind::Network);
}

#[tokio::test]
async fn a_connection_that_fails_is_an_error() {
    let (listener, base) = listen().await;
    drop(listener);
    let timeouts = timeouts_with(|timeouts| &mut timeouts.idle);
    let error = ask(&model(&base, timeouts), weather_request()).await.error.unwrap();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.starts_with(&format!("ollama does not answer at {base}: ")), "{error}");
    assert!(error.message.ends_with("start it with `ollama serve`"), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_key_is_not_sent_to_the_target_of_a_redirect() {
    let (elsewhere, other) = listen().await;
    let (listener, base) = listen().await;
    let moved = format!("HTTP/1.1 307 Moved\r\nlocation: {other}\r\ncontent-length: 0\r\n\r\n");
    let server = respond_with(listener, moved);
    let collected = ask(&model(&base, Timeouts::default()), weather_request()).await;
    assert_eq!(collected.error.unwrap().kind, ModelErrorKind::BadRequest);
    server.await.unwrap();
    let connection = futures::FutureExt::now_or_never(elsewhere.accept());
    assert!(connection.is_none());
}

/// Sends a request to an address that is not a loopback one, but where nothing listens.
async fn live() -> ModelErrorKind {
    let timeouts = timeouts_with(|timeouts| &mut timeouts.idle);
    let builder = Vendor::by_name("openai").unwrap().model("gpt-5");
    let builder = builder.base_url("http://0.0.0.0:1").api_key(Secret::new("a key"));
    let model = builder.timeouts(timeouts).build().unwrap();
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

/// Run by the test below in a process that has the variable.
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
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(stdout.contains("running 1 test"), "{stdout}");
        output.status.success()
    };
    assert!(child("1"));
    // Then the request is sent, and fails because nothing listens.
    assert!(!child("0"));
}
