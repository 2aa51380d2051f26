//! What a handshake established: who is there, what they can do, what is under way.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolwright_core::{Caller, CancellationToken, SessionId, ToolError};

use super::calls::Calls;
use super::capability::Capabilities;
use super::exchange::Exchange;
use super::log::LogLevel;
use super::message::Message;
use super::revision::Revision;
use super::streams::Streams;

/// One session of a revision that has them.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) revision: Revision,
    pub(crate) capabilities: Capabilities,
    /// Whoever opened it: nobody else may use it, though they know its id.
    pub(crate) caller: Caller,
    pub(crate) ended: CancellationToken,
    pub(crate) streams: Streams,
    pub(crate) calls: Arc<Calls>,
    held: Mutex<Held>,
    next: AtomicU64,
}

struct Held {
    level: LogLevel,
    /// Questions of ours that the client has not answered.
    open: HashMap<u64, oneshot::Sender<Result<Value, String>>>,
    watched: HashSet<String>,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        revision: Revision,
        capabilities: Capabilities,
        caller: Caller,
    ) -> Self {
        Self {
            id,
            revision,
            capabilities,
            caller,
            ended: CancellationToken::new(),
            streams: Streams::default(),
            calls: Arc::default(),
            held: Mutex::new(Held {
                level: LogLevel::Info,
                open: HashMap::new(),
                watched: HashSet::new(),
            }),
            next: AtomicU64::new(1),
        }
    }

    pub(crate) fn log_level(&self) -> LogLevel {
        self.held().level
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        self.held().level = level;
    }

    pub(crate) fn watch(&self, uri: &str) {
        self.held().watched.insert(uri.to_owned());
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        self.held().watched.remove(uri);
    }

    pub(crate) fn watches(&self, uri: &str) -> bool {
        self.held().watched.contains(uri)
    }

    /// Hands an answer of the client's to whoever asked; an answer to nothing is dropped.
    pub(crate) fn answered(&self, message: &Message<'_>) {
        let Ok(id) = message.id().parse::<u64>() else {
            return;
        };
        let asked = self.held().open.remove(&id);
        if let Some(asked) = asked {
            let answer = match (message.result, message.error) {
                (Some(result), None) => serde_json::from_str(result.get())
                    .map_err(|_| "its answer cannot be read".to_owned()),
                (_, error) => Err(why(error.map_or("null", |error| error.get()))),
            };
            // Whoever asked may have given up.
            let _ = asked.send(answer);
        }
    }

    /// Asks the client in the stream of one of its requests, and waits.
    pub(crate) async fn ask(
        &self,
        exchange: &Exchange,
        method: &str,
        params: &Value,
    ) -> Result<Value, ToolError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.held().open.insert(id, answer);
        let _open = Open { session: self, id };
        let question = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        exchange.send(question.to_string());
        tokio::select! {
            answer = answered => match answer {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(why)) => Err(ToolError::failed(format!("the client did not answer: {why}"))),
                Err(_) => Err(ToolError::failed("the client did not answer")),
            },
            () = self.ended.cancelled() => Err(ToolError::failed("the session has ended")),
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the message out of an error.
fn why(error: &str) -> String {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str);
    message.unwrap_or("it said neither yes nor no").to_owned()
}

/// A question that is forgotten when nobody waits for its answer.
struct Open<'a> {
    session: &'a Session,
    id: u64,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.session.held().open.remove(&self.id);
    }
}
