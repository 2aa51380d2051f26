//! A call as far as it has come: the request in flight, the input that is required, the task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, InputRequiredResult,
    InputResponses, ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::Value;
use tokio::sync::mpsc;
use toolwright_core::{Cancel, Progress};

use super::call_state::{CallKey, CallState, StoredStage};
use super::remote_task::RunningTask;
use crate::client::connection::RemotePeer;
use crate::client::connection::handler::AskedQuestion;
use crate::client::connection::shared_connection::SharedConnection;
use crate::lock::lock;

/// The timeout of a cancellation notification.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a call waits at the server for an answer of a person whose turn is paused.
const MAX_PARKED: Duration = Duration::from_secs(3600);

/// The number of calls of one server that wait for answers; further ones are cancelled.
const MAX_PARKED_CALLS: usize = 256;

/// A call that is not over.
pub(crate) struct OngoingCall {
    /// The questions that were answered, in order: another run of the call asks them again, and gets the recorded answers.
    pub(crate) asked: Vec<Value>,
    pub(crate) stage: Stage,
}

pub(crate) enum Stage {
    /// The next request is not sent.
    Next(InputRound),
    Sent(InFlight),
    /// The server waits for input, without a request in flight.
    Input(Box<InputRequiredResult>),
    Task(RunningTask),
    /// The request for the result of a task is in flight.
    TaskResult(RunningTask, InFlight),
}

/// The answers of a round, and the state to send back with them.
#[derive(Default)]
pub(crate) struct InputRound {
    pub(crate) responses: Option<InputResponses>,
    pub(crate) state: Option<String>,
}

impl OngoingCall {
    pub(crate) fn new() -> Self {
        Self { asked: Vec::new(), stage: Stage::Next(InputRound::default()) }
    }

    /// Goes on with what an earlier process has stored.
    pub(crate) fn from_state(
        state: CallState,
        link: &Arc<SharedConnection>,
        cancel: &Cancel,
    ) -> Self {
        let stage = match state.stage {
            StoredStage::Input(required) => Stage::Input(Box::new(required)),
            StoredStage::Task(handle) => {
                let mut task = RunningTask::new(handle, link, cancel);
                task.is_saved = true;
                Stage::Task(task)
            }
        };
        Self { asked: state.asked, stage }
    }

    /// Goes on in another run of the call.
    pub(crate) async fn continue_in(&mut self, cancel: &Cancel, progress: &Progress) {
        if let Stage::Task(task) | Stage::TaskResult(task, _) = &mut self.stage {
            task.continue_in(cancel);
            if let Some(request) = &mut task.request {
                request.receive_progress(progress.clone()).await;
            }
        }
        if let Stage::Sent(in_flight) | Stage::TaskResult(_, in_flight) = &mut self.stage {
            in_flight.guard.receive_progress(progress.clone()).await;
        }
    }
}

/// A request whose response has not come.
pub(crate) struct InFlight {
    pub(crate) remote: Arc<RemotePeer>,
    response: BoxFuture<'static, Result<ServerResult, ServiceError>>,
    questions: mpsc::UnboundedReceiver<AskedQuestion>,
    /// The question that is being asked.
    pub(crate) question: Option<AskedQuestion>,
    guard: RequestGuard,
}

/// What comes next of a request in flight.
pub(crate) enum InFlightEvent {
    /// A question is in [`InFlight::question`].
    Question,
    Response(Box<Result<ServerResult, ServiceError>>),
}

impl InFlight {
    pub(crate) async fn send(
        remote: &Arc<RemotePeer>,
        request: ClientRequest,
        progress: &Progress,
        key: &CallKey,
    ) -> Result<Self, ServiceError> {
        let state = &remote.handler_state;
        let mut receivers = state.progress.lock().await;
        let options = PeerRequestOptions::no_options();
        let handle = remote.peer.send_request_with_option(request, options).await?;
        receivers.insert(handle.progress_token.clone(), progress.clone());
        let questions = state.receive_questions(handle.id.clone(), &key.owner);
        drop(receivers);
        let guard = RequestGuard {
            remote: Arc::clone(remote),
            id: handle.id.clone(),
            token: handle.progress_token.clone(),
            is_answered: false,
        };
        let response = handle.await_response().boxed();
        Ok(Self { remote: Arc::clone(remote), response, questions, question: None, guard })
    }

