//! One tool call, from argument text to result text.

use std::hint::black_box;

use serde_json::Value;
use tokio::runtime::Runtime;
use toolwright::{Invoker, Json, Registry, ToolCall, tool};
use toolwright_bench::{
    Comparison, Table, baseline,
    order::{self, Receipt, limited, plain},
    sum,
};

/// Places an order.
#[tool]
fn place(order: plain::Order, #[param(default = false)] dry_run: bool) -> Receipt {
    plain::work(order, dry_run)
}

/// Places an order.
#[tool]
async fn place_async(order: plain::Order, #[param(default = false)] dry_run: bool) -> Receipt {
    plain::work(order, dry_run)
}

/// Places an order.
#[tool]
fn place_json(order: plain::Order, #[param(default = false)] dry_run: bool) -> Json<Receipt> {
    Json(plain::work(order, dry_run))
}

/// Places an order.
#[tool]
fn place_limited(order: limited::Order, #[param(default = false)] dry_run: bool) -> Receipt {
    limited::work(order, dry_run)
}

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    sum::add(a, b)
}

/// Adds two numbers.
#[tool]
async fn add_async(a: i64, b: i64) -> i64 {
    sum::add(a, b)
}

fn invoker() -> Invoker {
    let registry = Registry::new();
    let tools = [
        place::tool(),
        place_async::tool(),
        place_json::tool(),
        place_limited::tool(),
        add::tool(),
        add_async::tool(),
    ];
    registry.add(tools.to_vec()).unwrap();
    Invoker::new(registry).unwrap()
}

/// Races the ways to place the nested order.
pub(crate) fn compare_order_call(runtime: &Runtime) -> Table {
    let invoker = &invoker();
    let call = |name: &str| {
        let call = ToolCall::new(name, order::ARGUMENTS_JSON);
        async move || invoke(invoker, &call).await
    };
    Comparison::new(format!("a nested order, {} bytes", order::ARGUMENTS_JSON.len()), runtime)
        .add_function(baseline::ROW_NAME, || {
            baseline::place_order(black_box(order::ARGUMENTS_JSON))
        })
        .add_async_function("types enforce the schema", call("place"))
        .add_async_function("the same, async", call("place_async"))
        .add_async_function("the same, Json<T>", call("place_json"))
        .add_async_function("the same, the call made anew", async || {
            let call = ToolCall::new("place", black_box(order::ARGUMENTS_JSON));
            invoke(invoker, &call).await
        })
        .add_async_function("the same, the arguments a Value", async || {
            let arguments = parse_value(order::ARGUMENTS_JSON);
            invoke(invoker, &ToolCall::new("place", arguments)).await
        })
        .add_async_function("a validator enforces the schema", call("place_limited"))
        .run()
}

/// Races the ways to add two numbers.
pub(crate) fn compare_add_call(runtime: &Runtime) -> Table {
    let invoker = &invoker();
    let call = |name: &str| {
        let call = ToolCall::new(name, sum::ARGUMENTS_JSON);
        async move || invoke(invoker, &call).await
    };
    Comparison::new("add(2, 3)", runtime)
        .add_function(baseline::ROW_NAME, || baseline::add(black_box(sum::ARGUMENTS_JSON)))
        .add_async_function("types enforce the schema", call("add"))
        .add_async_function("the same, async", call("add_async"))
        .add_async_function("the same, the call made anew", async || {
            invoke(invoker, &ToolCall::new("add", black_box(sum::ARGUMENTS_JSON))).await
        })
        .add_async_function("the same, the arguments a Value", async || {
            let arguments = parse_value(sum::ARGUMENTS_JSON);
            invoke(invoker, &ToolCall::new("add", arguments)).await
        })
        .run()
}

/// Parses arguments as a framework does before it calls a tool.
fn parse_value(text: &str) -> Value {
    serde_json::from_str(black_box(text)).unwrap()
}

async fn invoke(invoker: &Invoker, call: &ToolCall) -> String {
    invoker.invoke(black_box(call)).await.into_text()
}
