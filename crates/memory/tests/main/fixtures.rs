//! What the tests share: entries, leases, tools that keep a log.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolwright::chat::testing::ScriptedModel;
use toolwright::chat::{Chat, Entry, Lease, Store, What};
use toolwright::{Content, Invoker, Registry, Tool, ToolError};

/// Longer than any test takes.
pub(crate) const LONG: Duration = Duration::from_secs(600);

pub(crate) fn said(id: impl Into<String>, at: u64, text: &str) -> Entry {
    let content = vec![Content::text(text)];
    Entry::new(id, at, What::User { content })
}

/// So many entries, with ids that count from a number.
pub(crate) fn several(from: usize, count: usize) -> Vec<Entry> {
    let entry = |n: usize| said(format!("{n}"), n as u64, &format!("entry {n}"));
    (from..from + count).map(entry).collect()
}

pub(crate) fn ids(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

pub(crate) fn texts(entries: &[Entry]) -> Vec<String> {
    let text = |entry| serde_json::to_string(entry).unwrap();
    entries.iter().map(text).collect()
}

/// Takes a conversation that nobody has.
pub(crate) async fn hold(store: &dyn Store, conversation: &str) -> Lease {
    let lease = Lease::new(conversation, "me");
    assert!(store.lease(&lease, LONG).await.unwrap(), "{conversation}");
    lease
}

/// Tells a conversation entries, as one that takes it and gives it back.
pub(crate) async fn tell(store: &dyn Store, conversation: &str, entries: &[Entry]) {
    let lease = hold(store, conversation).await;
    store.append(&lease, entries).await.unwrap();
    store.release(&lease).await.unwrap();
}

/// What tools did, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn write(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// A tool that needs approval and writes into the log with what it was called.
pub(crate) fn pay(log: &Log) -> Tool {
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

/// A chat of a process that has just started.
pub(crate) fn chat(model: ScriptedModel, tools: Vec<Tool>, store: Arc<dyn Store>) -> Chat {
    let registry = Registry::new();
    registry.add(tools).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    Chat::builder(model, &invoker).store(store).build()
}
