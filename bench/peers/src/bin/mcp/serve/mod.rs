//! One file per library: the same tools, served as its documentation shows.

mod baseline;
mod rmcp;
mod toolwright;
mod tower_mcp;

pub use self::toolwright::run_app;

use axum::serve::{Listener, ListenerExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::{
    servers::Transport,
    workload::{PAGE_BYTES, Workload},
};

/// Serves until the process is ended.
pub async fn serve(name: &str, way: Transport, load: &Workload) {
    match name {
        "floor" => baseline::serve(way, load).await,
        "toolwright" => toolwright::serve(way, load.tools).await,
        "rmcp" => rmcp::serve(way, load.tools, false).await,
        "rmcp-json" => rmcp::serve(way, load.tools, true).await,
        "tower-mcp" => tower_mcp::serve(way, load.tools).await,
        _ => panic!("no server is called {name}"),
    }
}

const ADD: &str = "Adds two numbers.";
/// The number of the tools `add`, `page` and `convert_temperature`.
const CALLED_TOOLS: usize = 3;

const READ: &str = "Reads a page.";
const CONVERT: &str = "Converts a temperature between Celsius and Fahrenheit.";

/// The arguments of the sample's `convert_temperature`.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Temperature {
    /// The temperature to convert.
    value: f64,
    /// The unit of `value`: `C` or `F`, or the whole word.
    from_unit: String,
}

/// What the tool `page` returns.
fn page() -> String {
    "x".repeat(PAGE_BYTES)
}

/// The names of the tools that are only there to be listed: with those that are called they are so many.
fn extra_tool_names(tools: usize) -> impl Iterator<Item = String> {
    (CALLED_TOOLS..tools).map(|number| format!("tool_{number}"))
}

/// Binds a port, and prints it for the benchmark.
///
/// By default axum does not set `TCP_NODELAY`, and a stream of several small writes waits for the client's system.
async fn bind_listener() -> impl Listener<Io = TcpStream, Addr: std::fmt::Debug> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("http://{}/mcp", listener.local_addr().unwrap());
    listener.tap_io(|stream| stream.set_nodelay(true).unwrap())
}
