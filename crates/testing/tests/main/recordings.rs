//! Recordings are replayed unchanged, and contain no secrets.

use std::fs;
use std::path::{Path, PathBuf};

use futures::{StreamExt as _, TryStreamExt as _};
use toolwright::chat::{HostedTool, Model as _, ModelErrorKind, ModelEvent, ModelRequest};
use toolwright::models::{Bytes, ModelBuilder, Transport, Vendor, WireHeader, WireRequest};
use toolwright::testing::{CannedResponse, CannedTransport, Recorder, Recording, Replayer};
use toolwright::{Config, ConfigSources, Secret, Tool};

use crate::chat;

const HELLO: &str = "{\"message\":{\"content\":\"Grüß \"}}\n{\"message\":{\"content\":\"dich 🌍\"},\"done\":true}\n";

fn ollama(transport: impl Transport) -> ModelBuilder {
    let builder = Vendor::by_name("ollama").unwrap().model("qwen3");
    builder.transport(transport)
}

fn request(path: &str, body: &str) -> WireRequest {
    let url = format!("https://vendor.example{path}").parse().unwrap();
    let mut request = WireRequest::new(url, body);
    let key = WireHeader::sensitive("authorization", "Bearer hunter2-hunter2");
    request.headers.push(key);
    request
}

async fn body_chunks(transport: &impl Transport, request: WireRequest) -> Vec<Bytes> {
    let response = transport.send(request).await.unwrap();
    let chunks: Vec<_> = response.body.collect().await;
    chunks.into_iter().map(Result::unwrap).collect()
}

/// The recording of one request and its response.
async fn recorded(request: WireRequest, canned: CannedResponse) -> Recording {
    let recorder = Recorder::new(CannedTransport::new([canned]));
    body_chunks(&recorder, request).await;
    recorder.recording()
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_replayed_as_it_was() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("below").join("hello.json");
    let transport = CannedTransport::new([
        CannedResponse::error(503, r#"{"error":"busy"}"#).header("retry-after", "3"),
        // In the middle of two characters.
        CannedResponse::in_chunks(HELLO, &[28, 70]).header("content-type", "application/x-ndjson"),
    ]);
    let recorder = Recorder::new(transport);
    let model = ollama(recorder.clone()).build().unwrap();
    let stream = model.stream(ModelRequest::default());
    let live: Vec<ModelEvent> = stream.try_collect().await.unwrap();
    assert!(matches!(&live[2], ModelEvent::Text(text) if text == "dich 🌍"));
    recorder.save(&file).unwrap();
    assert_eq!(Recording::load(&file).unwrap(), recorder.recording());

    let replayer = Replayer::open(&file).unwrap();
    let model = ollama(replayer.clone()).build().unwrap();
    let stream = model.stream(ModelRequest::default());
    let again: Vec<ModelEvent> = stream.try_collect().await.unwrap();
    assert_eq!(format!("{again:?}"), format!("{live:?}"));
    assert_eq!(replayer.remaining(), 0);
}

#[tokio::test]
async fn chunks_are_replayed_as_they_came() {
    let bodies: [(&[u8], &[usize]); 4] = [
        (HELLO.as_bytes(), &[1, 28, 29, 70]),
        (b"\xff\x00\xfe not text", &[2]),
        (b"", &[]),
        (b"a\r\n\r\nb\n", &[3]),
    ];
    for (body, cuts) in bodies {
        let canned = CannedResponse::in_chunks(body, cuts);
        let sent: Vec<Bytes> =
            canned.chunks.iter().filter(|chunk| !chunk.is_empty()).cloned().collect();
        let recording = recorded(request("/v1/x", "{}"), canned).await;
        let text = serde_json::to_string(&recording).unwrap();
        let replayer = Replayer::new(serde_json::from_str(&text).unwrap());
        let again = body_chunks(&replayer, request("/v1/x", "{}")).await;
        assert_eq!(again, sent);
    }
}

#[tokio::test]
async fn no_secret_and_no_host_is_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secrets.json");
    let body = r#"{"tools":[{"type":"mcp","authorization":"wiki-secret"}],"user":"ada@example.org","note":"pass-word"}"#;
    let answer = "keys: hunter2-hunter2 wiki-secret pass-word ada@example.org";
    let recorder = Recorder::new(CannedTransport::new([CannedResponse::ok(answer)]))
        .secret(&Secret::new("pass-word"))
        .redact_with(|text| text.replace("ada@", "someone@"));
    body_chunks(&recorder, request("/v1/x?key=in-the-address&alt=sse", body)).await;
    recorder.save(&file).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    for secret in
        ["hunter2", "wiki-secret", "in-the-address", "pass-word", "ada@", "vendor.example"]
    {
        assert!(!text.contains(secret), "{secret} is in {text}");
    }
    for kept in ["/v1/x?key=***&alt=sse", "someone@example.org", "keys: *** *** ***"] {
        assert!(text.contains(kept), "{kept} is not in {text}");
    }
    // A request with other secrets matches.
    let replayer =
        Replayer::open(&file).unwrap().redact_with(|text| text.replace("ada@", "someone@"));
    let body = body.replace("wiki-secret", "other").replace("pass-word", "another");
    body_chunks(&replayer, request("/v1/x?key=other&alt=sse", &body)).await;
}

