//! The JSON of a chunk: every field may be missing, or have another type.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::protocol::json::{JsonObject, lenient, lenient_structs};

/// One frame of the stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    /// The type, which may be `error`.
    #[serde(deserialize_with = "lenient")]
    pub(super) object: Option<String>,
    #[serde(deserialize_with = "list")]
    pub(super) choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    /// Where older Groq responses have the usage.
    #[serde(deserialize_with = "lenient")]
    pub(super) x_groq: Option<GroqExtension>,
    pub(super) error: Value,
}

/// One of the completions; only one is ever requested.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    #[serde(deserialize_with = "lenient")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) delta: Option<Delta>,
    /// The complete message, from servers that do not stream.
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<Delta>,
    #[serde(deserialize_with = "lenient")]
    pub(super) finish_reason: Option<String>,
    /// Where Moonshot has the usage.
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    /// Where OpenRouter has the error of the vendor behind it.
    pub(super) error: Value,
}

/// The next part of the message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Delta {
    /// Text, or a list of parts.
    pub(super) content: Value,
    #[serde(deserialize_with = "lenient")]
    pub(super) refusal: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) reasoning_content: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) reasoning: Option<String>,
    #[serde(deserialize_with = "list")]
    pub(super) reasoning_details: Vec<JsonObject>,
    #[serde(deserialize_with = "list")]
    pub(super) tool_calls: Vec<JsonObject>,
    #[serde(deserialize_with = "lenient")]
    pub(super) function_call: Option<Function>,
    /// Always `assistant`.
    #[serde(rename = "role")]
    pub(super) _role: IgnoredAny,
    #[serde(flatten)]
    pub(super) rest: JsonObject,
}

/// The next part of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    pub(super) name: Value,
    pub(super) arguments: Value,
}

/// Groq's extension of a chunk.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GroqExtension {
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    pub(super) error: Value,
}

lenient_structs! {
    /// The number of tokens so far.
    struct Usage {
        prompt_tokens: Count,
        completion_tokens: Count,
        total_tokens: Count,
        /// DeepSeek's name for cached tokens.
        prompt_cache_hit_tokens: Count,
        prompt_tokens_details: PromptTokensDetails,
        completion_tokens_details: CompletionTokensDetails,
    }

    /// A breakdown of the input tokens.
    struct PromptTokensDetails {
        cached_tokens: Count,
        cache_write_tokens: Count,
    }

    /// A breakdown of the output tokens.
    struct CompletionTokensDetails {
        reasoning_tokens: Count,
    }
}

/// A number, which some servers write with a fraction; a negative one is 0.
#[derive(Debug, Default)]
pub(super) struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        // The cast saturates.
        let rounded = value.as_f64().map(|number| number as u64);
        Ok(Self(value.as_u64().or(rounded).unwrap_or_default()))
    }
}

impl From<Usage> for toolwright_chat::Usage {
    fn from(wire: Usage) -> Self {
        let (input, output) = (wire.prompt_tokens.0, wire.completion_tokens.0);
        let reasoning = wire.completion_tokens_details.reasoning_tokens.0;
        // xAI does not include reasoning in the completion tokens, which only the total shows.
        let missing = wire.total_tokens.0.checked_sub(input.saturating_add(output));
        let uncounted = if missing == Some(reasoning) { reasoning } else { 0 };
        let mut usage = Self::new(input, output.saturating_add(uncounted));
        let details = wire.prompt_tokens_details;
        usage.cached = details.cached_tokens.0.max(wire.prompt_cache_hit_tokens.0);
        usage.cache_written = details.cache_write_tokens.0;
        usage.reasoning = reasoning;
        usage
    }
}

/// Deserializes the elements that have the expected type; a single value counts as a list of one.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    if raw.get() == "null" {
        return Ok(Vec::new());
    }
    let elements = serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw]);
    let parsed = elements.into_iter().map(|raw: &RawValue| serde_json::from_str(raw.get()));
    Ok(parsed.filter_map(Result::ok).collect())
}
