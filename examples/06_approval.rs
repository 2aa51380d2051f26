//! Somebody is asked before each call: and approves it, edits it, denies it, or answers in its place.
//!
//! ```console
//! $ cargo run -q --example 06_approval
//! ```

use std::error::Error;

use futures::future::BoxFuture;
use serde_json::json;
use toolwright::{
    Approval, ApprovalRequest, Approve, Decision, Invoker, Registry, ToolCall, tool,
};

/// Refunds an order. This cannot be undone.
#[tool(destructive, title = "Issue refund")]
fn issue_refund(order: String, euros: f64) -> String {
    format!("refunded {euros} EUR for {order}")
}

/// Says what an order cost.
#[tool(read_only)]
fn order_price(order: String) -> String {
    format!("{order} cost 80 EUR")
}

/// Decides by itself; a terminal or a page would ask a person here.
struct Clerk;

impl Approve for Clerk {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let tool = request.tool;
            let title = tool.title.as_deref().unwrap_or(tool.name.as_str());
            println!("{title} with {}?", request.arguments);
            let order = &request.arguments["order"];
            match request.arguments["euros"].as_f64() {
                None => request.approve(),
                Some(_) if order == "A-1" => request.answer("A-1 was refunded yesterday"),
                Some(euros) if euros > 500.0 => request.deny("ask the manager"),
                Some(euros) if euros > 50.0 => request.edit(json!({"order": order, "euros": 50})),
                Some(_) => request.approve(),
            }
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::new();
    registry.add(issue_refund::tool())?;
    registry.add(order_price::tool())?;

    // A destructive tool is asked about anyway; here, every tool is.
    let view = registry.all().adjust(|_, policy| policy.approval = Approval::Always);
    let invoker = Invoker::builder(view).approver(Clerk).build()?;
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

    // Without anybody to ask, the answer is no.
    let alone = Invoker::new(&registry)?;
    let call = ToolCall::new("issue_refund", r#"{"order": "A-7", "euros": 1}"#);
    println!("nobody there\n-> {}", alone.invoke(&call).await.text());
    Ok(())
}
