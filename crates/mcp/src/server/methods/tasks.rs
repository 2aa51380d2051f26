//! Tool calls that continue as tasks, and the methods by which clients poll, update and cancel them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::__internal::{random_hex, whole_millis};
use toolwright_core::{CancellationToken, Outcome, ToolResult};

use self::shared_tasks::StoreOrder;
use crate::export;
use crate::lock::lock;
use crate::server::request::execute::{check_fatal, check_missing_capability};
use crate::server::{
    ClientCapability, McpServer, Request, RequestContext, RpcError, RpcMessage, RpcResponse,
    set_field,
};

mod shared_tasks;

/// The suggested interval between polls.
const POLL_INTERVAL_MS: u64 = 500;

/// The tasks of this node by id.
#[derive(Default)]
pub(crate) struct TaskStore(Mutex<HashMap<String, Arc<Task>>>);

/// A tool call that runs without a waiting request.
pub(crate) struct Task {
    id: String,
    context: Arc<RequestContext>,
    started: (Instant, SystemTime),
    ttl: Duration,
    cancel: CancellationToken,
    state: Mutex<TaskState>,
    store_order: StoreOrder,
}

struct TaskState {
    updated_at: SystemTime,
    outcome: Option<TaskOutcome>,
}

enum TaskOutcome {
    Completed(Value),
    Failed(Value),
    Cancelled,
}

/// A request about a task.
pub(crate) struct TaskRequest {
    id: String,
    action: TaskAction,
}

enum TaskAction {
    Get,
    Update(Map<String, Value>),
    Cancel,
}

impl Request {
    /// Continues a call as a task, and answers its request with the task.
    pub(crate) async fn start_task(
        &self,
        call: BoxFuture<'static, ToolResult>,
    ) -> Result<RpcResponse, RpcError> {
        let server = &self.server.0;
        let id = random_hex(16)
            .map_err(|_| RpcError::internal("there are no random numbers for a task id"))?;
        let now = SystemTime::now();
        let task = Arc::new(Task {
            id,
            context: Arc::clone(&self.context),
            started: (Instant::now(), now),
            ttl: server.limits.task_ttl,
            cancel: server.shutdown.child_token(),
            state: Mutex::new(TaskState { updated_at: now, outcome: None }),
            store_order: StoreOrder::default(),
        });
        if !server.tasks.add(&task, server.limits.max_tasks) {
            return Err(RpcError::internal("too many tasks at once: try again"));
        }
        // The client may poll at any node as soon as it has the id.
        if let Err(error) = self.server.share_task(&task).await {
            lock(&server.tasks.0).remove(&task.id);
            return Err(error);
        }
        let mut result = task.to_json();
        set_field(&mut result, "resultType", "task");
        tokio::spawn(async move {
            tokio::select! {
                result = call => task.finish(task_outcome(&result, &task.context)),
                () = task.cancel.cancelled() => task.finish(TaskOutcome::Cancelled),
            }
        });
        Ok(self.json_result(&result))
    }

    /// Parses `tasks/get`, `tasks/update` and `tasks/cancel`.
    pub(crate) fn parse_task_request(
        &self,
        message: &RpcMessage<'_>,
    ) -> Result<TaskRequest, RpcError> {
        if !self.context.capabilities.has(ClientCapability::Tasks) {
            return Err(RpcError::missing_capability(&[ClientCapability::Tasks]));
        }
        let id = message.params.task_id.as_deref().unwrap_or_default().to_owned();
        let action = match message.method() {
            "tasks/get" => TaskAction::Get,
            "tasks/update" => {
                let answers = message.params.input_responses.map_or("{}", |raw| raw.get());
                let answers = serde_json::from_str(answers);
                TaskAction::Update(answers.map_err(|error| {
                    RpcError::invalid_params(format!("`inputResponses`: {error}"))
                })?)
            }
            _ => TaskAction::Cancel,
        };
        Ok(TaskRequest { id, action })
    }

