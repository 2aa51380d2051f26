//! The sample with a page, over HTTP: as front ends of the AI SDK talk to it, and as the console does.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

#[expect(dead_code, reason = "its main is for people")]
#[path = "../../examples/page.rs"]
mod sample;

/// Sends a request, and returns the body of the answer when it has ended.
async fn ask(address: SocketAddr, what: &str, body: &Value) -> std::io::Result<String> {
    let body = body.to_string();
    let mut connection = TcpStream::connect(address).await?;
    // Of this version an answer simply ends.
    let request = format!(
        "{what} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    connection.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await?;
    let body = answer.split_once("\r\n\r\n").map(|(_, body)| body);
    Ok(body.unwrap_or_default().to_owned())
}

/// The parts of a UI message stream, by their type.
fn parts<'a>(stream: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    stream.iter().filter(move |part| part["type"] == kind)
}

#[tokio::test]
async fn the_page_talks_to_a_rig_agent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let site = sample::site().await.unwrap();
    tokio::spawn(async move { site.serve(listener, std::future::pending()).await });

    let talk = [
        (
            "What is the weather in Paris?",
            "get_weather",
            "Paris: Partly cloudy, 20C / 68F, 65% humidity",
        ),
        // The conversation so far reaches the agent.
        ("And in Tokyo?", "get_weather", "Tokyo: Rainy, 22C / 72F, 90% humidity"),
    ];
    for (question, tool, result) in talk {
        let message =
            json!({"id": "m", "role": "user", "parts": [{"type": "text", "text": question}]});
        let body = json!({"id": "trip", "messages": [message]});
        let stream = ask(address, "POST /api/chat", &body).await.unwrap();
        let stream = stream.lines().filter_map(|line| line.strip_prefix("data: "));
        let stream: Vec<Value> =
            stream.filter_map(|data| serde_json::from_str(data).ok()).collect();
        let call = parts(&stream, "tool-input-available").next().unwrap();
        assert_eq!(call["toolName"], tool);
        let output = parts(&stream, "tool-output-available").next().unwrap();
        assert_eq!(
            (&output["toolCallId"], &output["output"]),
            (&call["toolCallId"], &json!(result))
        );
        let text = parts(&stream, "text-delta").filter_map(|part| part["delta"].as_str());
        assert_eq!(text.collect::<String>(), result);
        let finish = parts(&stream, "finish").next().unwrap();
        assert!(finish["messageMetadata"]["usage"]["input"].as_u64() > Some(0), "{finish}");
    }

    let kept = ask(address, "GET /api/conversations/trip", &Value::Null).await.unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let whats = kept["entries"].as_array().unwrap().iter();
    let whats: Vec<&str> = whats
        .filter_map(|entry| Some(entry["what"].as_object()?.keys().next()?.as_str()))
        .collect();
    assert_eq!(whats, ["user", "step", "finished", "step", "ended"].repeat(2));
    let page = ask(address, "GET /", &Value::Null).await.unwrap();
    assert!(page.starts_with("<!doctype html>"), "{page}");
}
