//! The JSON of frames: any field may be missing, unknown fields are ignored.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::json::{JsonObject, lenient, lenient_structs, replace_count};

lenient_structs! {
    /// Any frame; its type determines its fields.
    struct Frame<'a> {
        #[serde(rename = "type")] kind: String,
        /// The index of the content block.
        index: Option<u64>,
        message: MessageStart,
        content_block: JsonObject,
        #[serde(borrow)] delta: Option<&'a RawValue>,
        usage: Usage,
        error: Option<ErrorBody>,
    }

    /// A delta of a block or of the message: the most frequent fields, and all of them as raw JSON.
    struct Delta<'a> {
        #[serde(rename = "type")] kind: String,
        text: String,
        thinking: String,
        partial_json: String,
        #[serde(skip)] raw: Option<&'a RawValue>,
    }

    /// The message as it starts, of which only the usage is used.
    struct MessageStart {
        usage: Usage,
    }

    /// The number of tokens so far: each count replaces the previous one.
    #[derive(Clone, Copy)]
    struct Usage {
        input_tokens: Option<u64>,
        cache_read_input_tokens: Option<u64>,
        cache_creation_input_tokens: Option<u64>,
        output_tokens: Option<u64>,
        output_tokens_details: OutputTokensDetails,
    }

    #[derive(Clone, Copy)]
    struct OutputTokensDetails {
        thinking_tokens: Option<u64>,
    }

    /// The error in a frame or in an error response.
    #[derive(Clone)]
    struct ErrorBody {
        #[serde(rename = "type")] kind: String,
        message: String,
    }
}

impl<'a> Delta<'a> {
    pub(super) fn parse(raw: Option<&'a RawValue>) -> Self {
        let parsed = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Self { raw, ..parsed.unwrap_or_default() }
    }

    /// All fields, also unknown ones.
    pub(super) fn all_fields(&self) -> JsonObject {
        let parsed = self.raw.map(|raw| serde_json::from_str(raw.get()));
        parsed.and_then(Result::ok).unwrap_or_default()
    }
}

/// A message that is not streamed; `content` is required, to distinguish it from a frame.
#[derive(Debug, Deserialize)]
pub(super) struct CompleteMessage {
    pub(super) content: Vec<JsonObject>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) stop_details: JsonObject,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) usage: Usage,
}

impl Usage {
    /// Replaces the counts that a later frame has.
    pub(super) fn update(&mut self, later: Self) {
        replace_count(&mut self.input_tokens, later.input_tokens);
        replace_count(&mut self.cache_read_input_tokens, later.cache_read_input_tokens);
        replace_count(&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens);
        replace_count(&mut self.output_tokens, later.output_tokens);
        let details = &mut self.output_tokens_details;
        replace_count(&mut details.thinking_tokens, later.output_tokens_details.thinking_tokens);
    }

    /// Converts the counts; unlike the API's, the input tokens of `Usage` include cached ones.
    pub(super) fn to_usage(self) -> toolwright_chat::Usage {
        let cached = self.cache_read_input_tokens.unwrap_or(0);
        let cache_written = self.cache_creation_input_tokens.unwrap_or(0);
        let input = self.input_tokens.unwrap_or(0);
        let input = input.saturating_add(cached).saturating_add(cache_written);
        let mut usage = toolwright_chat::Usage::new(input, self.output_tokens.unwrap_or(0));
        usage.cached = cached;
        usage.cache_written = cache_written;
        usage.reasoning = self.output_tokens_details.thinking_tokens.unwrap_or(0);
        usage
    }
}

/// The text of a field; empty if it is missing.
pub(super) fn text_field<'a>(fields: &'a JsonObject, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}
