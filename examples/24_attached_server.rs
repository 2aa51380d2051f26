//! Another MCP server's tools, used like one's own: here those of `22_mcp_server`, which was built before; any command that starts a
//! server will do.
//!
//! ```console
//! $ cargo run -q --example 24_attached_server -- target/debug/examples/22_mcp_server mcp
//! order 1: 2 × tea
//! ```

use toolwright::mcp::{RemoteServer, Trust};
use toolwright::{Registry, json};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let program = words.next().ok_or("name the command of a server")?;
    let registry = Registry::new();
    let server = RemoteServer::command("shop", program, words).trust(Trust::Calls);
    let server = server.attach(&registry).await?;
    let order = json!({ "lines": [{ "item": "tea", "count": 2 }] });
    println!("{}", registry.call("shop_place_order", order).await.text());
    server.detach().await;
    Ok(())
}
