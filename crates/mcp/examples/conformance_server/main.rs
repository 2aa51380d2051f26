//! What the official conformance suite calls, through the public API only.
//!
//!     cargo run -p toolwright-mcp --example conformance_server -- --addr 127.0.0.1:8931
//!
//! `--stdio` serves over the standard streams instead. The names of tools, prompts and resources are the suite's.

mod asking;
mod changes;
mod content;
mod prompts;
mod rounds;
mod tasks;

use std::error::Error;

use toolwright::{Invoker, Registry};
use toolwright_mcp::McpServer;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(content::tools()?)?;
    registry.add(asking::tools())?;
    registry.add(rounds::tools())?;
    registry.add(changes::tools())?;
    registry.add(tasks::tools())?;
    registry.add(prompts::prompts())?;
    let invoker = Invoker::builder(&registry).state(registry.clone()).build()?;
    let server = McpServer::builder(invoker)
        .name("toolwright-conformance")
        .title("Toolwright's conformance fixture")
        .version("1.0.0")
        .instructions("Nothing here is of any use but to the conformance suite.");
    let server = prompts::resources().into_iter().fold(server, |server, it| server.resource(it));
    let server = server.build()?;
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("--stdio") => server.serve_stdio().await?,
        Some("--addr") => {
            let addr = arguments.next().unwrap_or_default().parse()?;
            let bound = server.bind(addr).await?;
            println!("listening at {}", bound.url());
            bound.run(std::future::pending()).await?;
        }
        _ => return Err("say `--addr 127.0.0.1:PORT` or `--stdio`".into()),
    }
    Ok(())
}
