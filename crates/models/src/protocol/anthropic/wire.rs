//! The JSON of frames: any field may be missing, unknown fields are ignored.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::protocol::json;

/// An object whose fields depend on its type.
pub(super) type JsonFields = Map<String, Value>;

/// Any frame; its type determines its fields.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Frame<'a> {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: String,
    /// The index of the content block.
    #[serde(deserialize_with = "lenient")]
    pub(super) index: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: MessageStart,
    #[serde(deserialize_with = "lenient")]
    pub(super) content_block: JsonFields,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Usage,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<ErrorBody>,
}

/// A delta of a block or of the message: the most frequent fields, and all of them as raw JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) text: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) thinking: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) partial_json: String,
    #[serde(skip)]
    raw: Option<&'a RawValue>,
}

impl<'a> Delta<'a> {
    pub(super) fn parse(raw: Option<&'a RawValue>) -> Self {
        let parsed = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Self { raw, ..parsed.unwrap_or_default() }
    }

    /// All fields, also unknown ones.
    pub(super) fn all_fields(&self) -> JsonFields {
        let parsed = self.raw.map(|raw| serde_json::from_str(raw.get()));
        parsed.and_then(Result::ok).unwrap_or_default()
    }
}

/// A message that is not streamed; `content` is required, to distinguish it from a frame.
#[derive(Debug, Deserialize)]
pub(super) struct CompleteMessage {
    pub(super) content: Vec<JsonFields>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) stop_details: JsonFields,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) usage: Usage,
}

/// The message as it starts, of which only the usage is used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageStart {
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Usage,
}

/// The number of tokens so far: each count replaces the previous one.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(deserialize_with = "lenient")]
    input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    cache_read_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    output_tokens: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    output_tokens_details: OutputTokensDetails,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct OutputTokensDetails {
    #[serde(deserialize_with = "lenient")]
    thinking_tokens: Option<u64>,
}

impl Usage {
    /// Replaces the counts that a later frame has.
    pub(super) fn update(&mut self, later: Self) {
        let newer = |count: &mut Option<u64>, later: Option<u64>| *count = later.or(*count);
        newer(&mut self.input_tokens, later.input_tokens);
        newer(&mut self.cache_read_input_tokens, later.cache_read_input_tokens);
        newer(&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens);
        newer(&mut self.output_tokens, later.output_tokens);
        newer(
            &mut self.output_tokens_details.thinking_tokens,
            later.output_tokens_details.thinking_tokens,
        );
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

/// The error in a frame or in an error response.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: String,
}

/// The text of a field; empty if it is missing.
pub(super) fn text_field<'a>(fields: &'a JsonFields, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Deserializes a field; the default if its value has another type.
fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    json::lenient(deserializer).map(Option::unwrap_or_default)
}
