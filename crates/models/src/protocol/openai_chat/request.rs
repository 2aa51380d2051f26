//! Writes the JSON body of a request to `/chat/completions`.

use std::borrow::Cow;

use serde_json::{Value, json};
use toolwright_chat::{Message, ModelRequest, ResponseFormat, Step, ToolChoice};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;
use toolwright_core::{Content, ToolResult};

use super::OpenAiChat;
use super::quirks::{ResponseFormatSupport, ResultImages};
use crate::protocol::Protocol as _;
use crate::protocol::call_identifiers::valid_name;
use crate::protocol::json::{JsonObject, number, object};
use crate::protocol::response_format::lower_schema;
use crate::protocol::results::results_of_step;

mod content_parts;
mod replayed_step;

use content_parts::{content_part, content_parts, joined_if_text, text_part};

/// Sent for a missing result: the API rejects a call without one.
const MISSING_RESULT_TEXT: &str = "There is no result: the call was not finished.";

pub(super) fn request_body(
    protocol: &OpenAiChat,
    request: &ModelRequest,
    tools: &ToolPlan,
    model: &str,
) -> JsonObject {
    let (quirks, options) = (&protocol.quirks, &request.options);
    let has_tools = !tools.tools().is_empty();
    let definitions = has_tools.then(|| tools.definitions().to_vec());
    let choice = tool_choice(protocol, &request.tool_choice, tools).filter(|_| has_tools);
    let format = request.response_format.as_ref();
    let format = format.map(|format| response_format(protocol, &format.name, &format.schema));
    let stream_options = quirks.requests_stream_usage.then(|| json!({"include_usage": true}));
    let mut body = object([
        ("model", model.into()),
        ("messages", messages(protocol, request, tools).into()),
        ("tools", definitions.into()),
        ("tool_choice", choice.into()),
        ("response_format", format.into()),
        (quirks.max_tokens_field, options.max_tokens.into()),
        ("temperature", number(options.temperature)),
        ("top_p", number(options.top_p)),
        ("reasoning_effort", options.effort.as_deref().into()),
        ("stream", true.into()),
        ("stream_options", stream_options.into()),
    ]);
    body.extend(options.extra.clone());
    body
}

fn tool_choice(protocol: &OpenAiChat, choice: &ToolChoice, tools: &ToolPlan) -> Option<Value> {
    match choice {
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required if protocol.quirks.supports_forced_calls => Some("required".into()),
        ToolChoice::Named(name) if protocol.quirks.supports_forced_calls => {
            // An unknown name is sent unchanged, for the vendor to reject: any other choice would mean something else.
            let name = tools.wire_name(name).unwrap_or(name);
            let kind = if tools.custom_param(name).is_some() { "custom" } else { "function" };
            Some(json!({"type": kind, kind: {"name": name}}))
        }
        // `auto` is the default.
        _ => None,
    }
}

/// The value of `response_format`.
pub(super) fn response_format(protocol: &OpenAiChat, name: &str, schema: &Schema) -> Value {
    if protocol.quirks.response_format == ResponseFormatSupport::JsonObject {
        return json!({"type": "json_object"});
    }
    let dialect = protocol.response_format_dialect(schema);
    let json_schema = json!({
        "name": valid_name(name, "answer"),
        "schema": lower_schema(schema, dialect),
        "strict": dialect.is_some_and(Dialect::is_strict),
    });
    json!({"type": "json_schema", "json_schema": json_schema})
}

/// The system message, with the schema of the response format if the API has no field for it.
fn system_text(protocol: &OpenAiChat, request: &ModelRequest) -> Option<String> {
    let format = request
        .response_format
        .as_ref()
        .filter(|_| protocol.quirks.response_format == ResponseFormatSupport::JsonObject);
    let format = format.map(|format: &ResponseFormat| schema_instruction(&format.schema));
    match (&request.system, format) {
        (Some(system), Some(format)) => Some(format!("{system}\n\n{format}")),
        (Some(system), None) => Some(system.clone()),
        (None, format) => format,
    }
}