    /// Handles a request about a task, wherever the task runs.
    pub(crate) async fn run_task_request(
        &self,
        request: TaskRequest,
    ) -> Result<RpcResponse, RpcError> {
        let TaskRequest { id, action } = request;
        let (server, context) = (&self.server, &self.context);
        let task = lock(&server.0.tasks.0).get(&id).cloned();
        // The id alone gives no access: caller and scopes must be those of the task.
        let task = task
            .filter(|task| task.context.caller == context.caller)
            .filter(|task| self.tools().is_superset_of(server.scoped_tools(&task.context)));
        let result = match (task, action) {
            (None, action) => self.run_remote_task_request(&id, action).await?,
            (Some(task), TaskAction::Get) => Some(task.to_json()),
            (Some(task), action) => {
                task.change(action);
                server.store_change(&task).await;
                Some(json!({}))
            }
        };
        let not_found = || RpcError::invalid_params(format!("there is no task `{id}`"));
        let mut result = result.ok_or_else(not_found)?;
        set_field(&mut result, "resultType", "complete");
        Ok(self.json_result(&result))
    }
}

impl TaskStore {
    /// Adds a task, and removes those whose time is over; returns false if there are too many.
    fn add(&self, task: &Arc<Task>, max_tasks: usize) -> bool {
        let mut tasks = lock(&self.0);
        tasks.retain(|_, task| {
            let keep = task.started.0.elapsed() < task.ttl;
            if !keep {
                task.cancel.cancel();
            }
            keep
        });
        if tasks.len() >= max_tasks {
            return false;
        }
        tasks.insert(task.id.clone(), Arc::clone(task));
        true
    }
}

fn task_outcome(result: &ToolResult, context: &RequestContext) -> TaskOutcome {
    if result.outcome == Outcome::Cancelled {
        return TaskOutcome::Cancelled;
    }
    if let Err(error) = check_missing_capability(result, context).and_then(|()| check_fatal(result))
    {
        return TaskOutcome::Failed(json!({ "code": error.code, "message": error.message }));
    }
    let mut body = Vec::new();
    export::result::write_tool_result(&mut body, result, || false, context.revision, "");
    TaskOutcome::Completed(serde_json::from_slice(&body).unwrap_or_default())
}

impl Task {
    /// Sets the outcome, unless there is one already.
    fn finish(&self, outcome: TaskOutcome) {
        {
            let mut state = lock(&self.state);
            if state.outcome.is_none() {
                state.outcome = Some(outcome);
                state.updated_at = SystemTime::now();
            }
        }
        self.context.task_changed.notify_one();
    }

    /// Adds answers, or cancels the task.
    fn change(&self, action: TaskAction) {
        match action {
            TaskAction::Get => {}
            TaskAction::Update(answers) => {
                self.context.add_answers(answers);
                lock(&self.state).updated_at = SystemTime::now();
            }
            TaskAction::Cancel => {
                self.cancel.cancel();
                self.finish(TaskOutcome::Cancelled);
            }
        }
    }

    fn is_finished(&self) -> bool {
        lock(&self.state).outcome.is_some()
    }

    fn to_json(&self) -> Value {
        let state = lock(&self.state);
        let mut json = json!({
            "taskId": self.id,
            "createdAt": format_rfc3339(self.started.1),
            "lastUpdatedAt": format_rfc3339(state.updated_at),
            "ttlMs": whole_millis(self.ttl),
            "pollIntervalMs": POLL_INTERVAL_MS,
        });
        let pending = self.context.pending_input_requests();
        let status = match &state.outcome {
            Some(TaskOutcome::Completed(result)) => {
                set_field(&mut json, "result", result.clone());
                "completed"
            }
            Some(TaskOutcome::Failed(error)) => {
                set_field(&mut json, "error", error.clone());
                "failed"
            }
            Some(TaskOutcome::Cancelled) => "cancelled",
            None if !pending.is_empty() => {
                set_field(&mut json, "inputRequests", pending);
                "input_required"
            }
            None => "working",
        };
        set_field(&mut json, "status", status);
        json
    }
}

impl McpServer {
    fn find_task(&self, id: &str) -> Option<Arc<Task>> {
        lock(&self.0.tasks.0).get(id).cloned()
    }
}

/// Formats a time as `2026-07-28T12:34:56Z`.
fn format_rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // The calendar repeats after 400 years of 146,097 days; years begin in March here, so that a leap day is the last.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + next_year;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
