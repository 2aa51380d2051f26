//! Toolwright's `McpServer`, as it comes.

use toolwright::{Invoker, Registry, Tool, mcp::McpServer, tool};
use toolwright_bench::sum;

use super::{ADD, extra_tool_names};
use crate::servers::Transport;

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    sum::add(a, b)
}

/// Reads a page.
#[tool]
fn page() -> String {
    super::page()
}

pub async fn serve(way: Transport, tools: usize) {
    let registry = Registry::new();
    let other = |name| {
        Tool::builder(name, ADD)
            .input::<sum::Args>()
            .run(|args: sum::Args, _| sum::add(args.a, args.b))
            .unwrap()
    };
    let named = [add::tool(), page::tool()].into_iter();
    let all: Vec<Tool> = named.chain(extra_tool_names(tools).map(other)).collect();
    registry.add(all).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let server = McpServer::builder(invoker).build().unwrap();
    match way {
        Transport::Stdio => server.serve_stdio().await.unwrap(),
        Transport::Http => {
            let bound = server.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
            println!("{}", bound.url());
            bound.run(std::future::pending()).await.unwrap();
        }
    }
}
