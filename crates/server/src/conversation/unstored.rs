//! A conversation that is not stored: its history is part of the request, and it ends with its one turn.

use std::sync::Arc;

use serde_json::Value;
use toolwright_chat::{
    HostedTool, Message, Model, ModelId, ModelOptions, ModelRequest, ModelStream, ResponseFormat,
    ToolChoice, ToolDeferral, TurnRequest,
};
use toolwright_core::schema::Dialect;

/// The history and the settings that a client sends with its message.
#[derive(Default)]
pub(crate) struct UnstoredConversation {
    /// Replaces the system prompt of the endpoint.
    pub(crate) system: Option<String>,
    pub(crate) messages_before: Vec<Message>,
    /// The messages after the user message of the turn: steps and results of the client's own tools.
    pub(crate) messages_after: Vec<Message>,
    pub(crate) options: Option<ModelOptions>,
    pub(crate) tool_choice: Option<ToolChoice>,
}

impl UnstoredConversation {
    /// Applies the settings to a turn.
    pub(crate) fn apply_to_turn(&self, mut request: TurnRequest) -> TurnRequest {
        if let Some(system) = &self.system {
            request = request.system(system);
        }
        if let Some(options) = &self.options {
            request = request.model_options(options.clone());
        }
        if let Some(choice) = &self.tool_choice {
            request = request.tool_choice(choice.clone());
        }
        request
    }
}

/// A model that receives the history of an unstored conversation around the messages of the turn.
pub(crate) struct ModelWithHistory {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) conversation: Arc<UnstoredConversation>,
}

impl Model for ModelWithHistory {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, mut request: ModelRequest) -> ModelStream {
        let mut turn = std::mem::take(&mut request.messages).into_iter();
        let messages = self.conversation.messages_before.iter().cloned();
        let messages = messages.chain(turn.next());
        let messages = messages.chain(self.conversation.messages_after.iter().cloned());
        request.messages = messages.chain(turn).collect();
        self.model.stream(request)
    }

    fn tool_dialect(&self) -> Dialect {
        self.model.tool_dialect()
    }

    fn tool_deferral(&self) -> Option<ToolDeferral> {
        self.model.tool_deferral()
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        self.model.supports_hosted_tool(hosted)
    }

    fn parse_structured_output(&self, form: &ResponseFormat, text: &str) -> Result<Value, String> {
        self.model.parse_structured_output(form, text)
    }
}
