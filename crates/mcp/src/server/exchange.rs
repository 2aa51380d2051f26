//! One request under way: what is known of whoever sent it, and what it has to hear before the response.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use serde_json::{Map, Value, json};
use toolwright_core::{CallEvent, Caller};

use super::capability::{Capabilities, Capability};
use super::log::LogLevel;
use super::reply::{notification, set};
use super::revision::Revision;
use super::session::Session;
use super::state::{Opened, Round};
use crate::access::{Reach, Visitor};

/// How many messages wait for a slow reader before progress and log messages are dropped.
const MOST_WAITING: usize = 1024;

/// One request under way.
pub(crate) struct Exchange {
    pub(crate) revision: Revision,
    pub(crate) capabilities: Capabilities,
    pub(crate) caller: Caller,
    /// Who was let in, where there is a door: the caller, and what they reach.
    pub(crate) visitor: Option<Visitor>,
    /// The session it belongs to, in revisions that have them.
    pub(crate) session: Option<Arc<Session>>,
    /// What log messages the sender wants, where each request says so.
    pub(crate) log_level: Option<LogLevel>,
    /// The token to report progress under, as it was written.
    pub(crate) progress: Option<Box<str>>,
    /// Whether anything can be sent before the response.
    pub(crate) streams: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<String>,
    waker: Option<Waker>,
    progress: Option<f64>,
    answers: Map<String, Value>,
    round: Option<Round>,
    asked: Vec<Asked>,
    missing: Vec<Capability>,
    /// Whether the work may go on without somebody waiting for it.
    detachable: bool,
    /// Whether nobody waits for the response any more: questions wait instead of ending the round.
    detached: bool,
    /// Those who wait for answers.
    asking: Vec<Waker>,
}

/// Why work does not go on where it began.
pub(crate) enum Pause {
    /// It cannot without these answers.
    Asked(Vec<Asked>),
    /// It goes on as a task.
    Detached,
}

/// Something that a call cannot go on without, to be asked of whoever sent the request.
pub(crate) struct Asked {
    pub(crate) key: String,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
}

impl Asked {
    /// Writes the question under its key.
    pub(crate) fn request(&self) -> (String, Value) {
        let request = json!({ "method": self.method, "params": self.params });
        (self.key.clone(), request)
    }
}

impl Exchange {
    pub(crate) fn new(revision: Revision, capabilities: Capabilities, caller: Caller) -> Self {
        Self {
            revision,
            capabilities,
            caller,
            visitor: None,
            session: None,
            log_level: None,
            progress: None,
            streams: true,
            state: Mutex::default(),
        }
    }

    /// Says who sent it.
    pub(crate) fn of(mut self, visitor: Visitor) -> Self {
        self.caller = visitor.caller.clone();
        self.visitor = Some(visitor);
        self
    }

    /// Returns what whoever sent it reaches.
    pub(crate) fn reach<'a>(&'a self, whole: &'a Reach) -> &'a Reach {
        self.visitor
            .as_ref()
            .map_or(whole, |visitor| &visitor.reach)
    }

    /// Waits until the token that it came with ends.
    pub(crate) async fn expired(&self) {
        match &self.visitor {
            Some(visitor) => visitor.expired().await,
            None => std::future::pending().await,
        }
    }

    /// Brings what was answered in earlier rounds.
    pub(crate) fn bring(&self, opened: Opened) {
        let mut state = self.state();
        state.answers = opened.answers;
        state.round = opened.round;
    }

    /// Returns the round of questions that this request answers.
    pub(crate) fn round(&self) -> Option<Round> {
        self.state().round.clone()
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
    pub(crate) fn ask(&self, asked: Asked) {
        let mut state = self.state();
        if state.asked.iter().all(|known| known.key != asked.key) {
            state.asked.push(asked);
        }
        state.wake();
    }

    /// Keeps in mind what the client would have had to support.
    pub(crate) fn miss(&self, capability: Capability) {
        let mut state = self.state();
        if !state.missing.contains(&capability) {
            state.missing.push(capability);
        }
    }

    pub(crate) fn missing(&self) -> Vec<Capability> {
        self.state().missing.clone()
    }

    /// Sends a message before the response.
    pub(crate) fn send(&self, message: String) {
        if self.streams {
            let mut state = self.state();
            state.waiting.push_back(message);
            state.wake();
        }
    }

    /// Sends a message that may be lost, if the reader keeps up.
    pub(crate) fn send_lossy(&self, message: impl FnOnce() -> String) {
        if self.streams && self.state().waiting.len() < MOST_WAITING {
            self.send(message());
        }
    }

    /// Reports what happens during a call, to those who asked for it.
    pub(crate) fn report(&self, event: CallEvent) {
        let Some(token) = &self.progress else { return };
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
            let progress = done.unwrap_or_else(|| state.progress.map_or(1.0, |last| last + 1.0));
            // Each has to be more than the last; a step back is nothing to tell.
            if !progress.is_finite() || state.progress.is_some_and(|last| progress <= last) {
                return;
            }
            state.progress = Some(progress);
            progress
        };
        self.send_lossy(|| {
            let mut params = json!({ "progress": progress });
            if let Some(total) = total {
                set(&mut params, "total", total);
            }
            if let Some(message) = message {
                set(&mut params, "message", message);
            }
            let token: Value = serde_json::from_str(token).unwrap_or_default();
            set(&mut params, "progressToken", token);
            notification("notifications/progress", &params)
        });
    }

    /// Takes the next message out, if there is one.
    pub(crate) fn poll_message(&self, waker: &Waker) -> Poll<String> {
        let mut state = self.state();
        match state.waiting.pop_front() {
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
    pub(crate) async fn until_asked<T>(&self, work: impl Future<Output = T>) -> Result<T, Pause> {
        let mut work = pin!(work);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            let mut state = self.state();
            if state.detached {
                return Poll::Ready(Err(Pause::Detached));
            }
            if state.asked.is_empty() {
                state.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            Poll::Ready(Err(Pause::Asked(std::mem::take(&mut state.asked))))
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
    pub(crate) async fn answered(&self, key: &str) -> Value {
        poll_fn(|cx| {
            let mut state = self.state();
            match state.answers.get(key) {
                Some(answer) if answer.is_object() => Poll::Ready(answer.clone()),
                _ => {
                    state.asking.push(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Brings answers to questions that a task has asked; what was not asked is dropped.
    pub(crate) fn bring_answers(&self, answers: Map<String, Value>) {
        let mut state = self.state();
        for (key, answer) in answers {
            if answer.is_object() && state.asked.iter().any(|it| it.key == key) {
                state.asked.retain(|it| it.key != key);
                state.answers.insert(key, answer);
            }
        }
        for waker in std::mem::take(&mut state.asking) {
            waker.wake();
        }
    }

    /// Lists the questions of a task that nobody has answered yet, as they go over the wire.
    pub(crate) fn open_questions(&self) -> Map<String, Value> {
        let state = self.state();
        state.asked.iter().map(Asked::request).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
