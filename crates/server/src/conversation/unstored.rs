//! A conversation that is not stored: its history is part of the request, and it ends with its one turn.

use std::sync::Arc;

use toolwright_chat::{Message, ModelOptions, ToolChoice, TurnRequest};

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
    /// Applies the history and the settings to a turn.
    pub(crate) fn apply_to_turn(self: &Arc<Self>, request: TurnRequest) -> TurnRequest {
        let conversation = Arc::clone(self);
        let mut request = request.map_messages(move |turn| conversation.with_history(turn));
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

    /// Returns the history around the messages of a turn.
    fn with_history(&self, turn: Vec<Message>) -> Vec<Message> {
        let mut turn = turn.into_iter();
        let messages = self.messages_before.iter().cloned().chain(turn.next());
        messages.chain(self.messages_after.iter().cloned()).chain(turn).collect()
    }
}
