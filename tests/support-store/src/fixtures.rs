//! Shared fixtures: entries, leases, and tools that write a log.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::chat::{
    Append, Chat, Entry, EntryBody, InboxBody, InboxItem, Lease, MessagePart, Store,
};
use toolwright::testing::ScriptedModel;
use toolwright::{
    Content, Invoker, Registry, Role, SharedState, SharedStateFuture, SharedValue, TimeToLive,
    Tool, ToolError,
};

/// Longer than any test takes.
pub const LONG: Duration = Duration::from_secs(600);

/// How many times two nodes race for the same thing; `TOOLWRIGHT_RACES=1000` is the long form.
pub fn race_count() -> usize {
    let count = std::env::var("TOOLWRIGHT_RACES").ok();
    count.map_or(40, |count| count.parse().expect("TOOLWRIGHT_RACES is a number"))
}

pub fn user_entry(id: impl Into<String>, at: u64, text: &str) -> Entry {
    let content = vec![Content::text(text)];
    Entry::new(id, at, EntryBody::User { content })
}

/// Returns `count` entries; their ids are the numbers from `from`.
pub fn numbered_entries(from: usize, count: usize) -> Vec<Entry> {
    let entry = |n: usize| user_entry(format!("{n}"), n as u64, &format!("entry {n}"));
    (from..from + count).map(entry).collect()
}

pub fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

pub fn encode(entries: &[Entry]) -> Vec<String> {
    let text = |entry| serde_json::to_string(entry).unwrap();
    entries.iter().map(text).collect()
}

/// Acquires the lease of a conversation for a holder; `None` if another one has it.
pub async fn acquire_as(store: &dyn Store, conversation: &str, holder: &str) -> Option<Lease> {
    store.acquire(conversation, holder, LONG).await.unwrap()
}

/// Acquires the lease of a conversation, which must be free.
pub async fn acquire(store: &dyn Store, conversation: &str) -> Lease {
    acquire_as(store, conversation, "me").await.expect("the lease is free")
}

/// Appends entries under a lease that is released afterwards.
pub async fn append(store: &dyn Store, conversation: &str, entries: &[Entry]) {
    let lease = acquire(store, conversation).await;
    store.append(&lease, Append::new(entries)).await.unwrap();
    store.release(&lease).await.unwrap();
}

/// A message for an inbox.
pub fn inbox_message(id: &str, text: &str) -> InboxItem {
    let part = MessagePart { role: Role::User, content: vec![Content::text(text)] };
    let client_tools = vec![serde_json::json!({ "name": "blink", "parameters": {} })];
    let body = InboxBody::Message { parts: vec![part], model: None, after: None, client_tools };
    InboxItem::new(id, 7, body)
}

/// The calls of tools, in order.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A tool that needs approval and writes its arguments to the log.
pub fn pay_tool(log: &Log) -> Tool {
    let log = log.clone();
    Tool::builder("pay", "Pays a bill.")
        .destructive(true)
        .param::<i64>("amount", "How much.")
        .run(move |args, _| {
            let amount: i64 = args.get("amount")?;
            log.write(format!("paid {amount}"));
            Ok::<_, ToolError>(format!("paid {amount}"))
        })
        .unwrap()
}

/// A new chat, as a restarted process builds it.
pub fn chat(model: ScriptedModel, tools: Vec<Tool>, store: Arc<dyn Store>) -> Chat {
    let registry = Registry::new();
    registry.add(tools).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    Chat::builder(&invoker, model).store(store).build()
}

/// Shared state with the three primitives of a store, and nothing that the store overrides.
pub struct Primitives(pub Arc<dyn SharedState>);

impl SharedState for Primitives {
    fn get<'a>(&'a self, space: &'a str, key: &'a str) -> SharedStateFuture<'a, Option<String>> {
        self.0.get(space, key)
    }

    fn swap<'a>(
        &'a self,
        space: &'a str,
        key: &'a str,
        expected: Option<&'a str>,
        new: Option<&'a str>,
        ttl: TimeToLive,
    ) -> SharedStateFuture<'a, bool> {
        self.0.swap(space, key, expected, new, ttl)
    }

    fn scan<'a>(
        &'a self,
        space: Option<&'a str>,
        prefix: &'a str,
        limit: usize,
    ) -> SharedStateFuture<'a, Vec<SharedValue>> {
        self.0.scan(space, prefix, limit)
    }
}
