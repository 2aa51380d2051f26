//! A model behind a genai client as a model of Toolwright's: ModelRequest in, a request of genai's out.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::ready;
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ContentPart, JsonSpec, ReasoningEffort};
use genai::chat::{ToolCall, ToolChoice as Choice};
use genai::{Client, ModelIden};
use toolwright::chat::{Item, ItemKind, Message, Model, ModelError, ModelErrorKind, ModelId};
use toolwright::chat::{ModelRequest, ModelStream, ToolChoice};
use toolwright::schema::Dialect;
use toolwright::wire::{ToolPlan, ToolPlanner};
use toolwright::{BridgeError, Content};

use crate::result::{replay_arguments, to_chat_messages, to_tool_response};
use crate::tools::{HOSTED_TOOL_NAMES, to_genai_tool};

mod error;
mod stream_decoder;

use error::to_model_error;
use stream_decoder::{StreamDecoder, protocol_name};

/// A model behind a genai client, for [`Chat`](toolwright::chat::Chat); cheap to clone.
#[derive(Clone, Debug)]
pub struct GenaiModel {
    client: Client,
    name: Arc<str>,
    id: ModelId,
    model: ModelIden,
    dialect: Dialect,
    options: ChatOptions,
}

impl GenaiModel {
    /// Names a model as genai does, and resolves its provider with the client.
    ///
    /// # Errors
    ///
    /// When the client cannot resolve it.
    pub async fn new(client: Client, name: &str) -> Result<Self, ModelError> {
        let target = client.resolve_service_target(name).await;
        let model = target.map_err(to_model_error)?.model;
        let vendor = model.adapter_kind.as_lower_str();
        // Providers are named alike, and those who speak another's protocol after it: `openai_resp`.
        let dialect = vendor.split('_').next().and_then(|name| name.parse().ok());
        Ok(Self {
            client,
            name: name.into(),
            id: ModelId::new(vendor, &*model.model_name),
            model,
            dialect: dialect.unwrap_or(Dialect::PORTABLE),
            options: ChatOptions::default(),
        })
    }

    /// Sets the dialect of schemas, if it is not that of the provider's adapter.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Sets options of genai: timeouts, headers, caching.
    #[must_use]
    pub fn options(mut self, options: ChatOptions) -> Self {
        self.options = options;
        self
    }
}

impl Model for GenaiModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let this = self.clone();
        let opened = async move {
            let planner = ToolPlanner::new(this.dialect).reserve(HOSTED_TOOL_NAMES.split(' '));
            let plan = planner.plan(request.tools.iter());
            if let Some(left) = plan.omitted().first() {
                let refused = BridgeError::rejected(&left.name, &left.reason).to_string();
                return Err(ModelError::new(ModelErrorKind::BadRequest, refused));
            }
            let (chat, options) =
                (this.to_chat_request(&request, &plan), this.to_chat_options(&request, &plan));
            let ids = chat.messages.iter().flat_map(|message| message.content.tool_calls());
            let ids: HashSet<String> = ids.map(|call| call.call_id.clone()).collect();
            let answer = this.client.exec_chat_stream(&*this.name, chat, Some(&options));
            let events = answer.await.map_err(to_model_error)?.stream;
            let (model, shown, over) = (this.model, Vec::new(), false);
            let reader =
                StreamDecoder { model, plan, ids, emitted_calls: shown, is_finished: over };
            let events = events.map(Some).chain(stream::once(ready(None)));
            let read = events.scan(reader, |reader, event| ready(reader.decode_event(event)));
            Ok(read.flat_map(stream::iter))
        };
        stream::once(opened).try_flatten().boxed()
    }
}

impl GenaiModel {
    fn to_chat_request(&self, request: &ModelRequest, plan: &ToolPlan) -> ChatRequest {
        let messages =
            request.messages.iter().flat_map(|message| self.to_chat_messages(message, plan));
        let tools = plan.tools().iter().map(|tool| {
            let strict = tool.dialect.is_strict();
            to_genai_tool(&tool.wire_name, &tool.description, &tool.parameters(), strict)
        });
        let mut chat = ChatRequest::new(messages.collect());
        chat.tools = Some(tools.collect()).filter(|tools: &Vec<_>| !tools.is_empty());
        chat.system = request.system.clone();
        chat
    }

