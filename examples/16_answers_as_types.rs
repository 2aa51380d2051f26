//! An answer as a Rust type: its schema is sent to the model, and an invalid answer is sent back for correction.
//!
//! ```console
//! $ cargo run -q --example 16_answers_as_types
//! Ada Lovelace, born 1815
//! asked 2 times; the second time: That is not valid: /born: expected an integer, got "in 1815"
//! ```

use std::error::Error;

use toolwright::chat::{Chat, Message};
use toolwright::testing::ScriptedModel;
use toolwright::{Content, Invoker, Registry, tool_type};

#[tool_type]
struct Person {
    name: String,
    born: i32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedModel::new()
        .replies(r#"{"name": "Ada Lovelace", "born": "in 1815"}"#)
        .replies(r#"{"name": "Ada Lovelace", "born": 1815}"#);
    let chat = Chat::new(&Invoker::new(Registry::new())?, model.clone());

    let person: Person = chat.message().user("Who wrote the first program?").extract().await?;
    println!("{}, born {}", person.name, person.born);

    let requests = model.requests();
    let last = requests.last().and_then(|request| request.messages.last());
    if let Some(Message::User(content)) = last
        && let [Content::Text { text }] = content.as_slice()
    {
        let first = text.lines().next().unwrap_or_default();
        println!("asked {} times; the second time: {first}", requests.len());
    }
    Ok(())
}
