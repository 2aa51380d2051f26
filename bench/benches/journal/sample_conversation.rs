//! A conversation of any length, and a chat that continues it.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{
    Append, CallMetadata, Chat, Entry, EntryBody, Item, Message, ModelId, Step, StopReason, Store,
    TurnEnd, Usage,
};
use toolwright::testing::{FnModel, ModelReply};
use toolwright::{Content, Invoker, Registry, Tool, ToolCall, ToolResult};

/// The number of journal entries of one turn.
pub(crate) const ENTRIES_PER_TURN: usize = 6;

const ARGUMENTS: &str = r#"{"city": "Reykjavík", "units": "celsius", "days": 3}"#;
const WEATHER: &str = "Reykjavík: cloudy, 9C / 48F, 80% humidity; tomorrow rain, 8C / 46F, 95% humidity; the day after clear, 11C / 52F, 60% humidity";

/// Entry number n of a conversation in which a tool is called in every turn.
pub(crate) fn sample_entry(n: usize) -> Entry {
    let call = format!("call_{}", n / ENTRIES_PER_TURN);
    let what = match n % ENTRIES_PER_TURN {
        0 => EntryBody::User {
            content: vec![Content::text("What will the weather be in Reykjavík?")],
        },
        1 => {
            let made = ToolCall::new("weather", ARGUMENTS).with_id(call.as_str());
            let facts = CallMetadata::new(call, "weather", "digest");
            step(vec![Item::call(made)], StopReason::Calls, vec![facts])
        }
        2 => EntryBody::CallStarted { call: call.into() },
        3 => {
            let mut result = ToolResult::success(WEATHER);
            (result.call_id, result.tool) = (call.into(), "weather".into());
            EntryBody::CallFinished { result }
        }
        4 => step(vec![Item::text(WEATHER)], StopReason::End, Vec::new()),
        _ => EntryBody::TurnEnded { end: TurnEnd::Answered },
    };
    Entry::new(format!("{n:016x}"), 1_700_000_000_000 + n as u64, what)
}

fn step(items: Vec<Item>, stop: StopReason, calls: Vec<CallMetadata>) -> EntryBody {
    let step = Step::new(ModelId::new("script", "one"), items, stop, Usage::new(400, 60));
    EntryBody::Step { step: step.into(), calls, cost: Some(0.00123) }
}

/// The largest of its entries, serialized.
pub(crate) fn user_text(turn: usize) -> String {
    serde_json::to_string(&sample_entry(turn * ENTRIES_PER_TURN + 4)).unwrap()
}

/// Creates a conversation of so many turns.
pub(crate) async fn append_turns(store: &dyn Store, name: &str, turns: usize) {
    let lease = store.acquire(name, "bench", Duration::from_secs(600)).await.unwrap().unwrap();
    let entries: Vec<Entry> = (0..turns * ENTRIES_PER_TURN).map(sample_entry).collect();
    store.append(&lease, Append::new(&entries)).await.unwrap();
    store.release(&lease).await.unwrap();
}

/// A chat whose model calls a tool with an effect once per question.
pub(crate) fn build_chat(store: &Arc<dyn Store>) -> Chat {
    build_chat_with(store, false)
}

/// A chat whose model calls a tool once per question.
pub(crate) fn build_chat_with(store: &Arc<dyn Store>, read_only: bool) -> Chat {
    let registry = Registry::new();
    let weather = Tool::builder("weather", "Looks at the sky.").read_only(read_only);
    registry.add(weather.run(|_, _| WEATHER).unwrap()).unwrap();
    let model = FnModel::new(|request| match request.messages.last() {
        Some(Message::User(_)) => ModelReply::call(ToolCall::new("weather", "{}")),
        _ => ModelReply::text(WEATHER),
    });
    let chat = Chat::builder(&Invoker::new(&registry).unwrap(), model);
    chat.store(Arc::clone(store)).build()
}
