//! An answer that a program reads: described to the model, validated, and mended by it if it has to be.
//!
//! ```console
//! $ cargo run -q --example 16_answers_as_types
//! Ada Lovelace, born 1815
//! asked 2 times; the second time: That is not valid: /born: expected an integer, got "in 1815"
//! ```

use std::error::Error;

use serde::Deserialize;
use toolwright::chat::testing::ScriptedModel;
use toolwright::chat::{Chat, Message};
use toolwright::{Content, Invoker, JsonSchema, Registry, schemars};

#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
    born: i32,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = ScriptedModel::new()
        .replies(r#"{"name": "Ada Lovelace", "born": "in 1815"}"#)
        .replies(r#"{"name": "Ada Lovelace", "born": 1815}"#);
    let chat = Chat::new(model.clone(), &Invoker::new(Registry::new())?);

    let person: Person = chat
        .message()
        .user("Who wrote the first program?")
        .extract()
        .await?;
    println!("{}, born {}", person.name, person.born);

    let asked = model.requests();
    if let Some(Message::User(said)) = asked.last().and_then(|asked| asked.messages.last())
        && let [Content::Text { text }] = said.as_slice()
    {
        let first = text.lines().next().unwrap_or_default();
        println!("asked {} times; the second time: {first}", asked.len());
    }
    Ok(())
}
