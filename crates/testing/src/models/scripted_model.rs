//! [`ScriptedModel`]: a model that plays a script.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolwright_chat::{Item, Model, ModelErrorKind, ModelId, ModelRequest, ModelStream};
use toolwright_core::ToolCall;

use super::{ModelReply, ReplyFn};

/// A model that plays a script, one reply per request, and records the requests.
///
/// Clones share the script, so that a test can keep one to inspect.
///
/// # Examples
///
/// ```
/// use toolwright::testing::ScriptedModel;
///
/// let model = ScriptedModel::new().calls("add", r#"{"a": 2, "b": 3}"#).replies("It is 5.");
/// assert!(model.requests().is_empty());
/// ```
#[derive(Clone)]
pub struct ScriptedModel {
    id: ModelId,
    script: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<ReplyFn>,
    reply_count: usize,
    requests: Vec<ModelRequest>,
}

impl ScriptedModel {
    /// Creates a model with an empty script.
    pub fn new() -> Self {
        Self { id: ModelId::new("script", ""), script: Arc::default() }
    }

    /// Sets the id; the default is `script`.
    #[must_use]
    pub fn with_id(mut self, id: ModelId) -> Self {
        self.id = id;
        self
    }

    /// Adds a reply with a text.
    #[must_use]
    pub fn replies(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.replies_with(move |_| ModelReply::text(text.clone()))
    }

    /// Adds a reply that calls a tool.
    #[must_use]
    pub fn calls(self, tool: &str, arguments: impl Into<String>) -> Self {
        self.calls_all([(tool, arguments.into())])
    }

    /// Adds a reply that calls several tools at once.
    #[must_use]
    pub fn calls_all<A: Into<String>>(
        self,
        calls: impl IntoIterator<Item = (impl AsRef<str>, A)>,
    ) -> Self {
        let step = self.script().reply_count;
        let calls: Vec<ToolCall> = calls
            .into_iter()
            .enumerate()
            .map(|(at, (tool, arguments))| {
                ToolCall::new(tool.as_ref(), arguments.into()).with_id(format!("call_{step}_{at}"))
            })
            .collect();
        self.replies_with(move |_| {
            ModelReply::from_items(calls.iter().cloned().map(Item::call).collect())
        })
    }

    /// Adds a reply that fails.
    #[must_use]
    pub fn fails(self, kind: ModelErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        self.replies_with(move |_| ModelReply::error(kind, message.clone()))
    }

    /// Adds a reply that is computed from the request.
    #[must_use]
    pub fn replies_with<R: Into<ModelReply>>(
        self,
        reply: impl Fn(&ModelRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        let mut script = self.script();
        script.reply_count += 1;
        script.replies.push_back(Arc::new(move |request| reply(request).into()));
        drop(script);
        self
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.script().requests.clone()
    }

    /// Returns the number of replies that are left.
    pub fn remaining(&self) -> usize {
        self.script().replies.len()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ScriptedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for ScriptedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let reply = {
            let mut script = self.script();
            script.requests.push(request.clone());
            script.replies.pop_front()
        };
        let reply = match reply {
            Some(reply) => reply(&request),
            None => ModelReply::error(
                ModelErrorKind::Protocol,
                "the script is over, and the model is asked once more",
            ),
        };
        reply.into_stream()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel").field("remaining", &self.remaining()).finish()
    }
}
