//! A server on loopback HTTP with the responses of a test.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) headers: HashMap<String, String>,
    pub(crate) message: Value,
}

impl ReceivedRequest {
    pub(crate) fn method(&self) -> &str {
        self.message["method"].as_str().unwrap_or_default()
    }

    /// Answers with a result.
    pub(crate) fn result(&self, mut result: Value) -> ScriptedResponse {
        result["resultType"] = json!("complete");
        ScriptedResponse::Json(
            json!({"jsonrpc": "2.0", "id": self.message["id"], "result": result}),
        )
    }
}

/// How a request is answered.
pub(crate) enum ScriptedResponse {
    Json(Value),
    /// A status, its headers and its body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// The beginning of an answer of this kind, then this again and again.
    Endless(&'static str, &'static str, &'static str),
    /// An answer word for word.
    Raw(String),
    /// Events, then silence.
    Events(Vec<Value>),
    /// Half an answer, then the end of the connection.
    Half,
    /// Nothing, ever.
    Silence,
}

/// A server; it ends when it is dropped.
pub(crate) struct ScriptedHttpServer {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    task: JoinHandle<()>,
}

impl ScriptedHttpServer {
    pub(crate) async fn open(
        answer: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (answer, log) = (Arc::new(answer), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, log) = (Arc::clone(&answer), Arc::clone(&log));
                connections.spawn(async move {
                    let mut stream = BufReader::new(stream);
                    if let Some(asked) = read(&mut stream).await {
                        log.lock().unwrap().push(asked.clone());
                        let _ = write(stream.into_inner(), answer(&asked)).await;
                    }
                });
            }
        });
        Self { url, requests: asked, task }
    }

    /// A server of the stateless revision, with these tools; `call` answers their calls.
    pub(crate) async fn with_tools(
        tools: Value,
        call: impl Fn(&ReceivedRequest) -> ScriptedResponse + Send + Sync + 'static,
    ) -> Self {
        Self::open(move |asked| match asked.method() {
            "server/discover" => discover_response(asked),
            "tools/list" => list_response(asked, &tools),
            _ => call(asked),
        })
        .await
    }

    /// All requests so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for ScriptedHttpServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(crate) fn discover_response(asked: &ReceivedRequest) -> ScriptedResponse {
    asked.result(json!({
        "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
        "ttlMs": 0, "cacheScope": "private"
    }))
}

pub(crate) fn list_response(asked: &ReceivedRequest, tools: &Value) -> ScriptedResponse {
    asked.result(json!({"tools": tools, "ttlMs": 0, "cacheScope": "private"}))
}

/// A tool without parameters.
pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

/// A result of one text.
pub(crate) fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut headers = HashMap::new();
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Some(ReceivedRequest { headers, message })
}

async fn write(mut stream: TcpStream, reply: ScriptedResponse) -> std::io::Result<()> {
    let head = |status: u16, kind: &str| {
        format!("HTTP/1.1 {status} Said\r\nconnection: close\r\ncontent-type: {kind}\r\n")
    };
    match reply {
        ScriptedResponse::Json(value) => {
            let body = value.to_string();
            let head = head(200, "application/json");
            let whole = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(whole.as_bytes()).await?;
        }
        ScriptedResponse::Status(status, headers, body) => {
            let mut whole = head(status, "text/plain");
            for (name, value) in headers {
                whole += &format!("{name}: {value}\r\n");
            }
            whole += &format!("content-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(whole.as_bytes()).await?;
        }
        ScriptedResponse::Endless(kind, start, again) => {
            let start = format!("{}\r\n{start}", head(200, kind));
            stream.write_all(start.as_bytes()).await?;
            let again = again.repeat(1 + 65_536 / again.len());
            loop {
                stream.write_all(again.as_bytes()).await?;
            }
        }
        ScriptedResponse::Raw(whole) => stream.write_all(whole.as_bytes()).await?,
        ScriptedResponse::Events(events) => {
            let mut whole = format!("{}\r\n", head(200, "text/event-stream"));
            for event in events {
                whole += &format!("data: {event}\n\n");
            }
            stream.write_all(whole.as_bytes()).await?;
            std::future::pending().await
        }
        ScriptedResponse::Half => {
            let start = format!("{}content-length: 1000\r\n\r\n{{", head(200, "application/json"));
            stream.write_all(start.as_bytes()).await?;
        }
        ScriptedResponse::Silence => std::future::pending().await,
    }
    stream.shutdown().await
}
