//! ModelRequest in, the body of a request out.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use toolwright_chat::{Message, ModelOptions, ModelRequest, ResponseFormat, ToolChoice};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{Content, ToolCall, ToolResult};

use super::OpenAiChat;
use super::quirks::{ResponseFormatSupport, ResultImages};
use crate::protocol::json::number_from_f32;

mod content_parts;
mod replayed_step;

use content_parts::ContentParts;

/// What the model reads where a result is missing: a call without one breaks the request.
const MISSING_RESULT_TEXT: &str = "There is no result: the call was not finished.";

pub(super) fn request_body(
    chat: &OpenAiChat,
    request: &ModelRequest,
    tools: &ToolPlan,
    model: &str,
) -> Map<String, Value> {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    set("model", model.into());
    set("messages", Value::Array(messages(chat, request, tools)));
    if !tools.tools().is_empty() {
        set(
            "tools",
            serde_json::from_str(tools.json()).unwrap_or_default(),
        );
        if let Some(choice) = tool_choice(chat, &request.tool_choice, tools) {
            set("tool_choice", choice);
        }
    }
    if let Some(form) = &request.response_format {
        set(
            "response_format",
            response_format(chat, &form.name, &form.schema),
        );
    }
    for (name, value) in options(chat, &request.options) {
        set(name, value);
    }
    set("stream", true.into());
    if chat.quirks.requests_stream_usage {
        set("stream_options", json!({"include_usage": true}));
    }
    body.extend(request.options.extra.clone());
    body
}

fn options(
    chat: &OpenAiChat,
    options: &ModelOptions,
) -> impl Iterator<Item = (&'static str, Value)> + use<> {
    let set = [
        (
            chat.quirks.max_tokens_field,
            options.max_tokens.map(Value::from),
        ),
        ("temperature", options.temperature.and_then(number_from_f32)),
        ("top_p", options.top_p.and_then(number_from_f32)),
        (
            "reasoning_effort",
            options.effort.as_deref().map(Value::from),
        ),
    ];
    set.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
}

fn tool_choice(chat: &OpenAiChat, choice: &ToolChoice, tools: &ToolPlan) -> Option<Value> {
    match choice {
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required if chat.quirks.supports_forced_calls => Some("required".into()),
        ToolChoice::Named(name) if chat.quirks.supports_forced_calls => {
            // A tool that is not there is the vendor's to refuse: any other choice would be another wish.
            let name = tools.wire_name(name).unwrap_or(name);
            Some(json!({"type": "function", "function": {"name": name}}))
        }
        // To choose freely is what happens when nothing is said.
        _ => None,
    }
}

/// How the form of the answer is asked for.
pub(super) fn response_format(chat: &OpenAiChat, name: &str, schema: &Schema) -> Value {
    if chat.quirks.response_format == ResponseFormatSupport::JsonObject {
        return json!({"type": "json_object"});
    }
    let dialect = response_format_dialect(chat, schema);
    let lowered = dialect.and_then(|dialect| schema.lower(dialect).ok());
    let schema = lowered.map_or_else(|| schema.as_value(), |lowered| lowered.schema());
    let strict = dialect.is_some_and(Dialect::is_strict);
    let name: String = name
        .chars()
        .map(|letter| match letter {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
            _ => '_',
        })
        .take(64)
        .collect();
    let name = if name.is_empty() { "answer" } else { &name };
    json!({
        "type": "json_schema",
        "json_schema": {"name": name, "schema": schema, "strict": strict},
    })
}

/// The dialect that an answer comes in: whoever reads the answer lifts it from there.
pub(super) fn response_format_dialect(chat: &OpenAiChat, schema: &Schema) -> Option<Dialect> {
    if chat.quirks.response_format == ResponseFormatSupport::JsonObject {
        return None;
    }
    let plain = chat.dialect.non_strict();
    let strict = plain.strict().filter(|strict| {
        let lowered = schema.lower(*strict);
        lowered.is_ok_and(|lowered| lowered.is_lossless())
    });
    strict.or_else(|| schema.lower(plain).ok().map(|_| plain))
}

/// What the model should keep to; the form of the answer belongs to it where the API has no place for a schema.
fn system_text(chat: &OpenAiChat, request: &ModelRequest) -> Option<String> {
    let form = request
        .response_format
        .as_ref()
        .filter(|_| chat.quirks.response_format == ResponseFormatSupport::JsonObject);
    let form = form.map(|form: &ResponseFormat| schema_instruction(&form.schema));
    match (&request.system, form) {
        (Some(system), Some(form)) => Some(format!("{system}\n\n{form}")),
        (Some(system), None) => Some(system.clone()),
        (None, form) => form,
    }
}

/// The form of an answer in words.
pub(super) fn schema_instruction(schema: &Schema) -> String {
    let schema = schema.as_value();
    format!(
        "Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n{schema}"
    )
}

