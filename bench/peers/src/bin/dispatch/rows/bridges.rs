//! Toolwright's tools as those of other frameworks, called as the rows of that framework call its own.

use std::hint::black_box;

use rig::tool::ToolSet;
use rmcp::handler::server::router::tool::ToolRouter;
use tokio::runtime::Runtime;
use toolwright::{Json, Tool, tool};
use toolwright_bench::{
    Comparison,
    order::{self, Receipt, plain},
    sum,
};

use super::toolwright::invoker;
use super::{adk, rig as rows, rmcp as server};

/// Places an order.
#[tool]
fn place(order: plain::Order, #[param(default = false)] dry_run: bool) -> Json<Receipt> {
    Json(plain::work(order, dry_run))
}

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> Json<i64> {
    Json(sum::add(a, b))
}

/// Adds the rows of the nested order.
pub fn add_order_rows<'a>(race: Comparison<'a>, runtime: &'a Runtime) -> Comparison<'a> {
    add_bridge_rows(race, runtime, place::tool(), "place", order::ARGUMENTS_JSON)
}

/// Adds the rows of the small call.
pub fn add_sum_rows<'a>(race: Comparison<'a>, runtime: &'a Runtime) -> Comparison<'a> {
    add_bridge_rows(race, runtime, add::tool(), "add", sum::ARGUMENTS_JSON)
}

fn add_bridge_rows<'a>(
    race: Comparison<'a>,
    runtime: &'a Runtime,
    tool: Tool,
    name: &'static str,
    text: &'static str,
) -> Comparison<'a> {
    let invoker = invoker(tool);
    let in_rig = ToolSet::from_dynamic_tools(toolwright_rig::tools(&invoker).unwrap());
    let in_adk = adk::ToolCaller::new(toolwright_adk::tools(&invoker).unwrap().swap_remove(0));
    let local = server::LocalRouter::new(runtime);
    let in_rmcp = toolwright_rmcp::tools(ToolRouter::new(), &invoker).unwrap();
    race.add_async_function("rig RegisteredTool, Toolwright's", async move || {
        rows::call(&in_rig, name, black_box(text)).await
    })
    .add_async_function("adk Tool, Toolwright's", async move || in_adk.call(black_box(text)).await)
    .add_async_function("rmcp ToolRouter, Toolwright's", async move || {
        local.call(&in_rmcp, name, black_box(text)).await
    })
}
