//! A client that sends exactly what a test writes.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use toolwright_mcp::McpServer;

/// A server on a port of the system's choice; ended when it is dropped.
pub struct RunningServer {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Ends it.
    pub end: Option<oneshot::Sender<()>>,
    /// The task that serves.
    pub running: Option<JoinHandle<()>>,
}

/// Serves over HTTP.
pub async fn serve(server: &McpServer) -> RunningServer {
    let bound = server.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let (end, ended) = oneshot::channel::<()>();
    let addr = bound.addr();
    let running = tokio::spawn(async move {
        bound
            .run(async {
                let _ = ended.await;
            })
            .await
            .unwrap();
    });
    RunningServer { addr, end: Some(end), running: Some(running) }
}

/// What came back.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The status code; 0 if none came.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The body, its chunks joined.
    pub body: String,
}

impl HttpAnswer {
    /// The body, which has to be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of the JSON-RPC error; 0 without one.
    pub fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

/// A connection on which nothing happens unasked.
pub struct RawConnection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl RawConnection {
    /// Connects.
    pub async fn open(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).await.unwrap();
        Self { stream, read: Vec::new() }
    }

    /// Writes bytes as they are.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// Reads until a text has come; returns all up to and with it.
    pub async fn until(&mut self, text: &str) -> String {
        loop {
            let read = String::from_utf8_lossy(&self.read).into_owned();
            if let Some(at) = read.find(text) {
                let end = at + text.len();
                self.read.drain(..end);
                return read[..end].to_owned();
            }
            let more = self.stream.read_buf(&mut self.read).await.unwrap();
            assert!(more > 0, "the server closed after: {read}");
        }
    }

    /// Reads to the end.
    pub async fn rest(mut self) -> HttpAnswer {
        let _ = self.stream.read_to_end(&mut self.read).await;
        let text = String::from_utf8_lossy(&self.read).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
        let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        HttpAnswer {
            status: status.unwrap_or_default(),
            head: head.to_owned(),
            body: match chunked {
                true => decode_chunked(body),
                false => body.to_owned(),
            },
        }
    }
}

fn decode_chunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&rest[..size]);
        body = rest[size..].trim_start_matches("\r\n");
    }
    whole
}

/// Writes a request whole.
pub fn http_request(method: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut text = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
    let has_header = |name: &str| headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    for (name, value) in [
        ("Host", "localhost"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ] {
        if !has_header(name) {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !has_header("Content-Length") && !has_header("Transfer-Encoding") {
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    format!("{text}\r\n{body}")
}

/// Sends a request on a connection of its own, and reads the response to its end.
pub async fn send(addr: SocketAddr, text: impl AsRef<[u8]>) -> HttpAnswer {
    let mut wire = RawConnection::open(addr).await;
    wire.send(text).await;
    wire.rest().await
}

/// Sends a request with headers and a body.
pub async fn post(addr: SocketAddr, headers: &[(&str, &str)], body: &Value) -> HttpAnswer {
    send(addr, http_request("POST", headers, &body.to_string())).await
}

/// A request of 2026-07-28, with the headers that belong to it.
pub fn stateless_request(id: u32, method: &str, params: Value) -> String {
    stateless_request_with(id, method, params, json!({}))
}

/// The same with capabilities of the client.
pub fn stateless_request_with(id: u32, method: &str, params: Value, capabilities: Value) -> String {
    let body = stateless_body(id, method, params, capabilities);
    let name = body["params"]["name"].as_str().unwrap_or_default().to_owned();
    let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    if !name.is_empty() {
        headers.push(("Mcp-Name", &name));
    }
    http_request("POST", &headers, &body.to_string())
}

/// The body of a request of 2026-07-28.
pub fn stateless_body(id: u32, method: &str, mut params: Value, capabilities: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The body of a request of the revisions with sessions.
pub fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The first request of a session.
pub fn initialize(version: &str, capabilities: Value) -> Value {
    let info = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": info });
    request(0, "initialize", params)
}

/// Opens a session, and returns its id.
pub async fn open_session(addr: SocketAddr, version: &str, capabilities: Value) -> String {
    let answer = post(addr, &[], &initialize(version, capabilities)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["result"]["protocolVersion"], version);
    answer.header("Mcp-Session-Id").unwrap().to_owned()
}

/// Calls a tool without a session.
pub async fn call(addr: SocketAddr, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    let answer = send(addr, stateless_request(1, "tools/call", params)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["result"].clone()
}

/// Sees that the server is well.
pub async fn assert_healthy(addr: SocketAddr) {
    let result = call(addr, "add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(result["content"][0]["text"], "5");
}
