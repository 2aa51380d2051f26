//! Toolwright's `McpServer`, as it comes, and a whole app with the same tools.

use std::process::ExitCode;

use assistant_tools::convert_temperature;
use toolwright::{Invoker, Registry, Tool, demo::DemoModel, mcp::McpServer, tool};
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

/// Runs the command of the arguments: `serve`, with everything that a server has, or `mcp`.
pub fn run_app(tools: usize) -> ExitCode {
    let app = toolwright::app!().name("toolwright").model(DemoModel::new());
    app.registry(registry(tools)).run()
}

pub async fn serve(way: Transport, tools: usize) {
    let invoker = Invoker::new(registry(tools)).unwrap();
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

fn registry(tools: usize) -> Registry {
    let registry = Registry::new();
    let other = |name| {
        Tool::builder(name, ADD)
            .input::<sum::Args>()
            .run(|args: sum::Args, _| sum::add(args.a, args.b))
            .unwrap()
    };
    let named = [add::tool(), page::tool(), convert_temperature::tool()].into_iter();
    let all: Vec<Tool> = named.chain(extra_tool_names(tools).map(other)).collect();
    registry.add(all).unwrap();
    registry
}