/// The schema of a response format as an instruction to the model.
pub(super) fn schema_instruction(schema: &Schema) -> String {
    let schema = schema.as_value();
    format!(
        "Answer with one JSON object that satisfies this JSON Schema, and nothing else:\n{schema}"
    )
}

/// Writes the `messages` of a request.
struct MessageWriter<'a> {
    protocol: &'a OpenAiChat,
    messages: Vec<Value>,
}

fn messages(protocol: &OpenAiChat, request: &ModelRequest, tools: &ToolPlan) -> Vec<Value> {
    let mut writer = MessageWriter { protocol, messages: Vec::new() };
    if let Some(system) = system_text(protocol, request) {
        writer.push_message(protocol.quirks.system_role, system.into());
    }
    for (index, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(contents) => {
                let parts = content_parts(contents, &protocol.quirks);
                writer.push_unless_blank("user", joined_if_text(parts));
            }
            Message::Assistant(contents) => {
                writer.push_unless_blank("assistant", Content::join_text(contents).into());
            }
            Message::Step(step) => {
                let message = replayed_step::assistant_message(protocol, step, tools);
                writer.messages.extend(message);
                writer.push_results(step, &results_of_step(&request.messages, index));
            }
            // Written with their step.
            _ => {}
        }
    }
    writer.messages
}

impl MessageWriter<'_> {
    fn push_message(&mut self, role: &str, content: Value) {
        self.messages.push(json!({"role": role, "content": content}));
    }

    /// Adds a message unless it is blank, which some vendors reject.
    fn push_unless_blank(&mut self, role: &str, content: Value) {
        let is_blank = content.as_str().is_some_and(|text| text.trim().is_empty());
        if !is_blank {
            self.push_message(role, content);
        }
    }

    /// Writes one result for each call of a step, in the order of the calls.
    ///
    /// A result without its call is left out: the API rejects it, as it does a call without its result.
    fn push_results(&mut self, step: &Step, results: &[&ToolResult]) {
        let mut images = Vec::new();
        for call in step.calls() {
            let result = results.iter().find(|result| result.call_id == call.id);
            let content = match result {
                Some(result) => self.result_content(result, &mut images),
                None => MISSING_RESULT_TEXT.into(),
            };
            let id = self.protocol.quirks.call_id_format.conform(call.id.as_str());
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
        let quirks = &self.protocol.quirks;
        match quirks.result_images {
            ResultImages::InResult if result.content.iter().any(is_image) => {
                let mut parts = content_parts(&result.content, quirks);
                if failed {
                    parts.insert(0, text_part("Error:"));
                }
                return joined_if_text(parts);
            }
            ResultImages::InUserMessage => {
                for image in result.content.iter().filter(|content| is_image(content)) {
                    images.push(text_part(&format!("From the result of {}:", result.tool)));
                    images.push(content_part(image, quirks));
                }
            }
            _ => {}
        }
        let text = match quirks.result_images {
            ResultImages::InUserMessage => text_around_images(&result.content).into(),
            _ => result.to_text(),
        };
        match (failed, text.is_empty()) {
            (true, _) => format!("Error: {text}").into(),
            // Some vendors reject a message without content.
            (false, true) => "(nothing)".into(),
            (false, false) => text.into(),
        }
    }
}

/// The content as text, with a note for each image that follows in the next message.
fn text_around_images(content: &[Content]) -> String {
    let texts = content.iter().map(|item| match image_type(item) {
        Some(kind) => format!("[an image, {kind}, which follows the results]").into(),
        None => item.to_text(),
    });
    texts.collect::<Vec<Cow<'_, str>>>().join("\n")
}

fn is_image(content: &Content) -> bool {
    image_type(content).is_some()
}

/// The MIME type of content that is sent as an image.
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
