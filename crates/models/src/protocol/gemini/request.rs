//! Writes the JSON body of a request.

use serde_json::{Value, json};
use toolwright_chat::{HostedTool, Item, ItemKind, Message, ModelRequest, Step, ToolChoice};
use toolwright_core::schema::Schema;
use toolwright_core::wire::ToolPlan;
use toolwright_core::{ToolCall, ToolResult};

use super::content::{content_parts, result_response, text_part};
use super::{Gemini, ModelGeneration, NAME};
use crate::protocol::call_identifiers::valid_tool_name;
use crate::protocol::json::{
    JsonObject, arguments_object, merge_objects, number, object, unless_empty,
};
use crate::protocol::response_format::lower_schema;
use crate::protocol::results::{results_of_step, take_result};
use crate::protocol::{Protocol as _, raw_fields};

/// Replaces the required signature in a call that another model made.
const PLACEHOLDER_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn request_body(request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
    let generation = ModelGeneration::for_model(model);
    let system = request.system.as_deref().filter(|text| !text.is_empty());
    let (definitions, tool_config) = tools_and_config(request, tools);
    let mut body = object([
        ("systemInstruction", system.map(|text| json!({"parts": [text_part(text)]})).into()),
        ("contents", contents(&request.messages, tools, generation).into()),
        ("tools", unless_empty(definitions)),
        ("toolConfig", unless_empty(tool_config)),
        ("generationConfig", unless_empty(generation_config(request, generation))),
    ]);
    merge_objects(&mut body, &request.options.extra);
    body
}

fn contents(messages: &[Message], tools: &ToolPlan, generation: ModelGeneration) -> Vec<Value> {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut push = |role: &'static str, parts: Vec<Value>| match contents.last_mut() {
        // The API rejects a content without parts,
        _ if parts.is_empty() => {}
        // and calls that do not follow a user message or results: consecutive model messages become one content.
        Some((MODEL, last)) if role == MODEL => last.extend(parts),
        _ => contents.push((role, parts)),
    };
    for (index, message) in messages.iter().enumerate() {
        match message {
            Message::User(items) => push(USER, content_parts(items)),
            Message::Assistant(items) => push(MODEL, content_parts(items)),
            Message::Step(step) => {
                let results = results_of_step(messages, index);
                let (parts, responses) = replay_step(step, results, tools, generation);
                push(MODEL, parts);
                push(USER, responses);
            }
            // The API rejects results without their calls.
            _ => {}
        }
    }
    let contents = contents.into_iter();
    contents.map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

const USER: &str = "user";
const MODEL: &str = "model";

/// Writes a step as parts, and the response to each of its calls: the API rejects a call without one.
fn replay_step(
    step: &Step,
    mut results: Vec<&ToolResult>,
    tools: &ToolPlan,
    generation: ModelGeneration,
) -> (Vec<Value>, Vec<Value>) {
    let is_newest = generation == ModelGeneration::ThinkingLevel;
    let mut parts = Vec::new();
    let mut responses = Vec::new();
    for item in &step.items {
        let part = match raw_part(item) {
            // Sources are not sent back.
            Some(part) if part.contains_key("groundingMetadata") => continue,
            Some(part) => part,
            None => {
                let Some(mut part) = part_from_kind(&item.kind, tools) else {
                    continue;
                };
                let is_call = matches!(item.kind, ItemKind::Call { .. });
                if is_call && is_newest && responses.is_empty() {
                    part.insert("thoughtSignature".to_owned(), PLACEHOLDER_SIGNATURE.into());
                }
                part
            }
        };
        if let ItemKind::Call { call } = &item.kind {
            let result = take_result(&mut results, &call.id);
            responses.push(function_response(part.get("functionCall"), result, is_newest));
        }
        parts.push(Value::Object(part));
    }
    (parts, responses)
}

/// The part as the API sent it.
fn raw_part(item: &Item) -> Option<JsonObject> {
    let mut part: JsonObject = raw_fields(NAME, item)?;
    if part.keys().all(|key| matches!(key.as_str(), "thought" | "thoughtSignature")) {
        // The API omits an empty text, but requires it in a request.
        part.insert("text".to_owned(), "".into());
    }
    Some(part)
}

