//! Sessions, which a handshake opens: the client's capabilities, its requests in flight, and ours to the client.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolwright_core::{Caller, CancellationToken, SessionId, ToolError};

use self::event_id::is_node_id;
use self::shared_session::SharedSession;
use crate::lock::lock;
use crate::server::{
    ClientCapabilities, InFlightRequests, LogLevel, ReplayBuffers, RequestContext, Revision,
    RpcError, RpcMessage,
};

pub(crate) mod event_id;
pub(crate) mod handshake;
pub(crate) mod in_flight;
pub(crate) mod remote_stream;
pub(crate) mod replay_buffer;
pub(crate) mod session_store;
pub(crate) mod shared_session;

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
    /// In a cluster, over HTTP.
    shared: Option<SharedSession>,
    state: Mutex<SessionState>,
    next_request_id: AtomicU64,
}

struct SessionState {
    log_level: LogLevel,
    /// Requests to the client that it has not answered yet.
    pending_requests: HashMap<u64, oneshot::Sender<ClientAnswer>>,
    subscribed_uris: BTreeSet<String>,
}

/// The result that a client has answered a request with, or the message of its error.
pub(crate) type ClientAnswer = Result<Value, String>;

/// A request to the client, by the id of its answer.
pub(crate) enum AnsweredRequest<'a> {
    /// Of this node.
    Own(u64),
    /// Of another node.
    Remote(&'a str, u64),
}

/// The size of all addresses that one session may subscribe to, in bytes.
const MAX_SUBSCRIBED_BYTES: usize = 256 << 10;

/// A change of what a session wants to receive.
#[derive(Clone, Debug)]
pub(crate) enum SessionChange {
    SetLogLevel(LogLevel),
    Subscribe(String),
    Unsubscribe(String),
}

impl SessionChange {
    fn apply(
        &self,
        log_level: &mut LogLevel,
        subscriptions: &mut BTreeSet<String>,
    ) -> Result<(), RpcError> {
        match self {
            Self::SetLogLevel(level) => *log_level = *level,
            Self::Subscribe(uri) => {
                let bytes: usize = subscriptions.iter().map(String::len).sum();
                if bytes + uri.len() > MAX_SUBSCRIBED_BYTES {
                    let message = "the session has subscribed to too much: unsubscribe first";
                    return Err(RpcError::invalid_params(message));
                }
                subscriptions.insert(uri.clone());
            }
            Self::Unsubscribe(uri) => {
                subscriptions.remove(uri);
            }
        }
        Ok(())
    }
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
            shared: None,
            state: Mutex::new(SessionState {
                log_level: LogLevel::Info,
                pending_requests: HashMap::new(),
                subscribed_uris: BTreeSet::new(),
            }),
            next_request_id: AtomicU64::new(1),
        }
    }

    pub(crate) fn log_level(&self) -> LogLevel {
        lock(&self.state).log_level
    }

    /// Changes the session at this node.
    pub(crate) fn change(&self, change: &SessionChange) -> Result<(), RpcError> {
        let mut state = lock(&self.state);
        let SessionState { log_level, subscribed_uris, .. } = &mut *state;
        change.apply(log_level, subscribed_uris)
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        lock(&self.state).subscribed_uris.contains(uri)
    }

    /// Passes a response of the client to the waiting [`send_request`](Self::send_request) of this node; others are dropped.
    pub(crate) fn handle_response(&self, message: &RpcMessage<'_>) {
        if let Some(AnsweredRequest::Own(id)) = self.answered_request(message.id()) {
            self.resolve_request(id, client_answer(message));
        }
    }

    /// Returns the request that a response with this id, as raw JSON, answers; `None` if the id is none of ours.
    pub(crate) fn answered_request<'m>(&self, id: &'m str) -> Option<AnsweredRequest<'m>> {
        let Some(shared) = &self.shared else {
            return id.parse().ok().map(AnsweredRequest::Own);
        };
        let (node, number) = id.strip_prefix('"')?.strip_suffix('"')?.split_once('-')?;
        let number = number.parse().ok()?;
        match *node == **shared.node() {
            true => Some(AnsweredRequest::Own(number)),
            false => is_node_id(node).then_some(AnsweredRequest::Remote(node, number)),
        }
    }

    /// Passes an answer to the waiting [`send_request`](Self::send_request); returns false if there is none.
    pub(crate) fn resolve_request(&self, id: u64, answer: ClientAnswer) -> bool {
        let pending = lock(&self.state).pending_requests.remove(&id);
        // The receiver may have been dropped.
        pending.is_some_and(|pending| pending.send(answer).is_ok())
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
        // The client may send its response to another node.
        let wire_id = match &self.shared {
            Some(shared) => format!("{}-{id}", shared.node()).into(),
            None => Value::from(id),
        };
        let request =
            json!({ "jsonrpc": "2.0", "id": wire_id, "method": method, "params": params });
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

/// Returns the result or the error of a response.
pub(crate) fn client_answer(message: &RpcMessage<'_>) -> ClientAnswer {
    match (message.result, message.error) {
        (Some(result), None) => {
            serde_json::from_str(result.get()).map_err(|_| "its answer cannot be read".to_owned())
        }
        (_, error) => Err(error_message(error.map_or("null", |error| error.get()))),
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
