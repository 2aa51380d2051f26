//! A conversation that is not stored: its history is part of the request, and it ends with its one turn.

use std::sync::Arc;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use serde_json::Value;
use toolwright_chat::{
    HostedTool, Item, ItemKind, Message, Model, ModelEvent, ModelId, ModelOptions, ModelRequest,
    ModelStream, ResponseFormat, StopReason, ToolChoice, ToolDeferral, TurnRequest,
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
    pub(crate) format: Option<AnswerFormat>,
}

/// The JSON that a client wants as the answer.
#[derive(Clone)]
pub(crate) struct AnswerFormat {
    pub(crate) format: ResponseFormat,
    /// False if any object will do: providers that enforce a schema would allow an empty one only.
    pub(crate) has_schema: bool,
}

/// What the model is told if any object will do.
const ANY_OBJECT: &str = "Answer with one JSON object, and nothing else.";

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

    /// Returns the model that answers: `model`, in the format that the client asks for.
    pub(crate) fn with_format(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        match &self.format {
            Some(answer) => Arc::new(ModelWithFormat { model, answer: answer.clone() }),
            None => model,
        }
    }
}

/// A model that answers in the format that the client asks for.
struct ModelWithFormat {
    model: Arc<dyn Model>,
    answer: AnswerFormat,
}

impl Model for ModelWithFormat {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, mut request: ModelRequest) -> ModelStream {
        let AnswerFormat { format, has_schema } = &self.answer;
        match has_schema {
            true => request.response_format = Some(format.clone()),
            false => {
                let system = request.system.map_or(String::new(), |system| system + "\n\n");
                request.system = Some(system + ANY_OBJECT);
            }
        }
        let (answer, model, format) =
            (self.model.stream(request), Arc::clone(&self.model), format.clone());
        let checked = async move {
            let events: Vec<ModelEvent> = answer.try_collect().await?;
            let events = write_structured_text(&*model, &format, events);
            Ok(stream::iter(events.into_iter().map(Ok)))
        };
        stream::once(checked).try_flatten().boxed()
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

/// Replaces the text of a step by its JSON, in the form of the client's schema. Text beside calls is no part of the answer, and
/// one that is not the requested JSON is not streamed.
fn write_structured_text(
    model: &dyn Model,
    format: &ResponseFormat,
    events: Vec<ModelEvent>,
) -> Vec<ModelEvent> {
    let is_cut_off =
        |event: &ModelEvent| matches!(event, ModelEvent::Finished { stop: StopReason::Length, .. });
    if events.iter().any(is_cut_off) {
        return events;
    }
    let items = events.iter().filter_map(|event| match event {
        ModelEvent::Item(item) => Some(&item.kind),
        _ => None,
    });
    let calls = items.clone().any(|kind| matches!(kind, ItemKind::Call { .. }));
    let text: String = items.filter_map(item_text).collect();
    let parsed = model.parse_structured_output(format, &text).ok();
    let answer = parsed.filter(|value| !calls && format.schema.violations(value).is_empty());
    let mut answer = answer.map(|value| value.to_string());
    let mut out = Vec::new();
    for event in events {
        match (&event, &mut answer) {
            (ModelEvent::Text(_), _) => {}
            (ModelEvent::Item(item), Some(answer)) if item_text(&item.kind).is_some() => {
                let text = std::mem::take(answer);
                if !text.is_empty() {
                    out.push(ModelEvent::Text(text.clone()));
                    out.push(ModelEvent::Item(Item::text(text)));
                }
            }
            _ => out.push(event),
        }
    }
    out
}

fn item_text(kind: &ItemKind) -> Option<&str> {
    match kind {
        ItemKind::Text { text } => Some(text),
        _ => None,
    }
}
