//! A local server of the Chat Completions API with scripted responses, one per request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

/// A scripted response.
pub(crate) enum MockAnswer {
    /// A text, in deltas.
    Text(&'static [&'static str]),
    /// A call.
    Call(&'static str, Value),
    /// An error response with this status.
    Error(u16, &'static str),
    /// A text whose stream does not end.
    Unfinished(&'static str),
    /// Another response, after a connection to this listener.
    After(TcpListener, Box<MockAnswer>),
}

pub(crate) struct MockVendor {
    pub(crate) base: String,
    next_request: Receiver<Value>,
}

impl MockVendor {
    /// Serves these responses, then closes the listener.
    pub(crate) fn answering(answers: impl IntoIterator<Item = MockAnswer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<MockAnswer> = answers.into_iter().collect();
        let (sender, asked) = channel();
        std::thread::spawn(move || {
            let mut open = Vec::new();
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = sender.send(request(&stream));
                // A client that has cancelled does not read on.
                let _ = write(&mut stream, &answer);
                if let MockAnswer::Unfinished(_) = answer {
                    open.push(stream);
                }
            }
            // A stream without an end stays open until the next request.
            let _ = listener.accept();
        });
        Self { base, next_request: asked }
    }

    /// The body of the next request.
    pub(crate) fn asked(&self) -> Value {
        self.next_request.recv().unwrap()
    }
}

fn request(stream: &TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).unwrap() > 2 {
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

fn write(stream: &mut TcpStream, answer: &MockAnswer) -> std::io::Result<()> {
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": &reason });
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11 });
        let usage = if reason.is_null() { Value::Null } else { usage };
        let chunk = json!({ "id": "1", "choices": [choice], "usage": usage });
        format!("data: {chunk}\n\n")
    };
    let text = |text: &str| chunk(json!({ "content": text }), Value::Null);
    let end = |reason: &str| chunk(json!({}), reason.into()) + "data: [DONE]\n\n";
    let (status, kind, body) = match answer {
        MockAnswer::Text(pieces) => {
            let pieces: String = pieces.iter().map(|piece| text(piece)).collect();
            (200, "text/event-stream", pieces + &end("stop"))
        }
        MockAnswer::Call(name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let call =
                json!({ "index": 0, "id": "call_1", "type": "function", "function": function });
            let call = chunk(json!({ "tool_calls": [call] }), Value::Null);
            (200, "text/event-stream", call + &end("tool_calls"))
        }
        MockAnswer::Error(status, message) => {
            let body = json!({ "error": { "message": message } }).to_string();
            (*status, "application/json", body)
        }
        MockAnswer::Unfinished(beginning) => (200, "text/event-stream", text(beginning)),
        MockAnswer::After(gate, answer) => {
            gate.accept()?;
            return write(stream, answer);
        }
    };
    write!(
        stream,
        "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n{body}"
    )?;
    stream.flush()
}
