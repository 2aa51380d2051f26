//! An agent of another framework behind an endpoint: its events become the conversation.
//!
//! ```console
//! $ cargo run -q --example 20_foreign_agent
//! message: Is it raining in Bergen?
//! call: look_outside {"city":"Bergen"}
//! result: rain
//! text: Yes, take an umbrella.
//! metadata: {"agent":"by hand"}
//! ended: {"end":"answered"}
//! kept: user, step, finished, step, ended
//! ```

use std::error::Error;
use std::sync::Arc;

use futures::{Stream, StreamExt as _, stream};
use toolwright::chat::{ChatEvent, MemoryStore, Store};
use toolwright::server::{
    ConversationEvent, Endpoint, EndpointEvent, IncomingMessage, ServerBuilder, Session,
};
use toolwright::testing::ScriptedModel;
use toolwright::{Invoker, Registry, ToolCall, ToolResult};

/// A hand-written agent; that of a framework would translate the framework's stream in the same way.
fn agent(_question: String) -> impl Stream<Item = ChatEvent> + Send {
    let call = ToolCall::new("look_outside", r#"{"city":"Bergen"}"#).with_id("call_1");
    let result = ToolResult::success("rain").for_call(&call.id, &call.name);
    let delta = "Yes, take an umbrella.".to_owned();
    stream::iter([
        ChatEvent::Call { call },
        ChatEvent::Result { result, millis: 3 },
        ChatEvent::Text { delta },
    ])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let store = Arc::new(MemoryStore::new());
    let endpoint = Endpoint::new("/weather/{city}").open_to_all().memory(true).on_message(
        |message: IncomingMessage, session: Session| async move {
            session.forward(agent(message.text())).await;
            session.send_metadata("agent", "by hand");
        },
    );
    // The model is never used. `server.serve(listener, …)` would listen for clients.
    let server = ServerBuilder::new(Invoker::new(Registry::new())?, ScriptedModel::new())
        .store(Arc::clone(&store), "memory")
        .endpoint(endpoint)
        .build()?;

    let mut events = server.send_message("/weather/bergen", "Is it raining in Bergen?").await?;
    while let Some(numbered) = events.next().await {
        match &numbered.event {
            ConversationEvent::Endpoint(EndpointEvent::Message { content, .. }) => {
                println!("message: {}", ToolResult::success(content.clone()).text());
            }
            ConversationEvent::Endpoint(EndpointEvent::Metadata { metadata }) => {
                println!("metadata: {}", serde_json::to_string(metadata)?);
            }
            ConversationEvent::Chat(ChatEvent::Call { call }) => {
                println!("call: {} {}", call.name, call.arguments);
            }
            ConversationEvent::Chat(ChatEvent::Result { result, .. }) => {
                println!("result: {}", result.text())
            }
            ConversationEvent::Chat(ChatEvent::Text { delta }) => println!("text: {delta}"),
            ConversationEvent::Chat(ChatEvent::TurnEnded { end, .. }) => {
                println!("ended: {}", serde_json::to_string(end)?);
            }
            _ => {}
        }
    }
    let entries = serde_json::to_value(store.load("/weather/bergen").await?)?;
    let kinds = entries.as_array().into_iter().flatten();
    let kinds = kinds.filter_map(|entry| entry.get("what")?.as_object()?.keys().next());
    let kinds: Vec<&str> = kinds.map(String::as_str).collect();
    println!("kept: {}", kinds.join(", "));
    Ok(())
}
