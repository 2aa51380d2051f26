//! Toolwright's `McpServer`, as it comes.

use toolwright::{Invoker, Registry, Tool, mcp::McpServer, tool};
use toolwright_bench::sum;

use super::{ADD, others};
use crate::contender::Way;

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

pub async fn serve(way: Way, tools: usize) {
    let registry = Registry::new();
    let other = |name| {
        Tool::builder(name, ADD)
            .input::<sum::Args>()
            .run(|args: sum::Args, _| sum::add(args.a, args.b))
            .unwrap()
    };
    let named = [add::tool(), page::tool()].into_iter();
    let all: Vec<Tool> = named.chain(others(tools).map(other)).collect();
    registry.add(all).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let server = McpServer::builder(invoker).build().unwrap();
    match way {
        Way::Stdio => server.serve_stdio().await.unwrap(),
        Way::Http => {
            let bound = server.bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
            println!("{}", bound.url());
            bound.run(std::future::pending()).await.unwrap();
        }
    }
}
