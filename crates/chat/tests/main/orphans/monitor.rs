//! Tools that check the journal whenever they run.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use serde_json::{Value, json};
use tokio::task::yield_now;
use toolwright::chat::{ApprovalVerdict, Entry, EntryBody, ModelRequest};
use toolwright::{CallId, Tool, ToolBuilder, ToolError};

use crate::support::YieldingStore;
use crate::support::unpaired;

#[derive(Clone)]
pub(super) struct Monitor {
    store: Arc<YieldingStore>,
    room: &'static str,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// How often each call has done its work.
    done: HashMap<String, usize>,
    wrong: Vec<String>,
}

/// The state of a call in the journal.
#[derive(Default)]
struct About {
    started: bool,
    finished: bool,
    asked: Option<Value>,
    verdict: Option<ApprovalVerdict>,
}

impl Monitor {
    pub(super) fn new(store: Arc<YieldingStore>, room: &'static str) -> Self {
        let seen = Arc::default();
        Self { store, room, seen }
    }

    pub(super) fn wrong(&self) -> Vec<String> {
        self.seen.lock().unwrap().wrong.clone()
    }

    fn complain(&self, what: String) {
        self.seen.lock().unwrap().wrong.push(what);
    }

    /// A model reads a conversation: every call has its result.
    pub(super) fn asked(&self, request: &ModelRequest) {
        if let Some(what) = unpaired(&request.messages) {
            self.complain(what);
        }
    }

    /// A tool does its work.
    fn done(&self, tool: &Kind, call: &CallId, arguments: &Value) {
        let entries = self.store.entries(self.room);
        let about = about(&entries);
        let this = about.get(call.as_str());
        let complain = |what: &str| self.complain(format!("{} {call}: {what}", tool.name));
        match this {
            Some(this) if this.started && !this.finished => {}
            _ => complain("runs without an entry in the journal"),
        }
        let times = {
            let mut seen = self.seen.lock().unwrap();
            let times = seen.done.entry(call.to_string()).or_default();
            *times += 1;
            *times
        };
        if times > 1 && !tool.repeatable {
            complain("runs again");
        }
        if tool.name != "look" {
            let waits = |it: &About| it.asked.is_some() && it.verdict.is_none() && !it.finished;
            if about.values().any(waits) {
                complain("runs before a decision");
            }
        }
        if tool.name == "pay" {
            let allowed = this.and_then(|this| match &this.verdict {
                Some(ApprovalVerdict::Approve) => this.asked.as_ref(),
                Some(ApprovalVerdict::Edit { arguments }) => Some(arguments),
                _ => None,
            });
            if allowed != Some(arguments) {
                complain("runs with arguments that were not approved");
            }
        }
    }
}

/// The states of the calls of the newest step in the journal.
fn about(entries: &[Entry]) -> HashMap<String, About> {
    let mut about: HashMap<String, About> = HashMap::new();
    for entry in entries {
        match &entry.body {
            EntryBody::Step { .. } => about.clear(),
            EntryBody::CallStarted { call } => {
                about.entry(call.to_string()).or_default().started = true
            }
            EntryBody::CallFinished { result } => {
                about.entry(result.call_id.to_string()).or_default().finished = true;
            }
            EntryBody::ApprovalRequested { call, arguments, .. } => {
                about.entry(call.to_string()).or_default().asked = Some(arguments.clone());
            }
            EntryBody::ApprovalDecided { call, verdict, .. } => {
                about.entry(call.to_string()).or_default().verdict = Some(verdict.clone());
            }
            _ => {}
        }
    }
    about
}

/// A tool, and what it may do.
#[derive(Clone)]
struct Kind {
    name: &'static str,
    repeatable: bool,
}

pub(super) fn tools(watch: &Monitor) -> Vec<Tool> {
    let tool = |name: &'static str, repeatable: bool, set: fn(ToolBuilder) -> ToolBuilder| {
        let watch = watch.clone();
        let kind = Kind { name, repeatable };
        set(Tool::builder(name, "Does something."))
            .param::<Option<i64>>("n", "Which.")
            .run_async(move |args, cx| {
                let (watch, kind) = (watch.clone(), kind.clone());
                async move {
                    yield_now().await;
                    let n: Option<i64> = args.get("n")?;
                    let shown = match n {
                        Some(n) => json!({ "n": n }),
                        None => json!({}),
                    };
                    watch.done(&kind, &cx.info().id, &shown);
                    yield_now().await;
                    match kind.name {
                        "fail" => Err(ToolError::failed("it failed")),
                        "burn" => Err(ToolError::fatal("it burns")),
                        name => Ok(name),
                    }
                }
            })
            .unwrap()
    };
    let program = |name: &'static str, replayable| {
        Tool::builder(name, "Calls the others.")
            .replayable(replayable)
            .param::<Option<i64>>("n", "Which.")
            .run_async(|args, cx| async move {
                let n: Option<i64> = args.get("n")?;
                for (at, tool) in ["look", "write", "pay", "again", "fail"].iter().enumerate() {
                    let n = n.unwrap_or_default() * 10 + at as i64;
                    cx.tools().call(*tool, json!({ "n": n })).await;
                }
                let both = ["pay", "write"].map(|tool| cx.tools().call(tool, json!({ "n": n })));
                join_all(both).await;
                Ok::<_, ToolError>("done")
            })
            .unwrap()
    };
    vec![
        program("run", true),
        program("plain", false),
        tool("look", true, |tool| tool.read_only(true)),
        tool("write", false, |tool| tool),
        tool("again", true, |tool| tool.idempotent(true)),
        tool("pay", false, |tool| tool.destructive(true)),
        tool("fail", false, |tool| tool),
        tool("burn", false, |tool| tool),
    ]
}