    /// Keeps receiving the progress of a request that was answered.
    pub(crate) fn into_guard(self) -> RequestGuard {
        self.guard
    }

    /// Waits for a question or the response.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self) -> InFlightEvent {
        if self.question.is_some() {
            return InFlightEvent::Question;
        }
        tokio::select! {
            biased;
            Some(question) = self.questions.recv() => {
                self.question = Some(question);
                InFlightEvent::Question
            }
            response = &mut self.response => {
                self.guard.is_answered = true;
                InFlightEvent::Response(Box::new(response))
            }
        }
    }
}

/// Cancels the request at the server when it is dropped before the response.
pub(crate) struct RequestGuard {
    remote: Arc<RemotePeer>,
    id: RequestId,
    token: ProgressToken,
    is_answered: bool,
}

impl RequestGuard {
    async fn receive_progress(&mut self, progress: Progress) {
        self.remote.handler_state.progress.lock().await.insert(self.token.clone(), progress);
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.remote.handler_state.forget_questions(&self.id);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (remote, token) = (Arc::clone(&self.remote), self.token.clone());
        let cancelled = (!self.is_answered).then(|| {
            let reason = Some("nobody waits for it any more".to_owned());
            CancelledNotification::new(CancelledNotificationParam::new(
                Some(self.id.clone()),
                reason,
            ))
        });
        runtime.spawn(async move {
            remote.handler_state.progress.lock().await.remove(&token);
            if let Some(cancelled) = cancelled {
                // With a timeout: the server may not read at all.
                let notification = remote.peer.send_notification(cancelled.into());
                let _ = tokio::time::timeout(CANCEL_TIMEOUT, notification).await;
            }
        });
    }
}

/// The calls of a server that wait for an answer of a person while the turn is paused.
#[derive(Default)]
pub(crate) struct ParkedCalls(Mutex<HashMap<CallKey, (u64, OngoingCall)>>);

impl ParkedCalls {
    /// Returns a call that waits, for its next run.
    pub(crate) fn take(&self, key: &CallKey) -> Option<OngoingCall> {
        lock(&self.0).remove(key).map(|(_, call)| call)
    }

    pub(crate) fn clear(&self) {
        let parked = std::mem::take(&mut *lock(&self.0));
        drop(parked);
    }

    /// Keeps a call for its next run, for a limited time.
    fn park(link: &Arc<SharedConnection>, key: CallKey, call: OngoingCall) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let number = {
            let mut parked = lock(&link.parked.0);
            if parked.len() >= MAX_PARKED_CALLS {
                return;
            }
            let number = parked.values().map(|(number, _)| number + 1).max().unwrap_or_default();
            parked.insert(key.clone(), (number, call));
            number
        };
        let link: Weak<SharedConnection> = Arc::downgrade(link);
        runtime.spawn(async move {
            tokio::time::sleep(MAX_PARKED).await;
            if let Some(link) = link.upgrade() {
                let mut parked = lock(&link.parked.0);
                if parked.get(&key).is_some_and(|(known, _)| *known == number) {
                    let expired = parked.remove(&key);
                    drop(parked);
                    drop(expired);
                }
            }
        });
    }
}

/// One run of a call; if it is dropped while a person is asked, the call waits for the next run.
pub(crate) struct CallRun<'a> {
    pub(crate) link: &'a Arc<SharedConnection>,
    pub(crate) key: CallKey,
    pub(crate) cancel: &'a Cancel,
    pub(crate) call: Option<OngoingCall>,
    pub(crate) is_asking: bool,
}

impl Drop for CallRun<'_> {
    fn drop(&mut self) {
        if self.is_asking
            && !self.cancel.is_cancelled()
            && let Some(call) = self.call.take()
        {
            ParkedCalls::park(self.link, self.key.clone(), call);
        }
    }
}
