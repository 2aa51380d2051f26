//! The tools of a request: by name, without some, with extra ones, and resolved on demand.
//!
//! ```console
//! $ cargo run -q --example 19_tools_per_request
//! all: add, subtract
//! named: add
//! without: add
//! with its own: add, subtract, divide
//! resolved: add, shout_hello
//! nobody knows `ad`; did you mean `add`?
//! ```

use std::error::Error;

use toolwright::chat::{Chat, ChatError, TurnRequest};
use toolwright::testing::FnModel;
use toolwright::{Invoker, Registry, Tool, ToolError, tool};

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Subtracts a number from another.
#[tool(read_only)]
fn subtract(from: i64, number: i64) -> i64 {
    from - number
}

/// Divides a number by another.
#[tool(read_only)]
fn divide(number: f64, by: f64) -> f64 {
    number / by
}

/// Resolves a tool for every name that starts with `shout_`.
fn shout(name: &str) -> Option<Tool> {
    let word = name.strip_prefix("shout_")?.to_uppercase();
    let tool = Tool::builder(name, "Shouts a word.");
    tool.run(move |_, _| Ok::<_, ToolError>(word.clone())).ok()
}

async fn tools_of(request: TurnRequest) -> Result<String, ChatError> {
    Ok(request.user("Which tools have you?").call().await?.text())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::of([add::tool(), subtract::tool()])?;
    let model = FnModel::new(|request| {
        let names = request.tools.iter().map(|tool| tool.spec().name.as_str());
        names.collect::<Vec<_>>().join(", ")
    });
    let chat = Chat::builder(&Invoker::new(&registry)?, model).resolver(shout).build();

    let message = || chat.message();
    println!("all: {}", tools_of(message()).await?);
    println!("named: {}", tools_of(message().only_tools_named(["add"])).await?);
    println!("without: {}", tools_of(message().exclude(["subtract"])).await?);
    let own = message().tools(divide::tool());
    println!("with its own: {}", tools_of(own).await?);
    let resolved = message().only_tools_named(["add", "shout_hello"]);
    println!("resolved: {}", tools_of(resolved).await?);
    if let Err(error) = tools_of(message().only_tools_named(["ad"])).await {
        println!("{error}");
    }
    Ok(())
}
