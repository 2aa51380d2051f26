//! Models in order of preference: the next one answers if one is overloaded or cannot be reached.

use std::sync::Arc;
use std::vec;

use futures::StreamExt as _;
use futures::stream;
use serde_json::Value;
use toolwright_chat::{
    HostedTool, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelId, ModelRequest,
    ModelStream, ResponseFormat, ToolDeferral,
};
use toolwright_core::schema::Dialect;

/// Makes a model of several, in order of preference: if one is overloaded, rate-limited, out of quota or cannot be reached
/// before any event of its answer, the next one answers.
///
/// An event ([`ModelEvent::Fallback`], in a chat `ChatEvent::Fallback`) names the model that answers; usage and cost of the
/// step are its own. The same model continues a turn that it has begun. Each model retries a failed request first: build those
/// that have a successor with [`ModelBuilder::retries`](crate::ModelBuilder::retries) 0 to go on at once.
///
/// # Errors
///
/// There is no model.
///
/// # Examples
///
/// ```
/// use toolwright::models;
///
/// let model = models::fallback([
///     models::openai("gpt-5").api_key("a key").retries(0).build()?,
///     models::ollama("qwen3").build()?,
/// ])?;
/// assert_eq!(model.id().to_string(), "openai:gpt-5");
/// # Ok::<(), toolwright::chat::ModelError>(())
/// ```
pub fn fallback(
    models: impl IntoIterator<Item = Arc<dyn Model>>,
) -> Result<Arc<dyn Model>, ModelError> {
    let mut models = models.into_iter();
    let Some(first) = models.next() else {
        return Err(ModelError::new(ModelErrorKind::BadRequest, "the list of models is empty"));
    };
    let others: Vec<Arc<dyn Model>> = models.collect();
    Ok(match others.is_empty() {
        true => first,
        false => Arc::new(FallbackModel { first, others }),
    })
}

struct FallbackModel {
    first: Arc<dyn Model>,
    others: Vec<Arc<dyn Model>>,
}

impl FallbackModel {
    fn models(&self) -> impl Iterator<Item = &Arc<dyn Model>> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl Model for FallbackModel {
    fn id(&self) -> &ModelId {
        self.first.id()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let mut models: Vec<Arc<dyn Model>> = self.models().cloned().collect();
        let begun_by = last_model_of_turn(&request);
        let begun_by = begun_by.and_then(|id| models.iter().position(|model| model.id() == id));
        let first = models.remove(begun_by.unwrap_or_default());
        let change = begun_by.filter(|index| *index > 0);
        let attempts = Attempts {
            change: change.map(|_| fallback_event(&first, "it answered the step before")),
            next: Some(first),
            events: stream::empty().boxed(),
            models: models.into_iter(),
            request,
            is_answering: false,
        };
        stream::unfold(attempts, |mut attempts| async move {
            let event = attempts.next_event().await?;
            Some((event, attempts))
        })
        .boxed()
    }

    fn tool_dialect(&self) -> Dialect {
        self.first.tool_dialect()
    }

    fn tool_deferral(&self) -> Option<ToolDeferral> {
        // The request is the same for all of them.
        let deferral = self.first.tool_deferral();
        deferral.filter(|_| self.models().all(|model| model.tool_deferral() == deferral))
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        self.models().any(|model| model.supports_hosted_tool(hosted))
    }

    fn parse_structured_output(
        &self,
        format: &ResponseFormat,
        text: &str,
    ) -> Result<Value, String> {
        // Which model answered is not known here: one in whose dialect the answer satisfies the schema.
        let parsed = self.models().map(|model| model.parse_structured_output(format, text));
        let mut values = parsed.filter_map(Result::ok);
        match values.find(|value| format.schema.violations(value).is_empty()) {
            Some(valid) => Ok(valid),
            None => self.first.parse_structured_output(format, text),
        }
    }
}

/// The answer to one request, of the first model that is available.
struct Attempts {
    /// Emitted before the next event.
    change: Option<ModelEvent>,
    /// The model that is asked once the event that names it was read: who reads it may not want its answer.
    next: Option<Arc<dyn Model>>,
    events: ModelStream,
    /// Those that were not tried yet.
    models: vec::IntoIter<Arc<dyn Model>>,
    request: ModelRequest,
    /// Whether an event of the answer was emitted; then no other model can answer.
    is_answering: bool,
}

impl Attempts {
    async fn next_event(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        if let Some(change) = self.change.take() {
            return Some(Ok(change));
        }
        if let Some(model) = self.next.take() {
            self.events = model.stream(request_for(&model, &self.request));
        }
        let event = self.events.next().await?;
        match event {
            Err(error) if !self.is_answering && is_unavailable(&error) => {
                let Some(next) = self.models.next() else {
                    return Some(Err(error));
                };
                tracing::warn!(next = %next.id(), %error, "a model is not available");
                let change = fallback_event(&next, error.to_string());
                self.next = Some(next);
                Some(Ok(change))
            }
            event => {
                self.is_answering |=
                    !matches!(event, Ok(ModelEvent::RequestSent(_) | ModelEvent::Fallback { .. }));
                Some(event)
            }
        }
    }
}

/// Returns the request without the hosted tools that the model's vendor does not have.
fn request_for(model: &Arc<dyn Model>, request: &ModelRequest) -> ModelRequest {
    let mut request = request.clone();
    request.hosted_tools.retain(|hosted| model.supports_hosted_tool(hosted));
    request
}

fn fallback_event(model: &Arc<dyn Model>, reason: impl Into<String>) -> ModelEvent {
    ModelEvent::Fallback { model: model.id().clone(), reason: reason.into() }
}

/// Returns true if another vendor may answer what this one did not.
fn is_unavailable(error: &ModelError) -> bool {
    error.is_transient() || error.kind == ModelErrorKind::Quota
}

/// Returns the model of the last step if the request continues its turn: only that vendor can read its reasoning.
fn last_model_of_turn(request: &ModelRequest) -> Option<&ModelId> {
    let is_message =
        |message: &&Message| matches!(message, Message::User(_) | Message::Assistant(_));
    let messages = request.messages.iter().rev();
    messages.take_while(|message| !is_message(message)).find_map(|message| match message {
        Message::Step(step) => Some(&step.model),
        _ => None,
    })
}