/// A part for an item without raw JSON of this protocol.
fn part_from_kind(kind: &ItemKind, tools: &ToolPlan) -> Option<JsonObject> {
    match kind {
        ItemKind::Text { text } | ItemKind::Refusal { text } if !text.is_empty() => {
            Some(object([("text", text.as_str().into())]))
        }
        ItemKind::Call { call } => {
            let ToolCall { name, arguments, .. } = tools.lower(call.clone());
            let name = valid_tool_name(name.as_str());
            let args = arguments_object(arguments.as_str());
            Some(object([("functionCall", json!({"name": name, "args": args}))]))
        }
        _ => None,
    }
}

/// The response to a call, whose name and id it repeats.
fn function_response(
    call: Option<&Value>,
    result: Option<&ToolResult>,
    accepts_media: bool,
) -> Value {
    let field = |name| call?.get(name)?.as_str();
    let (response, media) = match result {
        Some(result) => result_response(result, accepts_media),
        None => (json!({"error": "no result of this call is known"}), Vec::new()),
    };
    let function = object([
        ("id", field("id").into()),
        ("name", field("name").unwrap_or_default().into()),
        ("response", response),
        ("parts", unless_empty(media)),
    ]);
    json!({"functionResponse": function})
}

/// The tools and the hosted tools, and which of them the model may call.
fn tools_and_config(request: &ModelRequest, tools: &ToolPlan) -> (Vec<Value>, JsonObject) {
    let mut definitions = tools.definitions().to_vec();
    let has_functions = !definitions.is_empty();
    let mut hosted = request.hosted_tools.iter();
    let has_search = hosted.any(|hosted| matches!(hosted, HostedTool::WebSearch(_)));
    if has_search {
        definitions.push(json!({"googleSearch": {}}));
    }
    let calling = function_calling_config(&request.tool_choice, tools);
    let config = object([
        ("functionCallingConfig", calling.filter(|_| has_functions).into()),
        // Without it the API rejects hosted tools beside functions.
        ("includeServerSideToolInvocations", (has_functions && has_search).then_some(true).into()),
    ]);
    (definitions, config)
}

fn function_calling_config(choice: &ToolChoice, tools: &ToolPlan) -> Option<Value> {
    match choice {
        ToolChoice::None => Some(json!({"mode": "NONE"})),
        ToolChoice::Required => Some(json!({"mode": "ANY"})),
        ToolChoice::Named(name) => {
            let name = tools.wire_name(name).unwrap_or(name);
            Some(json!({"mode": "ANY", "allowedFunctionNames": [name]}))
        }
        _ => None,
    }
}

fn generation_config(request: &ModelRequest, generation: ModelGeneration) -> JsonObject {
    let options = &request.options;
    let format = request.response_format.as_ref();
    let thinking = options.effort.as_deref().map(|effort| match generation {
        ModelGeneration::ThinkingBudget => {
            json!({"includeThoughts": true, "thinkingBudget": thinking_budget(effort)})
        }
        _ => json!({"includeThoughts": true, "thinkingLevel": effort.to_ascii_uppercase()}),
    });
    object([
        ("maxOutputTokens", options.max_tokens.into()),
        ("temperature", number(options.temperature)),
        ("topP", number(options.top_p)),
        ("thinkingConfig", thinking.into()),
        ("responseMimeType", format.map(|_| "application/json").into()),
        ("responseJsonSchema", format.map(|format| response_schema(&format.schema)).into()),
    ])
}

/// Google's own number of tokens for a level; -1 leaves it to the model.
fn thinking_budget(effort: &str) -> i32 {
    match effort.to_ascii_lowercase().as_str() {
        "none" => 0,
        "minimal" | "low" => 1024,
        "medium" => 8192,
        "high" => 24_576,
        _ => -1,
    }
}

/// The schema of a response format, in the vendor's dialect if possible.
pub(super) fn response_schema(schema: &Schema) -> Value {
    lower_schema(schema, Gemini.response_format_dialect(schema))
}
