//! The server that is killed: `kill_server STORE EFFECTS NODE` prints its address, and serves until SIGTERM.
//!
//! NODE is the holder of its leases, or `-` for a name that no other process has. EFFECTS is the file to which tools append.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use toolwright::chat::{Item, Message, ModelRequest, unique_node_name};
use toolwright::server::ServerBuilder;
use toolwright::testing::{FnModel, ModelReply};
use toolwright::{Content, Invoker, Registry, State, ToolCall, ToolError, tool};

/// The file to which tools append a line.
#[derive(Clone)]
struct Effects(Arc<PathBuf>);

impl Effects {
    fn append(&self, line: &str) -> Result<String, ToolError> {
        let mut file = OpenOptions::new().create(true).append(true).open(&*self.0)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        Ok(format!("{line}: done"))
    }
}

/// Looks an order up, which changes nothing.
#[tool(read_only)]
fn look(order: String, State(effects): State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("look {order}"))
}

/// Charges an order to a card; twice is once too often.
#[tool(approval = never)]
fn charge(order: String, State(effects): State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("charge {order}"))
}

/// Refunds an order, after approval.
#[tool(destructive)]
fn refund(order: String, State(effects): State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("refund {order}"))
}

/// Waits for a parcel that never arrives.
#[tool(read_only, timeout = "24h")]
async fn hang(order: String) -> String {
    std::future::pending::<()>().await;
    order
}

/// Calls the tool that the last message `TOOL ORDER` names, then answers with its outcome; depends on the history only.
fn reply(request: &ModelRequest) -> ModelReply {
    let last = request.messages.iter().rposition(|it| matches!(it, Message::User(_)));
    let last = last.unwrap_or_default();
    let text = match request.messages.get(last) {
        Some(Message::User(content)) => content.iter().find_map(|it| match it {
            Content::Text { text } => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    };
    let text = text.unwrap_or_default();
    let (tool, order) = text.split_once(' ').unwrap_or_default();
    let results = request.messages.iter().skip(last).find_map(|it| match it {
        Message::Results(results) => results.first(),
        _ => None,
    });
    match results {
        None if tool != "greet" => {
            let call = ToolCall::new(tool, json!({ "order": order }));
            ModelReply::from_items(vec![Item::call(call.with_id(text.replace(' ', "-")))])
        }
        None => ModelReply::text(format!("{text} is answered.")),
        Some(result) => ModelReply::text(format!("{text} is answered: {}.", result.outcome)),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, effects, node] = arguments.as_slice() else {
        return Err("kill_server STORE EFFECTS NODE".into());
    };
    let registry = Registry::new();
    registry.add(vec![look::tool(), charge::tool(), refund::tool(), hang::tool()])?;
    let effects = Effects(Arc::new(effects.into()));
    let invoker = Invoker::builder(&registry).state(effects).build()?;
    let node = match node.as_str() {
        "-" => unique_node_name("process"),
        node => node.to_owned(),
    };
    let server = ServerBuilder::new(invoker, FnModel::new(reply))
        .store(toolwright::store::open(url).await?, "the store of the test")
        .node_name(node)
        .limits(|limits| {
            limits.shutdown_grace = Duration::from_secs(1);
            limits.sweep_interval = Duration::from_secs(1);
        })
        .build()?;
    let mut terminated = signal(SignalKind::terminate())?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let shutdown = async {
        terminated.recv().await;
    };
    server.serve(listener, shutdown).await?;
    Ok(())
}
