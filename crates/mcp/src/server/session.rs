//! Sessions, which a handshake opens: the client's capabilities, its requests in flight, and ours to the client.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolwright_core::{Caller, CancellationToken, SessionId, ToolError};

use crate::lock::lock;
use crate::server::{
    ClientCapabilities, InFlightRequests, LogLevel, ReplayBuffers, RequestContext, Revision,
    RpcMessage,
};

pub(crate) mod handshake;
pub(crate) mod in_flight;
pub(crate) mod replay_buffer;

/// A session, in revisions that have them.
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) revision: Revision,
    pub(crate) capabilities: ClientCapabilities,
    /// The caller that opened it; requests of other callers are rejected even if they know its id.
    pub(crate) caller: Caller,
    pub(crate) ended: CancellationToken,
    pub(crate) replay_buffers: ReplayBuffers,
    pub(crate) in_flight: Arc<InFlightRequests>,
    state: Mutex<SessionState>,
    next_request_id: AtomicU64,
}

struct SessionState {
    log_level: LogLevel,
    /// Requests to the client that it has not answered yet.
    pending_requests: HashMap<u64, oneshot::Sender<Result<Value, String>>>,
    subscribed_uris: HashSet<String>,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        revision: Revision,
        capabilities: ClientCapabilities,
        caller: Caller,
    ) -> Self {
        Self {
            id,
            revision,
            capabilities,
            caller,
            ended: CancellationToken::new(),
            replay_buffers: ReplayBuffers::default(),
            in_flight: Arc::default(),
            state: Mutex::new(SessionState {
                log_level: LogLevel::Info,
                pending_requests: HashMap::new(),
                subscribed_uris: HashSet::new(),
            }),
            next_request_id: AtomicU64::new(1),
        }
    }

    pub(crate) fn log_level(&self) -> LogLevel {
        lock(&self.state).log_level
    }

    pub(crate) fn set_log_level(&self, level: LogLevel) {
        lock(&self.state).log_level = level;
    }

    pub(crate) fn subscribe(&self, uri: &str) {
        lock(&self.state).subscribed_uris.insert(uri.to_owned());
    }

    pub(crate) fn unsubscribe(&self, uri: &str) {
        lock(&self.state).subscribed_uris.remove(uri);
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        lock(&self.state).subscribed_uris.contains(uri)
    }

    /// Passes a response of the client to the waiting [`send_request`](Self::send_request); others are dropped.
    pub(crate) fn handle_response(&self, message: &RpcMessage<'_>) {
        let Ok(id) = message.id().parse::<u64>() else {
            return;
        };
        let pending = lock(&self.state).pending_requests.remove(&id);
        if let Some(pending) = pending {
            let answer = match (message.result, message.error) {
                (Some(result), None) => serde_json::from_str(result.get())
                    .map_err(|_| "its answer cannot be read".to_owned()),
                (_, error) => Err(error_message(error.map_or("null", |error| error.get()))),
            };
            // The receiver may have been dropped.
            let _ = pending.send(answer);
        }
    }

    /// Sends a request to the client in the response stream of one of its own, and waits for the response.
    pub(crate) async fn send_request(
        &self,
        context: &RequestContext,
        method: &str,
        params: &Value,
    ) -> Result<Value, ToolError> {
        let id = self.next_request_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        lock(&self.state).pending_requests.insert(id, sender);
        let _pending = PendingRequest { session: self, id };
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        context.send(request.to_string());
        tokio::select! {
            answer = receiver => match answer {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(reason)) => Err(ToolError::failed(format!("the client did not answer: {reason}"))),
                Err(_) => Err(ToolError::failed("the client did not answer")),
            },
            () = self.ended.cancelled() => Err(ToolError::failed("the session has ended")),
        }
    }
}

/// Returns the message of a JSON-RPC error.
fn error_message(error: &str) -> String {
    let error: Value = serde_json::from_str(error).unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str);
    message.unwrap_or("its error has no message").to_owned()
}

/// Removes a pending request when it is dropped.
struct PendingRequest<'a> {
    session: &'a Session,
    id: u64,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        lock(&self.session.state).pending_requests.remove(&self.id);
    }
}
