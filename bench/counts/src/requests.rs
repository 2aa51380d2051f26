//! A thousand calls of a tool over HTTP: requests over one connection to a server, until their responses are read.
//!
//! The servers are those of `toolwright serve`, of an MCP server alone and of axum. The client is in their thread: it writes a
//! request that is ready, and looks only at the ends of the response, so that nearly all instructions are the server's.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};

use assistant_tools::convert_temperature;
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use toolwright::demo::DemoModel;
use toolwright::mcp::McpServer;
use toolwright::server::ServerBuilder;
use toolwright::{Invoker, Registry, tool};
use toolwright_bench::sum;

use crate::Work;

const REQUESTS: usize = 1_000;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    sum::add(a, b)
}

/// A call of a tool, and the text of its result.
struct Call {
    tool: &'static str,
    arguments: Value,
    result: &'static str,
}

fn sum_call() -> Call {
    Call { tool: "add", arguments: json!({ "a": 2, "b": 3 }), result: "\"5\"" }
}

fn temperature_call() -> Call {
    let arguments = json!({ "value": 100, "from_unit": "C" });
    Call { tool: "convert_temperature", arguments, result: "100.0C = 212.0F" }
}

/// The least that could answer: axum, which reads the request to its end and sends the bytes of a right answer.
pub(crate) fn floor() -> Work {
    let call = temperature_call();
    let content = json!([{ "type": "text", "text": call.result }]);
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": content } });
    let answer = Bytes::from(answer.to_string());
    let respond =
        move |_asked: Bytes| async move { ([(header::CONTENT_TYPE, "application/json")], answer) };
    let router = Router::new().route("/mcp", post(respond));
    let runtime = runtime();
    let listener = bind(&runtime);
    let addr = listener.local_addr().unwrap();
    runtime.spawn(async move { axum::serve(listener, router).await.unwrap() });
    send(runtime, addr, "/mcp", &mcp_body(&call), &call)
}

pub(crate) fn sum_over_mcp_alone() -> Work {
    let call = sum_call();
    let server = McpServer::builder(invoker()).build().unwrap();
    let runtime = runtime();
    let bound = runtime.block_on(server.bind((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
    let addr = bound.addr();
    runtime.spawn(bound.run(pending()));
    send(runtime, addr, "/mcp", &mcp_body(&call), &call)
}

pub(crate) fn sum_over_mcp() -> Work {
    let call = sum_call();
    send_to_server("/mcp", &mcp_body(&call), &call)
}

pub(crate) fn temperature_over_mcp() -> Work {
    let call = temperature_call();
    send_to_server("/mcp", &mcp_body(&call), &call)
}

pub(crate) fn temperature_over_api() -> Work {
    let call = temperature_call();
    let body = json!({ "arguments": call.arguments });
    send_to_server("/api/tools/convert_temperature", &body, &call)
}

/// The body of `tools/call`, in the revision without sessions.
fn mcp_body(call: &Call) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": call.tool, "arguments": call.arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
}

fn invoker() -> Invoker {
    let tools = vec![add::tool(), convert_temperature::tool()];
    Invoker::new(Registry::of(tools).unwrap()).unwrap()
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn bind(runtime: &Runtime) -> TcpListener {
    runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap()
}

/// Sends a request to the server of `toolwright serve`.
fn send_to_server(path: &str, body: &Value, call: &Call) -> Work {
    let runtime = runtime();
    let listener = bind(&runtime);
    let addr = listener.local_addr().unwrap();
    let build = || ServerBuilder::new(invoker(), DemoModel::new()).mount_all().build().unwrap();
    let server = runtime.block_on(async { build() });
    runtime.spawn(async move { server.serve(listener, pending()).await.unwrap() });
    send(runtime, addr, path, body, call)
}

fn send(runtime: Runtime, addr: SocketAddr, path: &str, body: &Value, call: &Call) -> Work {
    let (tool, body) = (call.tool, body.to_string());
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let stream = runtime.block_on(TcpStream::connect(addr)).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut client = Client { stream, request, response: Vec::with_capacity(4096) };
    runtime.block_on(client.call());
    let first = String::from_utf8_lossy(&client.response);
    assert!(first.contains(call.result), "{first}");
    Box::new(move || {
        runtime.block_on(async {
            for _ in 0..REQUESTS {
                client.call().await;
            }
        });
    })
}

struct Client {
    stream: TcpStream,
    request: String,
    response: Vec<u8>,
}

impl Client {
    /// Sends the request, and reads the response.
    async fn call(&mut self) {
        self.stream.write_all(self.request.as_bytes()).await.unwrap();
        self.response.clear();
        // The last byte of each body here.
        while !self.response.ends_with(b"}") {
            let read = self.stream.read_buf(&mut self.response).await.unwrap();
            assert_ne!(read, 0, "the response ends too early");
        }
        assert!(self.response.starts_with(b"HTTP/1.1 200 OK\r\n"));
    }
}
