//! A view of a registry: fewer tools, other names, bound parameters; later changes of the registry show.
//!
//! ```console
//! $ cargo run -q --example 10_views
//! all but one:
//!   list_orders["customer", "limit"]
//! for Ada:
//!   my_orders["limit"]
//! for Ada, after one was added:
//!   my_orders["limit"]
//!   shop_find_order["number"]
//! -> 3 orders of Ada
//! -> order A-7 of Ada
//! -> invalid arguments for `my_orders`:
//! /customer: unknown argument
//! -> there is no tool `delete_order`
//! available tools: my_orders, shop_find_order
//! ```

use std::error::Error;

use toolwright::{Invoker, Registry, RegistryError, ToolCall, View, json, tool};

/// Lists a customer's orders.
#[tool(read_only)]
fn list_orders(customer: String, limit: u32) -> String {
    format!("{limit} orders of {customer}")
}

/// Finds one of a customer's orders.
#[tool(read_only)]
fn find_order(customer: String, number: String) -> String {
    format!("order {number} of {customer}")
}

/// Deletes an order.
#[tool(destructive)]
fn delete_order(number: String) -> String {
    format!("{number} is gone")
}

fn show(what: &str, view: &View) -> Result<(), RegistryError> {
    println!("{what}:");
    for entry in view.snapshot()?.iter() {
        let params = entry.spec().params().into_iter().map(|param| param.name);
        println!("  {}{:?}", entry.spec().name, params.collect::<Vec<_>>());
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(vec![list_orders::tool(), delete_order::tool()])?;
    show("all but one", &registry.all().exclude(["delete_order"]))?;

    // Names may come from a setting or a request; unknown ones are skipped.
    let chosen = registry.select("list_orders,find_order".split(','));
    // For Ada's chat: the customer is bound, so the model cannot pass another one.
    let hers = chosen.bind("customer", "Ada").prefix("shop");
    let hers = hers.rename("shop_list_orders", "my_orders");
    show("for Ada", &hers)?;
    let invoker = Invoker::new(hers.clone())?;
    registry.add(find_order::tool())?;
    show("for Ada, after one was added", &hers)?;

    for (name, arguments) in [
        ("my_orders", json!({"limit": 3})),
        ("shop_find_order", json!({"number": "A-7"})),
        ("my_orders", json!({"limit": 3, "customer": "Bob"})),
        ("delete_order", json!({"number": "A-7"})),
    ] {
        let result = invoker.invoke(&ToolCall::new(name, arguments)).await;
        println!("-> {}", result.text());
    }
    Ok(())
}
