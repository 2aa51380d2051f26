//! What the official conformance suite calls, through the public API only.
//!
//!     cargo run -p toolwright-mcp --example conformance_server -- --addr 127.0.0.1:8931
//!
//! `--stdio` serves over the standard streams instead. `--nodes 2` after the address serves with so many nodes that take turns.
//! The names of tools, prompts and resources are the suite's.

mod asking;
mod changes;
mod content;
mod nodes;
mod prompts;
mod rounds;
mod tasks;

use std::error::Error;

use toolwright::{Invoker, Registry};
use toolwright_mcp::{McpServer, McpServerBuilder};

fn registry() -> Result<Registry, Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(content::tools()?)?;
    registry.add(asking::tools())?;
    registry.add(rounds::tools())?;
    registry.add(changes::tools())?;
    registry.add(tasks::tools())?;
    registry.add(prompts::prompts())?;
    Ok(registry)
}

fn server(registry: &Registry) -> Result<McpServerBuilder, Box<dyn Error>> {
    let invoker = Invoker::builder(registry).state(registry.clone()).build()?;
    let server = McpServer::builder(invoker)
        .name("toolwright-conformance")
        .title("Toolwright's conformance fixture")
        .version("1.0.0")
        .instructions("Nothing here is of any use but to the conformance suite.");
    Ok(prompts::resources().into_iter().fold(server, |server, it| server.resource(it)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        ["--stdio"] => server(&registry()?)?.build()?.serve_stdio().await?,
        ["--addr", addr] => {
            let bound = server(&registry()?)?.build()?.bind(addr.parse()?).await?;
            println!("listening at {}", bound.url());
            bound.run(std::future::pending()).await?;
        }
        ["--addr", addr, "--nodes", count] => {
            // One registry: the suite lists the tools twice, and the nodes of a cluster have the same ones.
            let registry = registry()?;
            nodes::serve(addr.parse()?, count.parse()?, || server(&registry)).await?;
        }
        _ => return Err("say `--addr 127.0.0.1:PORT` or `--stdio`".into()),
    }
    Ok(())
}