/// The conversation so far.
struct MessageWriter<'a> {
    protocol: &'a OpenAiChat,
    tools: &'a ToolPlan,
    messages: Vec<Value>,
    /// The calls of the last step, whose results have to come next.
    pending_calls: Vec<ToolCall>,
    pending_results: Vec<&'a ToolResult>,
}

fn messages(chat: &OpenAiChat, request: &ModelRequest, tools: &ToolPlan) -> Vec<Value> {
    let mut draft = MessageWriter {
        protocol: chat,
        tools,
        messages: Vec::new(),
        pending_calls: Vec::new(),
        pending_results: Vec::new(),
    };
    if let Some(system) = system_text(chat, request) {
        draft.push_message(chat.quirks.system_role, system.into());
    }
    for message in &request.messages {
        match message {
            Message::Results(results) => draft.pending_results.extend(results),
            other => {
                draft.push_results();
                draft.push_history_message(other);
            }
        }
    }
    draft.push_results();
    draft.messages
}

impl MessageWriter<'_> {
    fn push_message(&mut self, role: &str, content: Value) {
        self.messages
            .push(json!({"role": role, "content": content}));
    }

    /// Says it unless it is blank: not every vendor takes a message that says nothing.
    fn push_unless_blank(&mut self, role: &str, content: Value) {
        let is_blank = content.as_str().is_some_and(|text| text.trim().is_empty());
        if !is_blank {
            self.push_message(role, content);
        }
    }

    fn push_history_message(&mut self, message: &Message) {
        match message {
            Message::User(contents) => {
                let content =
                    ContentParts::from_contents(contents, &self.protocol.quirks).into_content();
                self.push_unless_blank("user", content);
            }
            Message::Assistant(contents) => {
                self.push_unless_blank("assistant", Content::join_text(contents).into())
            }
            Message::Step(step) => {
                self.pending_calls = step.calls().cloned().collect();
                let message = replayed_step::assistant_message(self.protocol, step, self.tools);
                self.messages.extend(message);
            }
            _ => {}
        }
    }

    /// Writes one result for each call of the last step, in the order of the calls.
    ///
    /// A result without its call is left out: it would break the request just as a call without its result does.
    fn push_results(&mut self) {
        let calls = std::mem::take(&mut self.pending_calls);
        let results = std::mem::take(&mut self.pending_results);
        let mut images = Vec::new();
        for call in calls {
            let result = results.iter().find(|result| result.call_id == call.id);
            let content = match result {
                Some(result) => self.result_content(result, &mut images),
                None => MISSING_RESULT_TEXT.into(),
            };
            let id = self
                .protocol
                .quirks
                .call_id_format
                .conform(call.id.as_str());
            self.messages.push(json!({
                "role": "tool",
                "tool_call_id": id,
                "content": content,
            }));
        }
        if !images.is_empty() {
            self.push_message("user", images.into());
        }
    }

    fn result_content(&self, result: &ToolResult, images: &mut Vec<Value>) -> Value {
        let failed = result.is_error();
        match self.protocol.quirks.result_images {
            ResultImages::InResult if result.content.iter().any(is_image) => {
                let mut parts = ContentParts::default();
                if failed {
                    parts.push_text("Error:");
                }
                parts.extend(&result.content, &self.protocol.quirks);
                return parts.into_content();
            }
            ResultImages::InUserMessage => {
                let pictures = result.content.iter().filter(|content| is_image(content));
                let mut parts = ContentParts::default();
                for picture in pictures {
                    let whose = format!("From the result of {}:", result.tool);
                    parts.push_text(&whose);
                    parts.push_content(picture, &self.protocol.quirks);
                }
                images.extend(parts.into_vec());
            }
            _ => {}
        }
        let told = match self.protocol.quirks.result_images {
            ResultImages::InUserMessage => text_around_images(&result.content).into(),
            _ => result.to_text(),
        };
        match (failed, told.is_empty()) {
            (true, _) => format!("Error: {told}").into(),
            // Some refuse a message without content.
            (false, true) => "(nothing)".into(),
            (false, false) => told.into(),
        }
    }
}

/// Returns the content as text, for where its images follow in a message of their own.
fn text_around_images(content: &[Content]) -> String {
    let words = content.iter().map(|item| match image_type(item) {
        Some(kind) => format!("[an image, {kind}, which follows the results]").into(),
        None => item.to_text(),
    });
    words.collect::<Vec<Cow<'_, str>>>().join("\n")
}

fn is_image(content: &Content) -> bool {
    image_type(content).is_some()
}

/// The type of what is carried as an image.
fn image_type(content: &Content) -> Option<&str> {
    match content {
        Content::Image { mime_type, .. } => Some(mime_type),
        Content::Resource { resource } if resource.blob.is_some() => {
            let kind = resource.mime_type.as_deref();
            kind.filter(|kind| kind.starts_with("image/"))
        }
        _ => None,
    }
}
