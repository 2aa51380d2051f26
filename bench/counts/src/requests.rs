//! A thousand calls of a tool over HTTP: requests to the server's router, without a network, until their responses are read.

use std::hint::black_box;
use std::net::SocketAddr;

use assistant_tools::convert_temperature;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use axum::routing::post;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use toolwright::demo::DemoModel;
use toolwright::server::ServerBuilder;
use toolwright::{Invoker, Registry, tool};
use toolwright_bench::comparison::single_threaded_runtime;
use toolwright_bench::sum;
use tower::ServiceExt as _;

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
    send(router, "/mcp", mcp_body(&call), call)
}

pub(crate) fn sum_over_mcp() -> Work {
    over_mcp(sum_call())
}

pub(crate) fn temperature_over_mcp() -> Work {
    over_mcp(temperature_call())
}

pub(crate) fn temperature_over_api() -> Work {
    let call = temperature_call();
    let body = json!({ "arguments": call.arguments });
    send(server_router(), "/api/tools/convert_temperature", body, call)
}

fn over_mcp(call: Call) -> Work {
    send(server_router(), "/mcp", mcp_body(&call), call)
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

fn server_router() -> Router {
    let tools = vec![add::tool(), convert_temperature::tool()];
    let invoker = Invoker::new(Registry::of(tools).unwrap()).unwrap();
    let runtime = single_threaded_runtime();
    let _guard = runtime.enter();
    ServerBuilder::new(invoker, DemoModel::new()).mount_all().build().unwrap().router()
}

fn send(router: Router, path: &'static str, body: Value, call: Call) -> Work {
    let runtime = single_threaded_runtime();
    let body = Bytes::from(body.to_string());
    let request = move || {
        let request = Request::builder().method("POST").uri(path);
        let request = request
            .header(header::HOST, "localhost")
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", call.tool)
            .extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4000))));
        request.body(Body::from(body.clone())).unwrap()
    };
    Box::new(move || {
        runtime.block_on(async {
            for _ in 0..REQUESTS {
                let response = router.clone().oneshot(request()).await.unwrap();
                let status = response.status();
                let read = response.into_body().collect().await.unwrap().to_bytes();
                let text = String::from_utf8_lossy(&read);
                assert!(status.is_success() && text.contains(call.result), "{status}: {text}");
                black_box(text.len());
            }
        });
    })
}
