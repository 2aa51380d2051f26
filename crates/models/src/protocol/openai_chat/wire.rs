//! What a chunk looks like: every field may be missing, or be something else than it should.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::protocol::json::lenient;

/// One frame of the stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    /// What it is, which may be an error.
    #[serde(deserialize_with = "lenient")]
    pub(super) object: Option<String>,
    #[serde(deserialize_with = "list")]
    pub(super) choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    /// Where Groq once put the usage.
    #[serde(deserialize_with = "lenient")]
    pub(super) x_groq: Option<GroqExtension>,
    pub(super) error: Value,
}

/// One of the answers; only one is ever asked for.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Choice {
    #[serde(deserialize_with = "lenient")]
    pub(super) index: Option<i64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) delta: Option<Delta>,
    /// The whole message, from servers that do not stream.
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<Delta>,
    #[serde(deserialize_with = "lenient")]
    pub(super) finish_reason: Option<String>,
    /// Where Moonshot puts the usage.
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    /// Where OpenRouter puts what went wrong at the vendor behind it.
    pub(super) error: Value,
}

/// More of the message.
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
    pub(super) reasoning_details: Vec<Map<String, Value>>,
    #[serde(deserialize_with = "list")]
    pub(super) tool_calls: Vec<Map<String, Value>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) function_call: Option<Function>,
    /// Always the assistant's.
    #[serde(rename = "role")]
    pub(super) _role: IgnoredAny,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

/// More of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Function {
    pub(super) name: Value,
    pub(super) arguments: Value,
}

/// Groq's own part of a chunk.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct GroqExtension {
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
    pub(super) error: Value,
}

/// Tokens, as they are counted so far.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    #[serde(deserialize_with = "number")]
    pub(super) prompt_tokens: u64,
    #[serde(deserialize_with = "number")]
    pub(super) completion_tokens: u64,
    #[serde(deserialize_with = "number")]
    pub(super) total_tokens: u64,
    /// DeepSeek's word for tokens from its cache.
    #[serde(deserialize_with = "number")]
    pub(super) prompt_cache_hit_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    pub(super) prompt_tokens_details: Option<PromptTokensDetails>,
    #[serde(deserialize_with = "lenient")]
    pub(super) completion_tokens_details: Option<CompletionTokensDetails>,
}

/// What the tokens of the input were.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PromptTokensDetails {
    #[serde(deserialize_with = "number")]
    pub(super) cached_tokens: u64,
    #[serde(deserialize_with = "number")]
    pub(super) cache_write_tokens: u64,
}

/// What the tokens of the output were.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CompletionTokensDetails {
    #[serde(deserialize_with = "number")]
    pub(super) reasoning_tokens: u64,
}

impl From<Usage> for toolwright_chat::Usage {
    fn from(wire: Usage) -> Self {
        let input = wire.prompt_tokens_details.unwrap_or_default();
        let reasoning = wire
            .completion_tokens_details
            .unwrap_or_default()
            .reasoning_tokens;
        let said = wire.prompt_tokens.saturating_add(wire.completion_tokens);
        // xAI counts reasoning beside the completion, which only the total shows.
        let beside = if wire.total_tokens.checked_sub(said) == Some(reasoning) {
            reasoning
        } else {
            0
        };
        let output = wire.completion_tokens.saturating_add(beside);
        let mut usage = Self::new(wire.prompt_tokens, output);
        usage.cached = input.cached_tokens.max(wire.prompt_cache_hit_tokens);
        usage.cache_written = input.cache_write_tokens;
        usage.reasoning = reasoning;
        usage
    }
}

/// Reads those elements that are as expected; one that stands alone is a list too.
fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let raw = <&RawValue>::deserialize(deserializer)?;
    if raw.get() == "null" {
        return Ok(Vec::new());
    }
    let elements = serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw]);
    let read = elements
        .into_iter()
        .map(|raw: &RawValue| serde_json::from_str(raw.get()));
    Ok(read.filter_map(Result::ok).collect())
}

/// Reads a count, which is 0 if it is anything else.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    // The cast saturates; a negative count is none.
    let rounded = value.as_f64().map(|number| number as u64);
    Ok(value.as_u64().or(rounded).unwrap_or_default())
}
