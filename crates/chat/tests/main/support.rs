//! Shared by the tests: tools that write a log, a chat in one line, and the requests that a model received.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use serde_json::Value;
use tokio::task::yield_now;
use toolwright::chat::{
    Append, Chat, ChatBuilder, ChatError, ChatEvent, ChatStream, Entry, Lease, MemoryStore,
    Message, Model, ModelRequest, Response, Store, StoreFuture, delegate_store, history,
};
use toolwright::testing::ScriptedModel;
use toolwright::{Bundle, Invoker, Registry, Tool, ToolBuilder, ToolResult};

pub(crate) fn registry(tools: impl Bundle) -> Registry {
    let registry = Registry::new();
    registry.add(tools).unwrap();
    registry
}

pub(crate) fn builder(model: impl Model, tools: impl Bundle) -> ChatBuilder {
    Chat::builder(&Invoker::new(registry(tools)).unwrap(), model)
}

pub(crate) fn chat(model: impl Model, tools: impl Bundle) -> Chat {
    builder(model, tools).build()
}

/// No tools at all.
pub(crate) fn none() -> Vec<Tool> {
    Vec::new()
}

/// The calls of tools, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn write(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines().is_empty()
    }
}

/// Ends a tool that takes `n`, writes its name and `n` into the log, and returns the same.
pub(crate) fn logging_tool(tool: ToolBuilder, log: &Log) -> Tool {
    let log = log.clone();
    tool.param::<Option<i64>>("n", "Which.")
        .run(move |args, cx| {
            let n: Option<i64> = args.get("n")?;
            let n = n.map(|n| n.to_string()).unwrap_or_default();
            let line = format!("{} {n}", cx.info().tool);
            log.write(line.as_str());
            Ok::<_, toolwright::ToolError>(line)
        })
        .unwrap()
}

/// A tool that only reads.
pub(crate) fn read_tool(log: &Log) -> Tool {
    logging_tool(Tool::builder("look", "Looks.").read_only(true), log)
}

/// A tool that changes something.
pub(crate) fn write(log: &Log) -> Tool {
    logging_tool(Tool::builder("write", "Writes."), log)
}

/// A tool that needs approval.
pub(crate) fn pay(log: &Log) -> Tool {
    let pay = Tool::builder("pay", "Pays a bill.").title("Payment");
    logging_tool(pay.destructive(true), log)
}

/// A read-only tool that always answers the same.
pub(crate) fn constant_tool(name: &str, text: &'static str) -> Tool {
    Tool::builder(name, "Returns a text.").read_only(true).run(move |_, _| text).unwrap()
}

/// A tool that fails with this error.
pub(crate) fn failing_tool(name: &str, error: fn() -> toolwright::ToolError) -> Tool {
    Tool::builder(name, "Fails.").run(move |_, _| Err::<String, _>(error())).unwrap()
}

/// The results at the end of a request.
pub(crate) fn results(request: &ModelRequest) -> Vec<ToolResult> {
    match request.messages.last() {
        Some(Message::Results(results)) => results.clone(),
        other => panic!("no results: {other:?}"),
    }
}

/// The texts of the results in the last request to a scripted model.
pub(crate) fn last_result_texts(model: &ScriptedModel) -> Vec<String> {
    let requests = model.requests();
    let results = results(requests.last().unwrap());
    results.iter().map(|result| result.text().into_owned()).collect()
}

/// The names of the tools that a request shows.
pub(crate) fn tool_names(request: &ModelRequest) -> Vec<String> {
    let names = request.tools.iter().map(|tool| tool.spec().name.to_string());
    names.collect()
}

/// Reads a stream to its end; returns its events, and the error it ended with.
pub(crate) async fn events(mut stream: ChatStream) -> (Vec<ChatEvent>, Option<ChatError>) {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => events.push(event),
            Err(error) => {
                assert!(stream.next().await.is_none(), "an error is the last word");
                return (events, Some(error));
            }
        }
    }
    assert!(stream.into_response().is_some());
    (events, None)
}

/// The kinds of events, as their JSON names them.
pub(crate) fn kinds(events: &[ChatEvent]) -> Vec<String> {
    let kind = |event| match serde_json::to_value(event).unwrap()["type"].take() {
        Value::String(kind) => kind,
        other => panic!("no type: {other}"),
    };
    events.iter().map(kind).collect()
}

/// The stored entries of a conversation.
pub(crate) async fn stored_entries(store: &Arc<MemoryStore>, conversation: &str) -> Vec<Entry> {
    store.load(conversation).await.unwrap()
}

/// Stores entries as they are, as a process does that then dies.
pub(crate) async fn store_entries(store: &MemoryStore, conversation: &str, entries: &[Entry]) {
    let lease = store.acquire(conversation, "test", Duration::MAX).await.unwrap().unwrap();
    store.append(&lease, Append::new(entries)).await.unwrap();
    store.release(&lease).await.unwrap();
}

/// Asserts that every call in the messages of a journal has its result.
#[track_caller]
pub(crate) fn assert_complete(entries: &[Entry]) {
    assert_paired(&history(entries));
}

/// Asserts that every step with calls is followed by one list of results: one per call, in order.
#[track_caller]
pub(crate) fn assert_paired(messages: &[Message]) {
    if let Some(what) = unpaired(messages) {
        panic!("{what}");
    }
}

/// What is wrong with a conversation, if a call or a result stands alone in it.
pub(crate) fn unpaired(messages: &[Message]) -> Option<String> {
    let mut messages = messages.iter();
    while let Some(message) = messages.next() {
        let calls: Vec<String> = match message {
            Message::Results(_) => return Some("results without calls".to_owned()),
            Message::Step(step) => step.calls().map(|call| call.id.to_string()).collect(),
            _ => continue,
        };
        if calls.is_empty() {
            continue;
        }
        let Some(Message::Results(results)) = messages.next() else {
            return Some(format!("calls without results: {calls:?}"));
        };
        let answered: Vec<String> = results.iter().map(|it| it.call_id.to_string()).collect();
        if answered != calls {
            return Some(format!("{calls:?} are answered by {answered:?}"));
        }
    }
    None
}

/// The reason and the response of a turn that was ended.
#[track_caller]
pub(crate) fn ended(result: Result<Response, ChatError>) -> (String, Response) {
    match result {
        Err(ChatError::Ended { reason, response }) => (reason, *response),
        other => panic!("the turn was not ended: {other:?}"),
    }
}

/// A store whose futures can be dropped before and after it has written.
#[derive(Clone, Default)]
pub(crate) struct YieldingStore(pub(crate) Arc<MemoryStore>);

impl YieldingStore {
    pub(crate) fn entries(&self, conversation: &str) -> Vec<Entry> {
        let loaded = self.0.load(conversation).now_or_never();
        loaded.unwrap().unwrap()
    }
}

impl Store for YieldingStore {
    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            yield_now().await;
            self.0.append(lease, append).await?;
            yield_now().await;
            Ok(())
        })
    }

    delegate_store!(|self| self.0 =>
        scope acquire renew release lease_status push_inbox inbox remove_inbox_item list_unattended tail list
        list_by_owner list_older_than delete delete_expired shared_state signing_keys rotate_signing_key
        check_writable);
}
