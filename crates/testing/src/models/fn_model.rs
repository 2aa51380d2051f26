//! [`FnModel`]: a model that is a function.

use std::fmt;
use std::sync::Arc;

use toolwright_chat::{Message, Model, ModelId, ModelRequest, ModelStream};
use toolwright_core::ToolResult;

use super::{ModelReply, ReplyFn};

/// A model that computes its reply from the request.
///
/// # Examples
///
/// ```
/// use toolwright::chat::Chat;
/// use toolwright::testing::{FnModel, ModelReply};
/// use toolwright::{Invoker, Registry};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let model = FnModel::new(|request| ModelReply::text(format!("{} tools", request.tools.len())));
/// let chat = Chat::new(&Invoker::new(&Registry::new())?, model);
/// assert_eq!(chat.message().user("How many?").call().await?.text(), "0 tools");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct FnModel {
    id: ModelId,
    reply: ReplyFn,
}

impl FnModel {
    /// Creates a model of a function.
    pub fn new<R: Into<ModelReply>>(
        reply: impl Fn(&ModelRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: ModelId::new("function", ""),
            reply: Arc::new(move |request| reply(request).into()),
        }
    }

    /// Creates a model that repeats the text of the last message.
    pub fn echo() -> Self {
        Self::new(|request| match request.messages.last() {
            Some(Message::User(content) | Message::Assistant(content)) => {
                ToolResult::success(content.clone()).text().into_owned()
            }
            Some(Message::Results(results)) => {
                let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
                texts.join("\n")
            }
            Some(Message::Step(step)) => step.text(),
            _ => String::new(),
        })
    }
}

impl Model for FnModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        (self.reply)(&request).into_stream()
    }
}

impl fmt::Debug for FnModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FnModel").finish()
    }
}
