//! One request under way: what is known of whoever sent it, and what it has to hear before the response.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use serde_json::{Map, Value, json};
use toolwright_core::{CallEvent, Caller};

use crate::server::request::request_state::{InputRound, VerifiedState};
use crate::server::rpc::capability::{ClientCapabilities, ClientCapability};
use crate::server::rpc::log_level::LogLevel;
use crate::server::rpc::response::{notification_json, set_field};
use crate::server::rpc::revision::Revision;
use crate::server::session::Session;
use toolwright_auth::Principal;

/// How many messages wait for a slow reader before progress and log messages are dropped.
const MAX_QUEUED_MESSAGES: usize = 1024;

/// One request under way.
pub(crate) struct RequestContext {
    pub(crate) revision: Revision,
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) caller: Caller,
    /// Who was let in, where there is a door: the caller, and what they reach.
    pub(crate) principal: Option<Principal>,
    /// The session it belongs to, in revisions that have them.
    pub(crate) session: Option<Arc<Session>>,
    /// What log messages the sender wants, where each request says so.
    pub(crate) log_level: Option<LogLevel>,
    /// The token to report progress under, as it was written.
    pub(crate) progress_token: Option<Box<str>>,
    /// Whether anything can be sent before the response.
    pub(crate) can_stream: bool,
    state: Mutex<ContextState>,
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
    /// Whether the work may go on without somebody waiting for it.
    detachable: bool,
    /// Whether nobody waits for the response any more: questions wait instead of ending the round.
    detached: bool,
    /// Those who wait for answers.
    answer_wakers: Vec<Waker>,
}

/// Why work does not go on where it began.
pub(crate) enum Pause {
    /// It cannot without these answers.
    InputRequired(Vec<InputRequest>),
    /// It goes on as a task.
    Detached,
}

/// Something that a call cannot go on without, to be asked of whoever sent the request.
pub(crate) struct InputRequest {
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

impl InputRequest {
    /// Writes the question under its key.
    pub(crate) fn to_wire(&self) -> (String, Value) {
        let request = json!({ "method": self.method, "params": self.params });
        (self.key.clone(), request)
    }
}

impl RequestContext {
    pub(crate) fn new(
        revision: Revision,
        capabilities: ClientCapabilities,
        caller: Caller,
    ) -> Self {
        Self {
            revision,
            capabilities,
            caller,
            principal: None,
            session: None,
            log_level: None,
            progress_token: None,
            can_stream: true,
            state: Mutex::default(),
        }
    }

    /// Says who sent it.
    pub(crate) fn with_principal(mut self, visitor: Principal) -> Self {
        self.caller = visitor.caller().clone();
        self.principal = Some(visitor);
        self
    }

    /// Waits until the token that it came with ends.
    pub(crate) async fn wait_expired(&self) {
        match &self.principal {
            Some(visitor) => visitor.wait_expired().await,
            None => std::future::pending().await,
        }
    }

    /// Brings what was answered in earlier rounds.
    pub(crate) fn restore_answers(&self, opened: VerifiedState) {
        let mut state = self.state();
        state.answers = opened.answers;
        state.input_round = opened.input_round;
    }

    /// Returns the round of questions that this request answers.
    pub(crate) fn input_round(&self) -> Option<InputRound> {
        self.state().input_round.clone()
    }

    pub(crate) fn answer(&self, key: &str) -> Option<Value> {
        let answer = self.state().answers.get(key).cloned();
        // Whatever was sent in place of an answer is asked for again.
        answer.filter(Value::is_object)
    }

    /// Returns all that was answered so far.
    pub(crate) fn answers(&self) -> Map<String, Value> {
        self.state().answers.clone()
    }

    /// Puts a question into the response of this round.
    pub(crate) fn request_input(&self, asked: InputRequest) {
        let mut state = self.state();
        if state
            .input_requests
            .iter()
            .all(|known| known.key != asked.key)
        {
            state.input_requests.push(asked);
        }
        state.wake();
    }

