//! The JSON of frames and items, as far as it is used.
//!
//! Servers that imitate this API omit fields, and the API itself grows.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::protocol::json::{Lenient, lenient_structs};

lenient_structs! {
    /// One frame of any type.
    struct Frame<'a> {
        #[serde(rename = "type", borrow)] kind: Option<Cow<'a, str>>,
        output_index: Option<u64>,
        summary_index: Option<u64>,
        #[serde(borrow)] item_id: Cow<'a, str>,
        #[serde(borrow)] delta: Cow<'a, str>,
        arguments: Option<JsonText>,
        input: Option<String>,
        name: String,
        #[serde(borrow)] item: Option<&'a RawValue>,
        response: Response,
        #[serde(borrow)] error: Option<&'a RawValue>,
    }

    /// The response, in the last frame.
    struct Response {
        status: Option<String>,
        output: Option<Vec<Box<RawValue>>>,
        usage: Usage,
        incomplete_details: IncompleteDetails,
        error: Option<Box<RawValue>>,
    }

    /// Why a response is incomplete.
    struct IncompleteDetails {
        reason: Option<String>,
    }

    /// The number of tokens.
    struct Usage {
        input_tokens: u64,
        output_tokens: u64,
        input_tokens_details: InputTokensDetails,
        output_tokens_details: OutputTokensDetails,
    }

    /// A breakdown of the input tokens.
    struct InputTokensDetails {
        cached_tokens: u64,
        cache_write_tokens: u64,
    }

    /// A breakdown of the output tokens.
    struct OutputTokensDetails {
        reasoning_tokens: u64,
    }

    /// One output item of any type.
    struct Item {
        #[serde(rename = "type")] kind: String,
        id: String,
        status: String,
        /// In messages and reasoning.
        content: Option<Vec<Part>>,
        /// In reasoning.
        summary: Vec<Part>,
        encrypted_content: String,
        /// In function calls.
        call_id: String,
        name: String,
        arguments: JsonText,
        /// In calls of custom tools.
        input: String,
        /// In searches for tools.
        execution: String,
        /// In MCP calls.
        server_label: String,
        output: JsonText,
        error: Option<JsonText>,
        tools: Vec<ListedTool>,
        /// In web searches.
        action: WebSearchAction,
        /// In file searches.
        queries: Vec<String>,
        /// In calls of the code interpreter.
        code: String,
        outputs: Vec<InterpreterOutput>,
        /// In calls of image generation.
        revised_prompt: String,
    }

    /// A part of a message or of reasoning.
    struct Part {
        text: Option<String>,
        refusal: Option<String>,
    }

    /// A tool that an MCP server lists.
    struct ListedTool {
        name: Option<String>,
    }

    /// The output of the code interpreter.
    struct InterpreterOutput {
        logs: Option<String>,
    }

    /// The action of a web search.
    struct WebSearchAction {
        query: String,
        queries: Option<Vec<String>>,
        url: Option<String>,
        pattern: Option<String>,
        sources: Vec<WebSearchSource>,
    }

    /// A source of a web search.
    struct WebSearchSource {
        url: Option<String>,
    }

    /// The error in an error response, an error frame, or a failed response.
    struct ErrorBody {
        #[serde(rename = "type")] kind: Option<String>,
        /// Text from OpenAI, a number from other vendors.
        code: Option<JsonText>,
        message: Option<String>,
    }
}

impl From<Usage> for toolwright_chat::Usage {
    fn from(usage: Usage) -> Self {
        let mut tokens = Self::new(usage.input_tokens, usage.output_tokens);
        tokens.cached = usage.input_tokens_details.cached_tokens;
        tokens.cache_written = usage.input_tokens_details.cache_write_tokens;
        tokens.reasoning = usage.output_tokens_details.reasoning_tokens;
        tokens
    }
}

/// Text, or any other value but null as its JSON.
#[derive(Debug, Default)]
pub(super) struct JsonText(pub(super) String);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        let text = serde_json::from_str::<Option<String>>(json);
        Ok(Self(text.map_or_else(|_| json.to_owned(), Option::unwrap_or_default)))
    }
}

impl<'de> Lenient<'de> for JsonText {
    fn read<D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Option::deserialize(deserializer)
    }
}
