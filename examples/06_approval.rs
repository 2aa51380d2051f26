//! Approval before each call: an approver approves it, edits it, denies it, or answers in its place.
//!
//! ```console
//! $ cargo run -q --example 06_approval
//! Look up price? {"order":"A-7"}
//! -> ok: A-7 cost 80 EUR
//! Issue refund? {"order":"A-7","euros":20}
//! -> ok: refunded 20 EUR for A-7
//! Issue refund? {"order":"A-8","euros":80}
//! -> ok: refunded 50 EUR for A-8
//! Issue refund? {"order":"A-9","euros":900}
//! -> denied: the call was denied: ask the manager
//! Issue refund? {"order":"A-1","euros":5}
//! -> ok: A-1 was refunded yesterday
//! ```

use std::error::Error;

use toolwright::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, Invoker, Registry, ToolCall, json, tool,
};

/// Refunds an order. This cannot be undone.
#[tool(destructive, title = "Issue refund")]
fn issue_refund(order: String, euros: f64) -> String {
    format!("refunded {euros} EUR for {order}")
}

/// Returns the price of an order.
#[tool(read_only, title = "Look up price")]
fn order_price(order: String) -> String {
    format!("{order} cost 80 EUR")
}

/// Decides by rules; a terminal or a web page, which has to wait for the user, implements `Approver`.
fn decide(request: ApprovalRequest<'_>) -> ApprovalDecision {
    let (title, arguments) = (request.tool.title.as_deref(), request.arguments);
    println!("{}? {arguments}", title.unwrap_or_default());
    let order = &arguments["order"];
    match arguments["euros"].as_f64() {
        Some(_) if order == "A-1" => request.answer("A-1 was refunded yesterday"),
        Some(euros) if euros > 500.0 => request.deny("ask the manager"),
        Some(euros) if euros > 50.0 => request.edit(json!({"order": order, "euros": 50})),
        _ => request.approve(),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of([issue_refund::tool(), order_price::tool()])?;
    // Destructive tools always need approval; in this view, all tools do.
    let view = registry.all();
    let view = view.map_policy(|_, policy| policy.approval = ApprovalPolicy::Always);
    let invoker = Invoker::builder(view).approver(decide).build()?;
    for (name, arguments) in [
        ("order_price", json!({"order": "A-7"})),
        ("issue_refund", json!({"order": "A-7", "euros": 20})),
        ("issue_refund", json!({"order": "A-8", "euros": 80})),
        ("issue_refund", json!({"order": "A-9", "euros": 900})),
        ("issue_refund", json!({"order": "A-1", "euros": 5})),
    ] {
        let result = invoker.invoke(&ToolCall::new(name, arguments)).await;
        println!("-> {}: {}", result.outcome, result.text());
    }
    Ok(())
}
