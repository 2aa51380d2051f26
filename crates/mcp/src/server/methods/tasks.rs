//! Tool calls that continue as tasks, and the methods by which clients poll, update and cancel them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::__internal::{random_hex, whole_millis};
use toolwright_core::{CancellationToken, Outcome, ToolResult};

use crate::export;
use crate::lock::lock;
use crate::server::request::execute::{check_fatal, check_missing_capability};
use crate::server::{
    ClientCapability, Request, RequestContext, RpcError, RpcMessage, RpcResponse, set_field,
};

/// The suggested interval between polls.
const POLL_INTERVAL_MS: u64 = 500;

/// All tasks by id.
#[derive(Default)]
pub(crate) struct TaskStore(Mutex<HashMap<String, Arc<Task>>>);

/// A tool call that runs without a waiting request.
struct Task {
    context: Arc<RequestContext>,
    started: (Instant, SystemTime),
    cancel: CancellationToken,
    state: Mutex<TaskState>,
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

impl Request {
    /// Continues a call as a task, and answers its request with the task.
    pub(crate) fn start_task(
        &self,
        call: BoxFuture<'static, ToolResult>,
    ) -> Result<RpcResponse, RpcError> {
        let server = &self.server.0;
        let task_id = random_hex(16)
            .map_err(|_| RpcError::internal("there are no random numbers for a task id"))?;
        let now = SystemTime::now();
        let task = Arc::new(Task {
            context: Arc::clone(&self.context),
            started: (Instant::now(), now),
            cancel: server.shutdown.child_token(),
            state: Mutex::new(TaskState { updated_at: now, outcome: None }),
        });
        {
            let mut tasks = lock(&server.tasks.0);
            let ttl = server.limits.task_ttl;
            tasks.retain(|_, task| {
                let keep = task.started.0.elapsed() < ttl;
                if !keep {
                    task.cancel.cancel();
                }
                keep
            });
            if tasks.len() >= server.limits.max_tasks {
                return Err(RpcError::internal("too many tasks at once: try again"));
            }
            tasks.insert(task_id.clone(), Arc::clone(&task));
        }
        let mut result = self.task_json(&task_id, &task);
        set_field(&mut result, "resultType", "task");
        tokio::spawn(async move {
            tokio::select! {
                result = call => task.finish(task_outcome(&result, &task.context)),
                () = task.cancel.cancelled() => task.finish(TaskOutcome::Cancelled),
            }
        });
        Ok(self.json_result(&result))
    }

    /// Handles `tasks/get`, `tasks/update` and `tasks/cancel`.
    pub(crate) fn handle_task_method(
        &self,
        message: &RpcMessage<'_>,
    ) -> Result<RpcResponse, RpcError> {
        let (server, context) = (&self.server, &self.context);
        if !context.capabilities.has(ClientCapability::Tasks) {
            return Err(RpcError::missing_capability(&[ClientCapability::Tasks]));
        }
        let task_id = message.params.task_id.as_deref().unwrap_or_default();
        let task = lock(&server.0.tasks.0).get(task_id).cloned();
        // The id alone gives no access: caller and scopes must be those of the task.
        let task = task
            .filter(|task| task.context.caller == context.caller)
            .filter(|task| self.tools().is_superset_of(server.scoped_tools(&task.context)))
            .ok_or_else(|| RpcError::invalid_params(format!("there is no task `{task_id}`")))?;
        let mut result = json!({});
        match message.method() {
            "tasks/get" => result = self.task_json(task_id, &task),
            "tasks/update" => {
                let answers = message.params.input_responses.map_or("{}", |raw| raw.get());
                let answers: Map<String, Value> =
                    serde_json::from_str(answers).map_err(|error| {
                        RpcError::invalid_params(format!("`inputResponses`: {error}"))
                    })?;
                task.context.add_answers(answers);
                task.mark_updated();
            }
            _ => {
                task.cancel.cancel();
                task.finish(TaskOutcome::Cancelled);
            }
        }
        set_field(&mut result, "resultType", "complete");
        Ok(self.json_result(&result))
    }

    fn task_json(&self, task_id: &str, task: &Task) -> Value {
        let state = lock(&task.state);
        let mut json = json!({
            "taskId": task_id,
            "createdAt": format_rfc3339(task.started.1),
            "lastUpdatedAt": format_rfc3339(state.updated_at),
            "ttlMs": whole_millis(self.server.0.limits.task_ttl),
            "pollIntervalMs": POLL_INTERVAL_MS,
        });
        let pending = task.context.pending_input_requests();
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
        let mut state = lock(&self.state);
        if state.outcome.is_none() {
            state.outcome = Some(outcome);
            state.updated_at = SystemTime::now();
        }
    }

    fn mark_updated(&self) {
        lock(&self.state).updated_at = SystemTime::now();
    }
}

/// Formats a time as `2026-07-28T12:34:56Z`.
fn format_rfc3339(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Secs, true)
}
