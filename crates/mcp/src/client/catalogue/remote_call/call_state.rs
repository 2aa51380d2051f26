//! What a call that was interrupted goes on with: a task of the server, or its request for input.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use rmcp::model::InputRequiredResult;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use toolwright_core::{HandlerContext, SharedState, subject_key};

use super::remote_task::TaskHandle;

/// The space of the shared state; a key is a digest of the call, under the prefix of its caller.
const SPACE: &str = "mcp_call";

/// How long a call can go on; as long as people take to answer.
const TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// What identifies a call: the same when the turn runs it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    /// The caller and its session: one person in one conversation.
    pub(crate) owner: String,
    key: String,
}

impl CallKey {
    pub(crate) fn new(server: &str, tool: &str, cx: &HandlerContext) -> Self {
        let digest = |parts: Value| HEXLOWER.encode(&Sha256::digest(parts.to_string()));
        let (session, id) = (cx.session().as_str(), cx.info().id.as_str());
        let subject = cx.caller().name();
        Self {
            owner: subject_key(subject, session),
            key: subject_key(subject, &digest(json!([server, session, id, tool]))),
        }
    }
}

/// What an interrupted call goes on with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallState {
    /// The questions that were answered before.
    pub(crate) asked: Vec<Value>,
    pub(crate) stage: StoredStage,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredStage {
    /// The server waits for input.
    Input(InputRequiredResult),
    /// The server runs a task.
    Task(TaskHandle),
}

/// The calls of one server that go on, in the shared state.
#[derive(Clone)]
pub(crate) struct CallStates(pub(crate) Arc<dyn SharedState>);

impl CallStates {
    /// Returns what a call goes on with, if anything is known. What cannot be read is not known.
    pub(crate) async fn load(&self, key: &CallKey) -> Option<CallState> {
        match self.0.get(SPACE, &key.key).await {
            Ok(text) => serde_json::from_str(&text?).ok(),
            Err(error) => {
                tracing::warn!(%error, "the state of an interrupted call cannot be read");
                None
            }
        }
    }

    /// Saves what a call goes on with if it is interrupted; returns false if that failed.
    pub(crate) async fn save(&self, key: &CallKey, state: &CallState) -> bool {
        let text = serde_json::to_string(state).unwrap_or_default();
        match self.0.put(SPACE, &key.key, &text, Some(TTL)).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "a call cannot go on after a restart");
                false
            }
        }
    }

    /// Forgets a call that has ended.
    pub(crate) async fn remove(&self, key: &CallKey) {
        if let Err(error) = self.0.remove(SPACE, &key.key).await {
            tracing::warn!(%error, "the state of a call that has ended is not removed");
        }
    }
}
