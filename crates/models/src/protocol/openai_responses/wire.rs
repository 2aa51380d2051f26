//! What frames and items look like, as far as anybody here reads them.
//!
//! Every field may be missing. One that is not what it should be counts as missing: servers that imitate this API leave out
//! some, and the API itself grows.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::protocol::json::lenient;

/// One frame of a stream, whatever its type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Frame<'a> {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output_index: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) summary_index: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) item_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) delta: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) arguments: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) response: Option<Response>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// The response that a stream ends with.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Response {
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output: Option<Vec<Box<RawValue>>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    #[serde(deserialize_with = "lenient")]
    pub(super) incomplete_details: Option<IncompleteDetails>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<Box<RawValue>>,
}

/// Why an answer ends before its end.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IncompleteDetails {
    #[serde(deserialize_with = "lenient")]
    pub(super) reason: Option<String>,
}

/// Tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(deserialize_with = "lenient")]
    pub(super) input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) input_tokens_details: Option<InputTokensDetails>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output_tokens_details: Option<OutputTokensDetails>,
}

impl From<Usage> for toolwright_chat::Usage {
    fn from(usage: Usage) -> Self {
        let read = usage.input_tokens_details.unwrap_or_default();
        let written = usage.output_tokens_details.unwrap_or_default();
        let mut tokens = Self::new(
            usage.input_tokens.unwrap_or_default(),
            usage.output_tokens.unwrap_or_default(),
        );
        tokens.cached = read.cached_tokens.unwrap_or_default();
        tokens.cache_written = read.cache_write_tokens.unwrap_or_default();
        tokens.reasoning = written.reasoning_tokens.unwrap_or_default();
        tokens
    }
}

/// Of the tokens read.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InputTokensDetails {
    #[serde(deserialize_with = "lenient")]
    pub(super) cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cache_write_tokens: Option<u64>,
}

/// Of the tokens written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputTokensDetails {
    #[serde(deserialize_with = "lenient")]
    pub(super) reasoning_tokens: Option<u64>,
}

/// One output item, whatever its type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    /// Of a message or of reasoning.
    #[serde(deserialize_with = "lenient")]
    pub(super) content: Option<Vec<Part>>,
    /// Of reasoning.
    #[serde(deserialize_with = "lenient")]
    pub(super) summary: Option<Vec<Part>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) encrypted_content: Option<String>,
    /// Of a function call.
    #[serde(deserialize_with = "lenient")]
    pub(super) call_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) arguments: Option<String>,
    /// Of what an MCP server did.
    #[serde(deserialize_with = "lenient")]
    pub(super) server_label: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) output: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<Box<RawValue>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tools: Option<Vec<ListedTool>>,
    /// Of a web search.
    #[serde(deserialize_with = "lenient")]
    pub(super) action: Option<WebSearchAction>,
    /// Of a file search.
    #[serde(deserialize_with = "lenient")]
    pub(super) queries: Option<Vec<String>>,
    /// Of the code interpreter.
    #[serde(deserialize_with = "lenient")]
    pub(super) code: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) outputs: Option<Vec<InterpreterOutput>>,
    /// Of image generation.
    #[serde(deserialize_with = "lenient")]
    pub(super) revised_prompt: Option<String>,
}

/// A part of a message or of reasoning.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(deserialize_with = "lenient")]
    pub(super) text: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) refusal: Option<String>,
}

/// A tool that an MCP server lists.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListedTool {
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
}

/// What the code interpreter printed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InterpreterOutput {
    #[serde(deserialize_with = "lenient")]
    pub(super) logs: Option<String>,
}

/// What a web search did.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebSearchAction {
    #[serde(deserialize_with = "lenient")]
    pub(super) query: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) queries: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) url: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) pattern: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) sources: Option<Vec<WebSearchSource>>,
}

/// Where a web search found something.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebSearchSource {
    #[serde(deserialize_with = "lenient")]
    pub(super) url: Option<String>,
}

/// What went wrong, in an error's body, an error frame, or a failed response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    /// Text at OpenAI, a number elsewhere.
    #[serde(deserialize_with = "text")]
    pub(super) code: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<String>,
}

/// Text as it is; anything else as its JSON.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(text_or_json(raw))
}

/// Text as it is, nothing for null, anything else as its JSON.
pub(super) fn text_or_json(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| Some(raw.get().to_owned()))
}
