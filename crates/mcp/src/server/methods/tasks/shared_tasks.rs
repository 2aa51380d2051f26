//! Tasks of other nodes: each node stores the state of its tasks, and changes them when another node requests it.
//!
//! The result of a task outlives its node. A task whose node ends before has failed: it is not started again, because a call
//! may not run twice.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::sleep;

use super::{Task, TaskAction};
use crate::server::cluster::{Cluster, NodeReply, NodeRequest, Space};
use crate::server::session::replay_buffer::covers_scopes;
use crate::server::{McpServer, Request, RpcError, ServerState, set_field};

/// The delay after a state could not be stored.
const STORE_RETRY: Duration = Duration::from_secs(1);

/// The state that was last stored; locked while one is, so that an older one never replaces it.
pub(super) type StoreOrder = AsyncMutex<Option<String>>;

#[derive(Serialize, Deserialize)]
struct TaskRecord {
    /// The node that runs it.
    node: String,
    caller: Option<String>,
    /// The scopes of the principal that started it; `None` where all tools are granted.
    scopes: Option<BTreeSet<String>>,
    /// As clients see it.
    task: Value,
}

impl TaskRecord {
    fn is_finished(&self) -> bool {
        let status = self.task.get("status").and_then(Value::as_str);
        matches!(status, Some("completed" | "failed" | "cancelled"))
    }
}

impl Request {
    /// Handles a request about a task of another node; `None` if there is no such task.
    pub(super) async fn run_remote_task_request(
        &self,
        id: &str,
        action: TaskAction,
    ) -> Result<Option<Value>, RpcError> {
        // Other ids cannot exist, so the store is not asked for them.
        let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.server.0.cluster.is_none() || !is_id {
            return Ok(None);
        }
        let Some(cluster) = self.server.joined_cluster().await? else {
            return Ok(None);
        };
        let Some(record) = self.find_record(cluster, id).await? else {
            return Ok(None);
        };
        let task = id.to_owned();
        let request = match action {
            TaskAction::Get => return current_state(cluster, record).await.map(Some),
            TaskAction::Update(answers) => NodeRequest::UpdateTask { task, answers },
            TaskAction::Cancel => NodeRequest::CancelTask { task },
        };
        // A finished task ignores both.
        if record.is_finished() {
            return Ok(Some(json!({})));
        }
        match cluster.ask(&record.node, request, Duration::ZERO).await? {
            Some(NodeReply::NotFound) => Ok(None),
            Some(NodeReply::TooLarge) => {
                let message = "the answers are too large to be sent to another node";
                Err(RpcError::invalid_params(message))
            }
            Some(_) | None => Ok(Some(json!({}))),
        }
    }

    /// Reads the record of a task that the sender of this request may use.
    async fn find_record(
        &self,
        cluster: &Cluster,
        id: &str,
    ) -> Result<Option<TaskRecord>, RpcError> {
        let key = cluster.personal_key(Space::Task, &self.context.caller, id);
        let text = cluster.get(&key).await?;
        let record: Option<TaskRecord> = text.and_then(|text| serde_json::from_str(&text).ok());
        Ok(record.filter(|record| {
            record.caller.as_deref() == self.context.caller.name()
                && covers_scopes(self.tools().scopes(), record.scopes.as_ref())
        }))
    }
}

/// Returns a task as it was last stored; if its node has ended before, it has failed.
async fn current_state(cluster: &Cluster, record: TaskRecord) -> Result<Value, RpcError> {
    let is_lost = !record.is_finished() && !cluster.is_running(&record.node).await?;
    let mut task = record.task;
    if is_lost {
        let message = "the node that ran the task has ended: what the call has done is unknown";
        if let Value::Object(fields) = &mut task {
            fields.remove("inputRequests");
        }
        set_field(&mut task, "status", "failed");
        set_field(&mut task, "error", json!({ "code": -32603, "message": message }));
    }
    Ok(task)
}

impl McpServer {
    /// Stores a new task for the other nodes, if there are any, and from now on each change of it.
    pub(super) async fn share_task(&self, task: &Arc<Task>) -> Result<(), RpcError> {
        if self.joined_cluster().await?.is_some() {
            self.store_task(task).await?;
            tokio::spawn(store_changes(Arc::downgrade(&self.0), Arc::clone(task)));
        }
        Ok(())
    }

    /// Stores a change before it is answered, so that the client sees it at any node.
    pub(super) async fn store_change(&self, task: &Task) {
        // If this fails, `store_changes` tries again.
        let _ = self.store_task(task).await;
    }

    /// Adds answers to a task of this node for another node.
    pub(crate) async fn update_own_task(&self, id: &str, answers: Map<String, Value>) -> NodeReply {
        self.change_own_task(id, TaskAction::Update(answers)).await
    }

    /// Cancels a task of this node for another node.
    pub(crate) async fn cancel_own_task(&self, id: &str) -> NodeReply {
        self.change_own_task(id, TaskAction::Cancel).await
    }

    async fn change_own_task(&self, id: &str, action: TaskAction) -> NodeReply {
        let Some(task) = self.find_task(id) else {
            return NodeReply::NotFound;
        };
        task.change(action);
        self.store_change(&task).await;
        NodeReply::Done
    }

    /// Stores the state of a task, unless it is stored.
    async fn store_task(&self, task: &Task) -> Result<(), RpcError> {
        let Some(cluster) = &self.0.cluster else {
            return Ok(());
        };
        let mut last = task.store_order.lock().await;
        let ttl = task.ttl.saturating_sub(task.started.0.elapsed());
        if ttl.is_zero() {
            return Ok(());
        }
        let record = TaskRecord {
            node: cluster.node().to_string(),
            caller: task.context.caller.name().map(str::to_owned),
            scopes: self.scoped_tools(&task.context).scopes().cloned(),
            task: task.to_json(),
        };
        let text = serde_json::to_string(&record)
            .map_err(|_| RpcError::internal("the state of the task cannot be written"))?;
        if last.as_ref() != Some(&text) {
            let key = cluster.personal_key(Space::Task, &task.context.caller, &task.id);
            cluster.put(&key, &text, ttl).await?;
            *last = Some(text);
        }
        Ok(())
    }
}

/// Stores each change of a task, until it is finished or its server is dropped.
async fn store_changes(server: Weak<ServerState>, task: Arc<Task>) {
    loop {
        task.context.task_changed.notified().await;
        loop {
            let is_finished = task.is_finished();
            let Some(server) = server.upgrade().map(McpServer) else { return };
            let stored = server.store_task(&task).await;
            drop(server);
            match stored {
                Ok(()) if is_finished => return,
                Ok(()) => break,
                Err(_) => sleep(STORE_RETRY).await,
            }
        }
    }
}
