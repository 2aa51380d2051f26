//! Calls that nobody waits for: begun by a call, asked about later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::{CancellationToken, Outcome, ToolResult};

use crate::export;
use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::request::execute::{check_fatal, check_missing_capability};
use crate::server::request::request_context::RequestContext;
use crate::server::rpc::capability::ClientCapability;
use crate::server::rpc::message::RpcMessage;
use crate::server::rpc::response::{RpcResponse, set_field, write_json};
use crate::server::rpc::rfc3339::{format_rfc3339, whole_millis};

/// How often a client should ask, in milliseconds.
const POLL_INTERVAL_MS: u64 = 500;

/// The tasks there are.
#[derive(Default)]
pub(crate) struct TaskStore(Mutex<HashMap<String, Arc<Task>>>);

/// One call that goes on by itself.
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

/// How a task ended.
enum TaskOutcome {
    Completed(Value),
    Failed(Value),
    Cancelled,
}

impl TaskStore {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl McpServer {
    /// Goes on with a call as a task, and says so.
    pub(crate) fn start_task(
        &self,
        id: &str,
        work: BoxFuture<'static, ToolResult>,
        exchange: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let name = crate::server::request::request_state::random_hex()
            .map_err(|_| RpcError::internal("there are no random numbers for a task id"))?;
        let now = SystemTime::now();
        let task = Arc::new(Task {
            context: Arc::clone(exchange),
            started: (Instant::now(), now),
            cancel: self.0.shutdown.child_token(),
            state: Mutex::new(TaskState {
                updated_at: now,
                outcome: None,
            }),
        });
        {
            let mut held = self.0.tasks.lock();
            let life = self.0.limits.task_ttl;
            held.retain(|_, task| {
                let keep = task.started.0.elapsed() < life;
                if !keep {
                    task.cancel.cancel();
                }
                keep
            });
            if held.len() >= self.0.limits.max_tasks {
                return Err(RpcError::internal("too many tasks at once: try again"));
            }
            held.insert(name.clone(), Arc::clone(&task));
        }
        let mut said = self.task_json(&name, &task);
        set_field(&mut said, "resultType", "task");
        let (server, running) = (self.clone(), Arc::clone(&task));
        tokio::spawn(async move {
            tokio::select! {
                result = work => running.finish(server.task_outcome(&result, &running.context)),
                () = running.cancel.cancelled() => running.finish(TaskOutcome::Cancelled),
            }
        });
        Ok(RpcResponse::result(id, |body| write_json(body, &said)))
    }

    /// Answers what is asked about a task.
    pub(crate) fn handle_task_method(
        &self,
        message: &RpcMessage<'_>,
        exchange: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        if !exchange.capabilities.has(ClientCapability::Tasks) {
            return Err(RpcError::missing_capability(&[ClientCapability::Tasks]));
        }
        let name = message.params.task_id.as_deref().unwrap_or_default();
        let task = self.0.tasks.lock().get(name).cloned();
        // Whoever guesses the name of another's task has guessed nothing.
        let task = task
            .filter(|task| task.context.caller == exchange.caller)
            .filter(|task| {
                let (mine, theirs) = (self.scoped_tools(exchange), &task.context);
                mine.is_superset_of(self.scoped_tools(theirs))
            })
            .ok_or_else(|| RpcError::invalid_params(format!("there is no task `{name}`")))?;
        let mut said = json!({});
        match message.method() {
            "tasks/get" => said = self.task_json(name, &task),
            "tasks/update" => {
                let answers = message.params.input_responses.map_or("{}", |raw| raw.get());
                let answers: Map<String, Value> = serde_json::from_str(answers)
                    .map_err(|why| RpcError::invalid_params(format!("`inputResponses`: {why}")))?;
                task.context.add_answers(answers);
                task.mark_updated();
            }
            _ => {
                task.cancel.cancel();
                task.finish(TaskOutcome::Cancelled);
            }
        }
        set_field(&mut said, "resultType", "complete");
        Ok(RpcResponse::result(message.id(), |body| {
            write_json(body, &said)
        }))
    }

    fn task_outcome(&self, result: &ToolResult, exchange: &RequestContext) -> TaskOutcome {
        if result.outcome == Outcome::Cancelled {
            return TaskOutcome::Cancelled;
        }
        if let Err(error) =
            check_missing_capability(result, exchange).and_then(|()| check_fatal(result))
        {
            return TaskOutcome::Failed(json!({ "code": error.code, "message": error.message }));
        }
        let mut body = Vec::new();
        export::result::write_tool_result(&mut body, result, || false, exchange.revision, "");
        TaskOutcome::Completed(serde_json::from_slice(&body).unwrap_or_default())
    }

    fn task_json(&self, name: &str, task: &Task) -> Value {
        let state = task.state();
        let mut said = json!({
            "taskId": name,
            "createdAt": format_rfc3339(task.started.1),
            "lastUpdatedAt": format_rfc3339(state.updated_at),
            "ttlMs": whole_millis(self.0.limits.task_ttl),
            "pollIntervalMs": POLL_INTERVAL_MS,
        });
        let open = task.context.pending_input_requests();
        let status = match &state.outcome {
            Some(TaskOutcome::Completed(result)) => {
                set_field(&mut said, "result", result.clone());
                "completed"
            }
            Some(TaskOutcome::Failed(error)) => {
                set_field(&mut said, "error", error.clone());
                "failed"
            }
            Some(TaskOutcome::Cancelled) => "cancelled",
            None if !open.is_empty() => {
                set_field(&mut said, "inputRequests", open);
                "input_required"
            }
            None => "working",
        };
        set_field(&mut said, "status", status);
        said
    }
}

impl Task {
    /// Notes how the task ended; what has ended stays as it is.
    fn finish(&self, end: TaskOutcome) {
        let mut state = self.state();
        if state.outcome.is_none() {
            state.outcome = Some(end);
            state.updated_at = SystemTime::now();
        }
    }

    fn mark_updated(&self) {
        self.state().updated_at = SystemTime::now();
    }

    fn state(&self) -> MutexGuard<'_, TaskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
