//! A view is a registry through a lens: fewer tools, other names, bound parameters, always current.
//!
//! ```console
//! $ cargo run -q --example 10_views
//! ```

use std::error::Error;

use toolwright::{Invoker, Registry, ToolCall, View, tool};

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

/// Cancels an order.
#[tool(destructive)]
fn cancel_order(number: String) -> String {
    format!("{number} cancelled")
}

fn show(what: &str, view: &View) -> Result<(), Box<dyn Error>> {
    println!("{what}:");
    for entry in view.snapshot()?.iter() {
        let params = entry.spec().params();
        let params: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
        println!("  {}({})", entry.spec().name, params.join(", "));
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(list_orders::tool())?;
    registry.add(cancel_order::tool())?;

    // Names may come from anywhere, a setting or a request: those that are not there are skipped.
    let wanted = "list_orders,find_order".split(',');
    let chosen = registry.select(wanted);
    show("chosen by name", &chosen)?;
    show("all but one", &registry.all().exclude(["cancel_order"]))?;
    show("by what they say", &registry.all().filter(|tool| tool.hints.destructive.is_none()))?;

    // For Ada's chat: her tools only, under a prefix, and she can be no other customer.
    let hers = chosen
        .clone()
        .bind("customer", "Ada")
        .prefix("shop")
        .rename("shop_list_orders", "my_orders");
    show("for Ada", &hers)?;

    let invoker = Invoker::new(hers.clone())?;
    registry.add(find_order::tool())?;
    show("for Ada, after one was added", &hers)?;
    for (name, arguments) in [
        ("my_orders", r#"{"limit": 3}"#),
        ("shop_find_order", r#"{"number": "A-7"}"#),
        ("my_orders", r#"{"limit": 3, "customer": "Bob"}"#),
        ("cancel_order", r#"{"number": "A-7"}"#),
    ] {
        let result = invoker.invoke(&ToolCall::new(name, arguments)).await;
        println!("-> {}", result.text());
    }
    Ok(())
}
