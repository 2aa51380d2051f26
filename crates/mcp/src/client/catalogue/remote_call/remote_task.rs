//! A task that a server makes of a call: polled to its end, given the input that it requires, cancelled with the call.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CancelTaskParams, CancelTaskRequest, ClientRequest, CustomRequest, GetTaskParams,
    GetTaskRequest, InputResponses, ServerResult, UpdateTaskParams, UpdateTaskRequest,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use toolwright_core::Cancel;

use super::ongoing::RequestGuard;
use crate::client::connection::shared_connection::SharedConnection;

/// The interval between polls of a server that suggests none.
const DEFAULT_POLL: Duration = Duration::from_secs(1);

/// Suggested intervals are limited to these.
const MIN_POLL: Duration = Duration::from_millis(50);
const MAX_POLL: Duration = Duration::from_secs(30);

/// The timeout of a request that cancels a task.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// What identifies a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TaskHandle {
    pub(crate) id: String,
    /// True for the tasks of revision 2025-11-25, whose result is requested apart.
    pub(crate) is_legacy: bool,
    poll_ms: Option<u64>,
}

impl TaskHandle {
    /// Reads the answer to a call that became a task.
    pub(crate) fn from_created(response: &Value, is_legacy: bool) -> Option<Self> {
        let task = if is_legacy { response.get("task")? } else { response };
        let id = task.get("taskId")?.as_str()?.to_owned();
        Some(Self { id, is_legacy, poll_ms: poll_ms(task) })
    }

    pub(crate) fn get_request(&self) -> ClientRequest {
        match self.is_legacy {
            true => self.legacy_request("tasks/get"),
            false => GetTaskRequest::new(GetTaskParams::new(self.id.clone())).into(),
        }
    }

    /// The request for the result of a task of revision 2025-11-25; the server asks for input before it answers.
    pub(crate) fn result_request(&self) -> ClientRequest {
        self.legacy_request("tasks/result")
    }

    pub(crate) fn update_request(&self, responses: InputResponses) -> ClientRequest {
        UpdateTaskRequest::new(UpdateTaskParams::new(self.id.clone(), responses)).into()
    }

    fn cancel_request(&self) -> ClientRequest {
        match self.is_legacy {
            true => self.legacy_request("tasks/cancel"),
            false => CancelTaskRequest::new(CancelTaskParams::new(self.id.clone())).into(),
        }
    }

    fn legacy_request(&self, method: &str) -> ClientRequest {
        CustomRequest::new(method, Some(json!({ "taskId": self.id }))).into()
    }

    /// The time until the next poll; servers may change it.
    pub(crate) fn poll_interval(&mut self, task: &Value) -> Duration {
        self.poll_ms = poll_ms(task).or(self.poll_ms);
        self.poll_ms.map_or(DEFAULT_POLL, Duration::from_millis).clamp(MIN_POLL, MAX_POLL)
    }
}

fn poll_ms(task: &Value) -> Option<u64> {
    task.get("pollIntervalMs").or_else(|| task.get("pollInterval"))?.as_u64()
}

/// The state of a task.
pub(crate) enum TaskStatus {
    /// With the message of the server about it.
    Working(Option<String>),
    /// The requests for input; of a task of revision 2025-11-25 they come while its result is requested.
    InputRequired(Map<String, Value>),
    /// The result, unless it is requested apart.
    Completed(Option<Value>),
    /// The message of the error, unless the result is requested apart.
    Failed(String),
    Cancelled,
}

impl TaskStatus {
    /// Reads the answer to `tasks/get`.
    pub(crate) fn from_response(task: &Value) -> Option<Self> {
        let text =
            |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(match task.get("status")?.as_str()? {
            "working" => Self::Working(text(task, "statusMessage")),
            "input_required" => {
                let requests = task.get("inputRequests").and_then(Value::as_object);
                Self::InputRequired(requests.cloned().unwrap_or_default())
            }
            "completed" => Self::Completed(task.get("result").cloned()),
            "failed" => {
                let error = task.get("error").and_then(|error| text(error, "message"));
                Self::Failed(error.or_else(|| text(task, "statusMessage")).unwrap_or_default())
            }
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

/// The JSON of a response, whichever type it was parsed as.
pub(crate) fn response_json(response: ServerResult) -> Value {
    match response {
        ServerResult::CustomResult(other) => other.0,
        response => serde_json::to_value(response).unwrap_or_default(),
    }
}

/// A task that the server runs. When this is dropped, the task is cancelled, unless another run of the call goes on with it.
pub(crate) struct RunningTask {
    pub(crate) handle: TaskHandle,
    link: Arc<SharedConnection>,
    cancel: Cancel,
    /// True if the task is in the shared state.
    pub(crate) is_saved: bool,
    pub(crate) is_over: bool,
    /// The request that became the task, whose progress goes on; `None` after a restart.
    pub(crate) request: Option<RequestGuard>,
}

impl RunningTask {
    pub(crate) fn new(handle: TaskHandle, link: &Arc<SharedConnection>, cancel: &Cancel) -> Self {
        let (link, cancel) = (Arc::clone(link), cancel.clone());
        Self { handle, link, cancel, is_saved: false, is_over: false, request: None }
    }

    /// Goes on in another run of the call.
    pub(crate) fn continue_in(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        let goes_on = self.is_saved && !self.cancel.is_cancelled();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        if self.is_over || goes_on {
            return;
        }
        let (link, request) = (Arc::clone(&self.link), self.handle.cancel_request());
        runtime.spawn(async move {
            if let Ok(remote) = link.connected() {
                // With a timeout: the server may not read at all.
                let cancelling = remote.peer.send_request(request);
                let _ = tokio::time::timeout(CANCEL_TIMEOUT, cancelling).await;
            }
        });
    }
}
