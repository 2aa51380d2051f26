//! Manual execution: the program receives the calls, and decides which of them to run.
//!
//! ```console
//! $ cargo run -q --example 17_running_calls_yourself
//! the model wants to: read_note {"name":"today"}
//! the model wants to: burn_note {"name":"today"}
//! result: buy milk
//! result: the call was not run
//! You have to buy milk; I could not burn the note.
//! ```

use std::error::Error;

use toolwright::chat::Chat;
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Registry, ToolCall, tool};

/// Reads a note.
#[tool(read_only)]
fn read_note(name: String) -> String {
    format!("{}buy milk", if name == "today" { "" } else { "do not " })
}

/// Burns a note.
#[tool]
fn burn_note(name: String) -> String {
    format!("{name} is ashes")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of([read_note::tool(), burn_note::tool()])?;
    let tools = Invoker::new(&registry)?;
    let model = ScriptedModel::new()
        .calls_all([("read_note", r#"{"name":"today"}"#), ("burn_note", r#"{"name":"today"}"#)])
        .replies("You have to buy milk; I could not burn the note.");
    let chat = Chat::new(&tools, model);

    let mut response =
        chat.message().user("What is to do? Then burn it.").manual_calls().call().await?;
    while response.has_calls() {
        for call in response.calls() {
            println!("the model wants to: {} {}", call.name, call.arguments);
        }
        let harmless = response.calls().iter().filter(|call| call.name == "read_note");
        let harmless: Vec<ToolCall> = harmless.cloned().collect();
        let results = tools.invoke_all(&harmless).await;
        response = response.submit_results(results).call().await?;
    }
    for result in response.results() {
        println!("result: {}", result.text());
    }
    println!("{}", response.text());
    Ok(())
}
