//! Calls that nobody waits for: begun by a call, asked about later.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::{CancellationToken, Outcome, ToolResult};

use super::McpServer;
use super::capability::Capability;
use super::error::RpcError;
use super::exchange::Exchange;
use super::message::Message;
use super::reply::{Reply, set, write_json};
use super::time::{millis, written};
use super::work::{check_fatal, check_missing};
use crate::export;

/// How often a client should ask, in milliseconds.
const POLL: u64 = 500;

/// The tasks there are.
#[derive(Default)]
pub(crate) struct Tasks(Mutex<HashMap<String, Arc<Task>>>);

/// One call that goes on by itself.
struct Task {
    exchange: Arc<Exchange>,
    begun: (Instant, SystemTime),
    cancel: CancellationToken,
    state: Mutex<State>,
}

struct State {
    changed: SystemTime,
    end: Option<End>,
}

/// How a task ended.
enum End {
    Completed(Value),
    Failed(Value),
    Cancelled,
}

impl Tasks {
    fn held(&self) -> MutexGuard<'_, HashMap<String, Arc<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl McpServer {
    /// Goes on with a call as a task, and says so.
    pub(super) fn begin_task(
        &self,
        id: &str,
        work: BoxFuture<'static, ToolResult>,
        exchange: &Arc<Exchange>,
    ) -> Result<Reply, RpcError> {
        let name = super::state::random()
            .map_err(|_| RpcError::internal("there are no random numbers for a task id"))?;
        let now = SystemTime::now();
        let task = Arc::new(Task {
            exchange: Arc::clone(exchange),
            begun: (Instant::now(), now),
            cancel: self.0.ending.child_token(),
            state: Mutex::new(State {
                changed: now,
                end: None,
            }),
        });
        {
            let mut held = self.0.tasks.held();
            let life = self.0.limits.task_life;
            held.retain(|_, task| {
                let keep = task.begun.0.elapsed() < life;
                if !keep {
                    task.cancel.cancel();
                }
                keep
            });
            if held.len() >= self.0.limits.tasks {
                return Err(RpcError::internal("too many tasks at once: try again"));
            }
            held.insert(name.clone(), Arc::clone(&task));
        }
        let mut said = self.describe(&name, &task);
        set(&mut said, "resultType", "task");
        let (server, running) = (self.clone(), Arc::clone(&task));
        tokio::spawn(async move {
            tokio::select! {
                result = work => running.end(server.ended_with(&result, &running.exchange)),
                () = running.cancel.cancelled() => running.end(End::Cancelled),
            }
        });
        Ok(Reply::result(id, |body| write_json(body, &said)))
    }

    /// Answers what is asked about a task.
    pub(super) fn about_task(
        &self,
        message: &Message<'_>,
        exchange: &Exchange,
    ) -> Result<Reply, RpcError> {
        if !exchange.capabilities.has(Capability::Tasks) {
            return Err(RpcError::missing_capability(&[Capability::Tasks]));
        }
        let name = message.params.task_id.as_deref().unwrap_or_default();
        let task = self.0.tasks.held().get(name).cloned();
        // Whoever guesses the name of another's task has guessed nothing.
        let task = task
            .filter(|task| task.exchange.caller == exchange.caller)
            .filter(|task| {
                let (mine, theirs) = (exchange.reach(&self.0.whole), &task.exchange);
                mine.covers(theirs.reach(&self.0.whole))
            })
            .ok_or_else(|| RpcError::invalid_params(format!("there is no task `{name}`")))?;
        let mut said = json!({});
        match message.method() {
            "tasks/get" => said = self.describe(name, &task),
            "tasks/update" => {
                let answers = message.params.input_responses.map_or("{}", |raw| raw.get());
                let answers: Map<String, Value> = serde_json::from_str(answers)
                    .map_err(|why| RpcError::invalid_params(format!("`inputResponses`: {why}")))?;
                task.exchange.bring_answers(answers);
                task.touch();
            }
            _ => {
                task.cancel.cancel();
                task.end(End::Cancelled);
            }
        }
        set(&mut said, "resultType", "complete");
        Ok(Reply::result(message.id(), |body| write_json(body, &said)))
    }

    fn ended_with(&self, result: &ToolResult, exchange: &Exchange) -> End {
        if result.outcome == Outcome::Cancelled {
            return End::Cancelled;
        }
        if let Err(error) = check_missing(result, exchange).and_then(|()| check_fatal(result)) {
            return End::Failed(json!({ "code": error.code, "message": error.message }));
        }
        let mut body = Vec::new();
        export::result::write(&mut body, result, || false, exchange.revision, "");
        End::Completed(serde_json::from_slice(&body).unwrap_or_default())
    }

    fn describe(&self, name: &str, task: &Task) -> Value {
        let state = task.state();
        let mut said = json!({
            "taskId": name,
            "createdAt": written(task.begun.1),
            "lastUpdatedAt": written(state.changed),
            "ttlMs": millis(self.0.limits.task_life),
            "pollIntervalMs": POLL,
        });
        let open = task.exchange.open_questions();
        let status = match &state.end {
            Some(End::Completed(result)) => {
                set(&mut said, "result", result.clone());
                "completed"
            }
            Some(End::Failed(error)) => {
                set(&mut said, "error", error.clone());
                "failed"
            }
            Some(End::Cancelled) => "cancelled",
            None if !open.is_empty() => {
                set(&mut said, "inputRequests", open);
                "input_required"
            }
            None => "working",
        };
        set(&mut said, "status", status);
        said
    }
}

impl Task {
    /// Notes how the task ended; what has ended stays as it is.
    fn end(&self, end: End) {
        let mut state = self.state();
        if state.end.is_none() {
            state.end = Some(end);
            state.changed = SystemTime::now();
        }
    }

    fn touch(&self) {
        self.state().changed = SystemTime::now();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
