//! An MCP server over stdio, with state and nested arguments: `22_mcp_server mcp` in the configuration of a client.
//!
//! The same program has every other command, too:
//!
//! ```console
//! $ cargo run -q --example 22_mcp_server -- tools call place_order '{"lines":[{"item":"tea","count":2}]}'
//! order 1: 2 × tea
//! $ cargo run -q --example 22_mcp_server -- tools call place_order '{"lines":[{"item":"tea"}]}' # exit 1
//! error: invalid arguments for `place_order`:
//! /lines/0/count: missing; expected an integer (How many of it.)
//! ```

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use toolwright::{State, tool, tool_type};

/// A line of an order.
#[tool_type]
struct Line {
    /// What is ordered.
    item: String,
    /// How many of it.
    count: u32,
}

#[derive(Default)]
struct Shop {
    orders: AtomicU32,
}

/// Places an order.
#[tool]
fn place_order(lines: Vec<Line>, shop: State<Shop>) -> String {
    let number = shop.orders.fetch_add(1, Ordering::Relaxed) + 1;
    let lines = lines.iter().map(|Line { item, count }| format!("{count} × {item}"));
    format!("order {number}: {}", lines.collect::<Vec<_>>().join(", "))
}

fn main() -> ExitCode {
    toolwright::app!().state(Shop::default()).run()
}