    /// Keeps in mind what the client would have had to support.
    pub(crate) fn record_missing(&self, capability: ClientCapability) {
        let mut state = self.state();
        if !state.missing_capabilities.contains(&capability) {
            state.missing_capabilities.push(capability);
        }
    }

    pub(crate) fn missing_capabilities(&self) -> Vec<ClientCapability> {
        self.state().missing_capabilities.clone()
    }

    /// Sends a message before the response.
    pub(crate) fn send(&self, message: String) {
        if self.can_stream {
            let mut state = self.state();
            state.outgoing.push_back(message);
            state.wake();
        }
    }

    /// Sends a message that may be lost, if the reader keeps up.
    pub(crate) fn send_lossy(&self, message: impl FnOnce() -> String) {
        if self.can_stream && self.state().outgoing.len() < MAX_QUEUED_MESSAGES {
            self.send(message());
        }
    }

    /// Reports what happens during a call, to those who asked for it.
    pub(crate) fn report_progress(&self, event: CallEvent) {
        let Some(token) = &self.progress_token else {
            return;
        };
        let (done, total, message) = match event {
            CallEvent::Progress {
                done,
                total,
                message,
                ..
            } => (done, total, message),
            CallEvent::Update { result, .. } => (None, None, Some(result.text().into_owned())),
            _ => return,
        };
        let progress = {
            let mut state = self.state();
            let progress =
                done.unwrap_or_else(|| state.last_progress.map_or(1.0, |last| last + 1.0));
            // Each has to be more than the last; a step back is nothing to tell.
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

    /// Takes the next message out, if there is one.
    pub(crate) fn poll_message(&self, waker: &Waker) -> Poll<String> {
        let mut state = self.state();
        match state.outgoing.pop_front() {
            Some(message) => Poll::Ready(message),
            None => {
                state.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Runs work until it is done, or cannot go on without an answer.
    ///
    /// Work that asks several things at once has asked them all when it first has to wait.
    ///
    /// Work that has detached itself is left as it is, to be gone on with elsewhere.
    pub(crate) async fn run_until_input_required<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, Pause> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            let mut state = self.state();
            if state.detached {
                return Poll::Ready(Err(Pause::Detached));
            }
            if state.input_requests.is_empty() {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Err(Pause::InputRequired(std::mem::take(
                &mut state.input_requests,
            ))))
        })
        .await
    }

    /// Allows the work to go on as a task.
    pub(crate) fn allow_detaching(&self) {
        self.state().detachable = true;
    }

    /// Goes on as a task, where that is allowed.
    pub(crate) fn detach(&self) {
        let mut state = self.state();
        if state.detachable {
            state.detached = true;
            state.wake();
        }
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.state().detached
    }

    /// Waits for the answer to a question that a task has asked.
    pub(crate) async fn wait_for_answer(&self, key: &str) -> Value {
        poll_fn(|cx| {
            let mut state = self.state();
            match state.answers.get(key) {
                Some(answer) if answer.is_object() => Poll::Ready(answer.clone()),
                _ => {
                    state.answer_wakers.push(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Brings answers to questions that a task has asked; what was not asked is dropped.
    pub(crate) fn add_answers(&self, answers: Map<String, Value>) {
        let mut state = self.state();
        for (key, answer) in answers {
            if answer.is_object() && state.input_requests.iter().any(|it| it.key == key) {
                state.input_requests.retain(|it| it.key != key);
                state.answers.insert(key, answer);
            }
        }
        for waker in std::mem::take(&mut state.answer_wakers) {
            waker.wake();
        }
    }

    /// Lists the questions of a task that nobody has answered yet, as they go over the wire.
    pub(crate) fn pending_input_requests(&self) -> Map<String, Value> {
        let state = self.state();
        state
            .input_requests
            .iter()
            .map(InputRequest::to_wire)
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, ContextState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ContextState {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
