//! The context of a request: its sender, and the messages that are sent before the response.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use serde_json::{Map, Value, json};
use tokio::sync::Notify;
use toolwright_auth::Principal;
use toolwright_core::{Approvers, CallEvent, Caller};

use crate::lock::lock;
use crate::server::{
    ClientCapabilities, ClientCapability, InputRound, LogLevel, Revision, RpcMessage, Session,
    VerifiedState, notification_json, set_field,
};

/// While more messages than this wait for a slow reader, progress and log messages are dropped.
const MAX_QUEUED_MESSAGES: usize = 1024;

/// The context of a request in flight.
pub(crate) struct RequestContext {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) caller: Caller,
    /// `None` over stdio.
    pub(crate) principal: Option<Principal>,
    /// In revisions that have sessions.
    pub(crate) session: Option<Arc<Session>>,
    /// The least severe log messages to send, in revisions where each request sets it.
    pub(crate) log_level: Option<LogLevel>,
    /// The token to report progress under, as raw JSON.
    pub(crate) progress_token: Option<Box<str>>,
    /// Whether messages can be sent before the response.
    pub(crate) can_stream: bool,
    state: Mutex<ContextState>,
    /// Notified when a task receives answers.
    answered: Notify,
    /// Notified when a task requests input, receives answers or ends.
    pub(crate) task_changed: Notify,
}

#[derive(Default)]
struct ContextState {
    outgoing: VecDeque<String>,
    waker: Option<Waker>,
    last_progress: Option<f64>,
    answers: Map<String, Value>,
    input_round: Option<InputRound>,
    input_requests: Vec<InputRequest>,
    missing_capabilities: Vec<ClientCapability>,
    /// Whether the call may continue as a task.
    detachable: bool,
    /// Whether it does: requests for input wait for their answers instead of ending the round.
    detached: bool,
}

/// Why an operation ends without a response of its own.
pub(crate) enum Pause {
    /// It cannot continue without these answers.
    InputRequired(Vec<InputRequest>),
    /// It continues as a task.
    Detached,
}

/// A request to the client that a call cannot continue without; `key` identifies it across rounds.
pub(crate) struct InputRequest {
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

impl InputRequest {
    /// Returns its key and its JSON.
    pub(crate) fn to_wire(&self) -> (String, Value) {
        let request = json!({ "method": self.method, "params": self.params });
        (self.key.clone(), request)
    }
}

impl RequestContext {
    pub(crate) fn new(revision: Revision, capabilities: ClientCapabilities) -> Self {
        Self {
            revision,
            capabilities,
            caller: Caller::default(),
            principal: None,
            session: None,
            log_level: None,
            progress_token: None,
            can_stream: true,
            state: Mutex::default(),
            answered: Notify::new(),
            task_changed: Notify::new(),
        }
    }

    pub(crate) fn in_session(session: &Arc<Session>) -> Self {
        Self {
            caller: session.caller.clone(),
            session: Some(Arc::clone(session)),
            ..Self::new(session.revision, session.capabilities)
        }
    }

    /// Reports progress under the token of this message, if it has one.
    pub(crate) fn with_progress(mut self, message: &RpcMessage<'_>) -> Self {
        self.progress_token = message.params.meta.progress_token.map(|raw| raw.get().into());
        self
    }

    pub(crate) fn with_principal(mut self, principal: Principal) -> Self {
        self.caller = principal.caller().clone();
        self.principal = Some(principal);
        self
    }

    /// Returns true if the principal is among these approvers, for its own calls.
    pub(crate) fn may_approve(&self, approvers: &Approvers) -> bool {
        match &self.principal {
            Some(principal) => {
                let subject = principal.subject();
                approvers.allow(subject, subject, principal.roles())
            }
            None => approvers.allow(None, None, []),
        }
    }

    /// Waits until the token of the principal expires.
    pub(crate) async fn wait_expired(&self) {
        match &self.principal {
            Some(principal) => principal.wait_expired().await,
            None => std::future::pending().await,
        }
    }

    /// Restores the answers of earlier rounds.
    pub(crate) fn restore_answers(&self, verified: VerifiedState) {
        let mut state = lock(&self.state);
        state.answers = verified.answers;
        state.input_round = verified.input_round;
    }

    /// Returns the round of input that this request answers, in revisions without sessions.
    pub(crate) fn input_round(&self) -> Option<InputRound> {
        lock(&self.state).input_round.clone()
    }

    pub(crate) fn answer(&self, key: &str) -> Option<Value> {
        let answer = lock(&self.state).answers.get(key).cloned();
        // Anything else than an object is no answer, and is requested again.
        answer.filter(Value::is_object)
    }

    /// Returns the answers of all rounds so far.
    pub(crate) fn answers(&self) -> Map<String, Value> {
        lock(&self.state).answers.clone()
    }

