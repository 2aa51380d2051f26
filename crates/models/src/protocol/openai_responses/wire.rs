//! The JSON of frames and items, as far as it is used.
//!
//! Every field may be missing, and one of another type counts as missing: servers that imitate this API omit some, and the API
//! itself grows.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::protocol::json::lenient;

/// One frame of any type.
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

/// The response, in the last frame.
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

/// Why a response is incomplete.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct IncompleteDetails {
    #[serde(deserialize_with = "lenient")]
    pub(super) reason: Option<String>,
}

/// The number of tokens.
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
        let input = usage.input_tokens_details.unwrap_or_default();
        let output = usage.output_tokens_details.unwrap_or_default();
        let mut tokens = Self::new(
            usage.input_tokens.unwrap_or_default(),
            usage.output_tokens.unwrap_or_default(),
        );
        tokens.cached = input.cached_tokens.unwrap_or_default();
        tokens.cache_written = input.cache_write_tokens.unwrap_or_default();
        tokens.reasoning = output.reasoning_tokens.unwrap_or_default();
        tokens
    }
}

/// A breakdown of the input tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InputTokensDetails {
    #[serde(deserialize_with = "lenient")]
    pub(super) cached_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cache_write_tokens: Option<u64>,
}

/// A breakdown of the output tokens.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OutputTokensDetails {
    #[serde(deserialize_with = "lenient")]
    pub(super) reasoning_tokens: Option<u64>,
}

/// One output item of any type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Item {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    /// In messages and reasoning.
    #[serde(deserialize_with = "lenient")]
    pub(super) content: Option<Vec<Part>>,
    /// In reasoning.
    #[serde(deserialize_with = "lenient")]
    pub(super) summary: Option<Vec<Part>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) encrypted_content: Option<String>,
    /// In function calls.
    #[serde(deserialize_with = "lenient")]
    pub(super) call_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) arguments: Option<String>,
    /// In MCP calls.
    #[serde(deserialize_with = "lenient")]
    pub(super) server_label: Option<String>,
    #[serde(deserialize_with = "text")]
    pub(super) output: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<Box<RawValue>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tools: Option<Vec<ListedTool>>,
    /// In web searches.
    #[serde(deserialize_with = "lenient")]
    pub(super) action: Option<WebSearchAction>,
    /// In file searches.
    #[serde(deserialize_with = "lenient")]
    pub(super) queries: Option<Vec<String>>,
    /// In calls of the code interpreter.
    #[serde(deserialize_with = "lenient")]
    pub(super) code: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) outputs: Option<Vec<InterpreterOutput>>,
    /// In calls of image generation.
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

/// The output of the code interpreter.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct InterpreterOutput {
    #[serde(deserialize_with = "lenient")]
    pub(super) logs: Option<String>,
}

/// The action of a web search.
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

/// A source of a web search.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WebSearchSource {
    #[serde(deserialize_with = "lenient")]
    pub(super) url: Option<String>,
}

/// The error in an error response, an error frame, or a failed response.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    /// Text from OpenAI, a number from other vendors.
    #[serde(deserialize_with = "text")]
    pub(super) code: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<String>,
}

/// Deserializes text; any other value as its JSON.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(text_or_json(raw))
}

/// Text unchanged, `None` for null, any other value as its JSON.
pub(super) fn text_or_json(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| Some(raw.get().to_owned()))
}
