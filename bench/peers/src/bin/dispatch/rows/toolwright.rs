//! Toolwright's invoker: text → `ToolCall` → typed arguments → `ToolResult` → text.

use std::hint::black_box;

use toolwright::{Invoker, Json, Registry, Tool, ToolCall, tool};
use toolwright_bench::{
    Comparison,
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

/// Adds the rows of the nested order.
pub fn add_order_rows(race: Comparison<'_>) -> Comparison<'_> {
    let race = add_row(race, "Toolwright", place::tool(), order::ARGUMENTS_JSON);
    let race = add_row(race, "Toolwright, Json<T>", place_json::tool(), order::ARGUMENTS_JSON);
    add_row(race, "Toolwright, validator on", place_limited::tool(), order::ARGUMENTS_JSON)
}

/// Adds the row of the small call.
pub fn add_sum_rows(race: Comparison<'_>) -> Comparison<'_> {
    add_row(race, "Toolwright", add::tool(), sum::ARGUMENTS_JSON)
}

fn add_row<'a>(race: Comparison<'a>, row: &str, tool: Tool, text: &'static str) -> Comparison<'a> {
    let name = tool.name().clone();
    let invoker = invoker(tool);
    race.add_async_function(row, async move || {
        let call = ToolCall::new(&name, black_box(text));
        invoker.invoke(&call).await.into_text()
    })
}

/// An invoker of one tool.
pub(super) fn invoker(tool: Tool) -> Invoker {
    let registry = Registry::new();
    registry.add(tool).unwrap();
    Invoker::new(registry).unwrap()
}