#[tokio::test]
async fn the_key_of_a_hosted_server_is_not_recorded() {
    let groups = ConfigSources::new().defaults([
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP.authorization", "Bearer hunter2-hunter2"),
    ]);
    let group = Config::load(groups).unwrap().config.mcp_servers().unwrap().remove(0);
    for vendor in ["openai", "anthropic"] {
        let recorder = Recorder::new(CannedTransport::new([CannedResponse::ok("")]));
        let builder =
            Vendor::by_name(vendor).unwrap().model("m").api_key(Secret::new("a secret key"));
        let model = builder.transport(recorder.clone()).build().unwrap();
        let mut request = ModelRequest::default();
        request.hosted_tools = vec![HostedTool::Mcp(group.clone())];
        model.stream(request).collect::<Vec<_>>().await;
        let text = serde_json::to_string(&recorder.recording()).unwrap();
        assert!(text.contains("wiki.example") && text.contains("***"), "{text}");
        assert!(!text.contains("hunter2") && !text.contains("a secret key"), "{text}");
    }
}

#[tokio::test]
async fn another_request_fails_with_the_first_difference() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Hi"}]}"#;
    let recording = recorded(request("/v1/x", body), CannedResponse::ok("ok")).await;
    let error_message = async |request: WireRequest| {
        let error = Replayer::new(recording.clone()).send(request).await.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Forbidden);
        assert!(!error.is_transient());
        error.message
    };
    let other = error_message(request("/v1/x", &body.replace("Hi", "Ho"))).await;
    assert_eq!(
        other,
        "request 1 is not the recorded one at /messages/0/content: recorded `\"Hi\"`, sent `\"Ho\"`; \
         record it again if it is right"
    );
    let elsewhere = error_message(request("/v2/x", body)).await;
    assert!(elsewhere.contains("in its path: recorded `/v1/x`, sent `/v2/x`"), "{elsewhere}");
    // The order of keys does not count.
    let replayer = Replayer::new(recording);
    let turned = r#"{"messages":[{"content":"Hi","role":"user"}],"model":"m"}"#;
    assert_eq!(body_chunks(&replayer, request("/v1/x", turned)).await, ["ok"]);
    let more = replayer.send(request("/v1/x", turned)).await.unwrap_err();
    assert_eq!(more.kind, ModelErrorKind::Forbidden);
    assert!(more.message.contains("has 1 requests, and this is one more"), "{more}");
}

#[tokio::test]
async fn a_dropped_response_is_recorded_as_far_as_it_came() {
    let canned = CannedResponse::in_chunks(HELLO, &[20]).hanging();
    let recorder = Recorder::new(CannedTransport::new([canned]));
    let mut response = recorder.send(request("/v1/x", "{}")).await.unwrap();
    response.body.next().await.unwrap().unwrap();
    let saved = recorder.save("never written");
    assert!(saved.unwrap_err().to_string().contains("still being read"));
    drop(response);
    let replayer = Replayer::new(recorder.recording());
    let response = replayer.send(request("/v1/x", "{}")).await.unwrap();
    let chunks: Vec<_> = response.body.collect().await;
    assert_eq!(chunks[0].as_ref().unwrap().len(), 20);
    assert_eq!(chunks[1].as_ref().unwrap_err().kind, ModelErrorKind::Network);
}

#[tokio::test]
async fn a_file_is_complete_or_not_written() {
    let directory = tempfile::tempdir().unwrap();
    let names = || {
        let entries = fs::read_dir(directory.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let nothing = Recorder::new(CannedTransport::default()).save(directory.path().join("a.json"));
    assert!(nothing.is_err() && names().is_empty());
    // A directory cannot be replaced by a file.
    let recording = recorded(request("/v1/x", "{}"), CannedResponse::ok("ok")).await;
    fs::create_dir_all(directory.path().join("a.json").join("inside")).unwrap();
    assert!(recording.save(directory.path().join("a.json")).is_err());
    assert_eq!(names(), ["a.json"]);
    recording.save(directory.path().join("b.json")).unwrap();
    assert_eq!(names(), ["a.json", "b.json"]);
}

/// The recording in this repository, which pins the file format.
fn weather_recording() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/weather.json")
}

#[tokio::test]
async fn the_recording_at_hand_is_replayed_and_written_as_it_is() {
    let replayer = Replayer::open(weather_recording()).unwrap();
    let recorder = Recorder::new(replayer);
    let model = ollama(recorder.clone()).build().unwrap();
    let weather = Tool::builder("weather", "Tells the weather.")
        .param::<String>("city", "Where.")
        .run(|_, _| "sunny")
        .unwrap();
    let clock = Tool::builder("clock", "Tells the time.").run(|_, _| "noon").unwrap();
    let chat = chat(model, vec![weather, clock]);
    let response = chat.message().user("How is it there?").call().await.unwrap();
    assert_eq!(response.text(), "It is sunny in Rome.");
    let directory = tempfile::tempdir().unwrap();
    let again = directory.path().join("weather.json");
    recorder.save(&again).unwrap();
    assert_eq!(
        fs::read_to_string(again).unwrap(),
        fs::read_to_string(weather_recording()).unwrap()
    );
}

#[test]
fn a_file_that_is_no_recording_is_an_error_with_its_path() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("broken.json");
    let message = Recording::load(&file).unwrap_err().to_string();
    assert!(message.contains("broken.json"), "{message}");
    fs::write(&file, "[{]").unwrap();
    let message = Recording::load(&file).unwrap_err().to_string();
    assert!(message.contains("broken.json") && message.contains("line 1"), "{message}");
}
