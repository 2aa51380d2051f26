//! What the frames of the stream look like: everything may be missing, and nothing unknown is an error.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::protocol::json;

/// An object whose fields depend on its type.
pub(super) type JsonFields = Map<String, Value>;

/// Any frame; the type says which fields to expect.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Frame<'a> {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: String,
    /// Which content block it is about.
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

/// More of a block, or of the message: what most of them bring, and the rest as it came.
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
        let read = raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        Self {
            raw,
            ..read.unwrap_or_default()
        }
    }

    /// All of its fields.
    pub(super) fn all_fields(&self) -> JsonFields {
        let read = self.raw.map(|raw| serde_json::from_str(raw.get()));
        read.and_then(Result::ok).unwrap_or_default()
    }
}

/// A message that is not streamed; without content it is none.
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

/// The message as it starts, of which only the count of tokens is news.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageStart {
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Usage,
}

/// Tokens so far: each count replaces the one before.
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
    /// Takes over the counts that a later frame has.
    pub(super) fn update(&mut self, later: Self) {
        let newer = |count: &mut Option<u64>, later: Option<u64>| *count = later.or(*count);
        newer(&mut self.input_tokens, later.input_tokens);
        newer(
            &mut self.cache_read_input_tokens,
            later.cache_read_input_tokens,
        );
        newer(
            &mut self.cache_creation_input_tokens,
            later.cache_creation_input_tokens,
        );
        newer(&mut self.output_tokens, later.output_tokens);
        newer(
            &mut self.output_tokens_details.thinking_tokens,
            later.output_tokens_details.thinking_tokens,
        );
    }

    /// The same in our words; here, unlike there, the input includes what the cache has to do with.
    pub(super) fn to_usage(&self) -> toolwright_chat::Usage {
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

/// What went wrong, in a frame or in the body of a refused request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(rename = "type", deserialize_with = "lenient")]
    pub(super) kind: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: String,
}

/// The text of a field, empty if there is none.
pub(super) fn text_field<'a>(fields: &'a JsonFields, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A field of another type than expected counts as missing.
fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    json::lenient(deserializer).map(Option::unwrap_or_default)
}
