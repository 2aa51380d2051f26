//! The sample with a page, over HTTP: as front ends of the AI SDK talk to it, and as the console does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use test_support::programs;

/// The running sample, which is killed on drop.
struct Page {
    child: Child,
    address: String,
}

impl Page {
    fn start() -> Self {
        let mut command = Command::new(programs::example("page"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { child, address }
    }

    /// Sends a request, and returns the body of the answer when it has ended.
    fn ask(&self, what: &str, body: &Value) -> String {
        let body = body.to_string();
        let mut connection = TcpStream::connect(&self.address).unwrap();
        // Of this version an answer simply ends.
        let request = format!(
            "{what} HTTP/1.0\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned()).unwrap_or_default()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The parts of a UI message stream, by their type.
fn parts<'a>(stream: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    stream.iter().filter(move |part| part["type"] == kind)
}

#[test]
fn the_page_talks_to_a_rig_agent() {
    let page = Page::start();
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
        let stream = page.ask("POST /api/chat", &body);
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

    let kept = page.ask("GET /api/conversations/trip", &Value::Null);
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let whats = kept["entries"].as_array().unwrap().iter();
    let whats: Vec<&str> = whats
        .filter_map(|entry| Some(entry["what"].as_object()?.keys().next()?.as_str()))
        .collect();
    assert_eq!(whats, ["user", "step", "finished", "step", "ended"].repeat(2));
    let html = page.ask("GET /", &Value::Null);
    assert!(html.starts_with("<!doctype html>"), "{html}");
}
