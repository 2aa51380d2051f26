//! The baseline of reading a streamed answer: `serde_json` only, from bytes to content.
//!
//! Each frame is deserialized into a struct of the fields with content. Nothing is kept for the next request, and unexpected
//! input panics.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::StreamedAnswer;

/// The name of its row.
pub const ROW_NAME: &str = "frames, serde_json";

/// Reads an answer.
pub fn parse_stream(vendor: &str, bytes: &[u8]) -> StreamedAnswer {
    let text = std::str::from_utf8(bytes).unwrap();
    let mut streamed = StreamedAnswer::default();
    match vendor {
        "openai" => events(text, |data| parse_openai_responses(data, &mut streamed)),
        "openai-chat" => events(text, |data| parse_openai_chat(data, &mut streamed)),
        "anthropic" => events(text, |data| parse_anthropic(data, &mut streamed)),
        "gemini" => events(text, |data| parse_gemini(data, &mut streamed)),
        _ => text.lines().for_each(|data| parse_ollama(data, &mut streamed)),
    }
    streamed
}

fn events<'a>(text: &'a str, read: impl FnMut(&'a str)) {
    text.lines().filter_map(|line| line.strip_prefix("data: ")).for_each(read);
}

fn parse<T: DeserializeOwned>(data: &str) -> T {
    serde_json::from_str(data).unwrap()
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    delta: Option<String>,
    item: Option<Item>,
}

#[derive(Deserialize)]
struct Item {
    name: Option<String>,
}

fn parse_openai_responses(data: &str, streamed: &mut StreamedAnswer) {
    let event: Event = parse(data);
    let delta = event.delta.as_deref().unwrap_or_default();
    match event.kind.as_str() {
        "response.output_text.delta" => streamed.text.push_str(delta),
        "response.function_call_arguments.delta" => streamed.arguments.push_str(delta),
        "response.output_item.added" => {
            if let Some(name) = event.item.and_then(|item| item.name) {
                streamed.tool.push_str(&name);
            }
        }
        _ => {}
    }
}

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<ToolCallDelta>,
}

#[derive(Deserialize)]
struct ToolCallDelta {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: String,
}

fn parse_openai_chat(data: &str, streamed: &mut StreamedAnswer) {
    if data == "[DONE]" {
        return;
    }
    let chunk: Chunk = parse(data);
    for Choice { delta } in chunk.choices {
        streamed.text.push_str(delta.content.as_deref().unwrap_or_default());
        for ToolCallDelta { function } in delta.tool_calls {
            streamed.tool.push_str(function.name.as_deref().unwrap_or_default());
            streamed.arguments.push_str(&function.arguments);
        }
    }
}

#[derive(Deserialize)]
struct Message {
    delta: Option<BlockDelta>,
    content_block: Option<Item>,
}

#[derive(Deserialize)]
struct BlockDelta {
    text: Option<String>,
    partial_json: Option<String>,
}

fn parse_anthropic(data: &str, streamed: &mut StreamedAnswer) {
    let message: Message = parse(data);
    if let Some(delta) = message.delta {
        streamed.text.push_str(delta.text.as_deref().unwrap_or_default());
        let piece = delta.partial_json.as_deref();
        streamed.arguments.push_str(piece.unwrap_or_default());
    }
    if let Some(name) = message.content_block.and_then(|block| block.name) {
        streamed.tool.push_str(&name);
    }
}

#[derive(Deserialize)]
struct Answer {
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
struct Candidate {
    content: Content,
}

#[derive(Deserialize)]
struct Content {
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    function_call: Option<GeminiFunctionCall>,
}

#[derive(Deserialize)]
struct GeminiFunctionCall {
    name: String,
    #[serde(alias = "arguments")]
    args: Box<RawValue>,
}

fn parse_gemini(data: &str, streamed: &mut StreamedAnswer) {
    let answer: Answer = parse(data);
    for part in answer.candidates.into_iter().flat_map(|candidate| candidate.content.parts) {
        streamed.text.push_str(part.text.as_deref().unwrap_or_default());
        if let Some(call) = part.function_call {
            streamed.tool.push_str(&call.name);
            streamed.arguments.push_str(call.args.get());
        }
    }
}

#[derive(Deserialize)]
struct OllamaLine {
    message: OllamaMessage,
}

#[derive(Deserialize)]
struct OllamaMessage {
    content: String,
    #[serde(default)]
    tool_calls: Vec<OllamaToolCall>,
}

#[derive(Deserialize)]
struct OllamaToolCall {
    function: GeminiFunctionCall,
}

fn parse_ollama(data: &str, streamed: &mut StreamedAnswer) {
    let line: OllamaLine = parse(data);
    streamed.text.push_str(&line.message.content);
    for OllamaToolCall { function } in line.message.tool_calls {
        streamed.tool.push_str(&function.name);
        streamed.arguments.push_str(function.args.get());
    }
}