    fn to_chat_options(&self, request: &ModelRequest, plan: &ToolPlan) -> ChatOptions {
        let asked = &request.options;
        let mut options = self.options.clone().with_capture_content(true).with_capture_usage(true);
        options = options.with_capture_reasoning_content(true).with_capture_tool_calls(true);
        options.max_tokens = asked.max_tokens.or(options.max_tokens);
        options.temperature = asked.temperature.map(f64::from).or(options.temperature);
        options.top_p = asked.top_p.map(f64::from).or(options.top_p);
        let effort = asked.effort.as_deref().and_then(ReasoningEffort::from_keyword);
        options.reasoning_effort = effort.or(options.reasoning_effort);
        if !asked.extra.is_empty() {
            options.extra_body = Some(asked.extra.clone().into());
        }
        if let Some(form) = &request.response_format {
            let form = JsonSpec::new(&form.name, form.schema.as_value().clone());
            options.response_format = Some(form.into());
        }
        options.tool_choice = match &request.tool_choice {
            _ if plan.tools().is_empty() => None,
            ToolChoice::None => Some(Choice::None),
            ToolChoice::Required => Some(Choice::Required),
            ToolChoice::Named(name) => Some(Choice::tool(plan.wire_name(name).unwrap_or(name))),
            _ => None,
        };
        options
    }

    fn to_chat_messages(&self, message: &Message, plan: &ToolPlan) -> Vec<ChatMessage> {
        let converted = match message {
            Message::User(content) => {
                ChatMessage::user(content.iter().map(content_to_part).collect::<Vec<_>>())
            }
            Message::Assistant(content) => {
                let words = content.iter().map(|item| ContentPart::from_text(item.to_text()));
                ChatMessage::assistant(words.collect::<Vec<_>>())
            }
            Message::Step(step) => {
                let parts = step.items.iter().filter_map(|item| self.item_to_part(item, plan));
                ChatMessage::assistant(parts.collect::<Vec<_>>())
            }
            Message::Results(results) => {
                let answered = results.iter().map(|result| {
                    let name = plan.wire_name(result.tool.as_str());
                    let call = to_genai_call(
                        result.call_id.as_str(),
                        name.unwrap_or(result.tool.as_str()),
                        "",
                    );
                    to_tool_response(&call, result)
                });
                return to_chat_messages(self.model.adapter_kind, answered.collect());
            }
            _ => return Vec::new(),
        };
        Some(converted).filter(|message| !message.content.is_empty()).into_iter().collect()
    }

    /// An item in the provider's own JSON, or converted; blank texts are rejected by providers, so they are dropped.
    fn item_to_part(&self, item: &Item, plan: &ToolPlan) -> Option<ContentPart> {
        let raw = item.raw_json(&protocol_name(&self.model));
        let raw = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let part = match &item.kind {
            _ if raw.is_some() => raw?,
            ItemKind::Text { text } | ItemKind::Refusal { text } => ContentPart::from_text(text),
            ItemKind::Call { call } => {
                let call = plan.lower(call.clone());
                to_genai_call(call.id.as_str(), call.name.as_str(), call.arguments.as_str()).into()
            }
            _ => return None,
        };
        let blank = part.as_text().is_some_and(|text| text.trim().is_empty());
        Some(part).filter(|_| !blank)
    }
}

fn to_genai_call(id: &str, name: &str, arguments: &str) -> ToolCall {
    let arguments = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
    ToolCall {
        call_id: id.to_owned(),
        fn_name: name.to_owned(),
        fn_arguments: replay_arguments(arguments),
        thought_signatures: None,
    }
}

fn content_to_part(item: &Content) -> ContentPart {
    match item {
        Content::Image { data, mime_type } => {
            ContentPart::from_binary_base64(mime_type, data.as_str(), None)
        }
        _ => ContentPart::from_text(item.to_text()),
    }
}
