//! A thousand calls of a tool, each from the text of its arguments to the text of its result.

use std::hint::black_box;

use toolwright::{Invoker, Registry, ToolCall, tool};
use toolwright_bench::order::{self, Receipt, limited, plain};
use toolwright_bench::sum;

use crate::{Work, repeat_async};

const CALLS: usize = 1_000;

/// Adds two numbers.
#[tool(name = "add")]
fn add_tool(a: i64, b: i64) -> i64 {
    sum::add(a, b)
}

/// Adds two numbers.
#[tool(name = "add_async")]
async fn add_async_tool(a: i64, b: i64) -> i64 {
    sum::add(a, b)
}

/// Places an order.
#[tool]
fn place(order: plain::Order, #[param(default = false)] dry_run: bool) -> Receipt {
    plain::work(order, dry_run)
}

/// Places an order, whose types do not enforce all of the schema.
#[tool]
fn place_limited(order: limited::Order, #[param(default = false)] dry_run: bool) -> Receipt {
    limited::work(order, dry_run)
}

pub(crate) fn add() -> Work {
    call("add", sum::ARGUMENTS_JSON)
}

pub(crate) fn add_async() -> Work {
    call("add_async", sum::ARGUMENTS_JSON)
}

pub(crate) fn order() -> Work {
    call("place", order::ARGUMENTS_JSON)
}

pub(crate) fn validated_order() -> Work {
    call("place_limited", order::ARGUMENTS_JSON)
}

fn call(name: &'static str, arguments: &'static str) -> Work {
    let tools =
        vec![add_tool::tool(), add_async_tool::tool(), place::tool(), place_limited::tool()];
    let invoker = Invoker::new(Registry::of(tools).unwrap()).unwrap();
    repeat_async(move || {
        let invoker = invoker.clone();
        async move {
            for _ in 0..CALLS {
                let call = ToolCall::new(name, black_box(arguments));
                let result = invoker.invoke(&call).await;
                assert!(!result.is_error(), "{}", result.text());
                black_box(result.text().len());
            }
        }
    })
}