    /// Adds a request for input to the response of this round.
    pub(crate) fn request_input(&self, request: InputRequest) {
        let mut state = lock(&self.state);
        if state.input_requests.iter().all(|known| known.key != request.key) {
            state.input_requests.push(request);
        }
        state.wake();
        if state.detached {
            self.task_changed.notify_one();
        }
    }

    /// Records a capability that the client would need.
    pub(crate) fn record_missing(&self, capability: ClientCapability) {
        let mut state = lock(&self.state);
        if !state.missing_capabilities.contains(&capability) {
            state.missing_capabilities.push(capability);
        }
    }

    /// Returns the capabilities that the call needed and the client did not declare.
    pub(crate) fn missing_capabilities(&self) -> Vec<ClientCapability> {
        lock(&self.state).missing_capabilities.clone()
    }

    /// Sends a message before the response; drops it if there is no stream.
    pub(crate) fn send(&self, message: String) {
        if self.can_stream {
            let mut state = lock(&self.state);
            state.outgoing.push_back(message);
            state.wake();
        }
    }

    /// Sends a message, unless too many wait already.
    pub(crate) fn send_lossy(&self, message: impl FnOnce() -> String) {
        if self.can_stream && lock(&self.state).outgoing.len() < MAX_QUEUED_MESSAGES {
            self.send(message());
        }
    }

    /// Sends a progress notification, if the client has requested them.
    pub(crate) fn report_progress(&self, event: CallEvent) {
        let Some(token) = &self.progress_token else {
            return;
        };
        let (done, total, message) = match event {
            CallEvent::Progress { done, total, message, .. } => (done, total, message),
            CallEvent::Update { result, .. } => (None, None, Some(result.text().into_owned())),
            _ => return,
        };
        let progress = {
            let mut state = lock(&self.state);
            let progress =
                done.unwrap_or_else(|| state.last_progress.map_or(1.0, |last| last + 1.0));
            // The protocol requires progress to increase; other values are dropped.
            if !progress.is_finite() || state.last_progress.is_some_and(|last| progress <= last) {
                return;
            }
            state.last_progress = Some(progress);
            progress
        };
        self.send_lossy(|| {
            let mut params = json!({ "progress": progress });
            if let Some(total) = total {
                set_field(&mut params, "total", total);
            }
            if let Some(message) = message {
                set_field(&mut params, "message", message);
            }
            let token: Value = serde_json::from_str(token).unwrap_or_default();
            set_field(&mut params, "progressToken", token);
            notification_json("notifications/progress", &params)
        });
    }

    /// Removes the next message from the queue.
    pub(crate) fn poll_message(&self, waker: &Waker) -> Poll<String> {
        let mut state = lock(&self.state);
        match state.outgoing.pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                state.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Runs an operation until it is done, needs input or detaches itself.
    ///
    /// When it first waits for input, it has made all requests that it makes concurrently. A detached operation is left as it
    /// is, to be continued as a task.
    pub(crate) async fn run_until_input_required<T>(
        &self,
        operation: impl Future<Output = T>,
    ) -> Result<T, Pause> {
        let mut operation = pin!(operation);
        poll_fn(|cx| {
            if let Poll::Ready(done) = operation.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            let mut state = lock(&self.state);
            if state.detached {
                return Poll::Ready(Err(Pause::Detached));
            }
            if state.input_requests.is_empty() {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Err(Pause::InputRequired(std::mem::take(&mut state.input_requests))))
        })
        .await
    }

    /// Allows the call to continue as a task.
    pub(crate) fn allow_detaching(&self) {
        lock(&self.state).detachable = true;
    }

    /// Continues the call as a task, where that is allowed.
    pub(crate) fn detach(&self) {
        let mut state = lock(&self.state);
        if state.detachable {
            state.detached = true;
            state.wake();
        }
    }

    pub(crate) fn is_detached(&self) -> bool {
        lock(&self.state).detached
    }

    /// Waits for the answer to a request of a task.
    pub(crate) async fn wait_for_answer(&self, key: &str) -> Value {
        loop {
            let answered = self.answered.notified();
            if let Some(answer) = self.answer(key) {
                return answer;
            }
            answered.await;
        }
    }

    /// Adds answers to requests of a task; others are dropped.
    pub(crate) fn add_answers(&self, answers: Map<String, Value>) {
        let mut state = lock(&self.state);
        for (key, answer) in answers {
            if answer.is_object() && state.input_requests.iter().any(|request| request.key == key) {
                state.input_requests.retain(|request| request.key != key);
                state.answers.insert(key, answer);
            }
        }
        self.answered.notify_waiters();
        self.task_changed.notify_one();
    }

    /// Returns the unanswered requests of a task as JSON, by key.
    pub(crate) fn pending_input_requests(&self) -> Map<String, Value> {
        let state = lock(&self.state);
        state.input_requests.iter().map(InputRequest::to_wire).collect()
    }
}

impl ContextState {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
