//! A turn that needs approval pauses; the decision may be made later, in another process.
//!
//! ```console
//! $ cargo run -q --example 18_asking_first
//! Send money: {"to":"Bob","euros":1000}
//! a changed token: call `call_0_0`: the token is not the one that was asked with
//! ran with: 10 euros to Bob
//! once more: call `call_0_0`: it does not wait for a decision
//! Bob has his money.
//! ```

use std::error::Error;

use toolwright::chat::{ApprovalResponse, Chat};
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Registry, json, tool};

/// Sends money. This cannot be undone.
#[tool(destructive, title = "Send money")]
fn send_money(to: String, euros: u32) -> String {
    println!("ran with: {euros} euros to {to}");
    "sent".to_owned()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of(send_money::tool())?;
    let model = ScriptedModel::new()
        .calls("send_money", r#"{"to":"Bob","euros":1000}"#)
        .replies("Bob has his money.");
    let chat = Chat::new(&Invoker::new(&registry)?, model);

    let request = chat.message().conversation("bank").user("Pay Bob.");
    let response = request.call().await?;
    let [pending] = response.pending_approvals() else {
        return Err("one call waits".into());
    };
    println!("{}: {}", pending.tool.display_name(), pending.arguments);

    // The decision and its token can be sent to a web page and back.
    let decided = pending.edit(json!({"to": "Bob", "euros": 10}));
    let decided = serde_json::to_value(&decided)?;
    let mut forged = decided.clone();
    if let Some(expires) = forged.pointer_mut("/token/expires") {
        *expires = json!(u64::MAX);
    }

    let forged: ApprovalResponse = serde_json::from_value(forged)?;
    if let Err(error) = chat.submit_approvals("bank", vec![forged]).call().await {
        println!("a changed token: {error}");
    }
    let decided: ApprovalResponse = serde_json::from_value(decided)?;
    let response = chat.submit_approvals("bank", vec![decided.clone()]).call().await?;
    if let Err(error) = chat.submit_approvals("bank", vec![decided]).call().await {
        println!("once more: {error}");
    }
    println!("{}", response.text());
    Ok(())
}
