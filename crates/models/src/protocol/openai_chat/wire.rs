//! The JSON of a chunk: every field may be missing, or have another type.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess};
use serde_json::Value;

use crate::protocol::json::{
    JsonObject, Lenient, OneOrMany, lenient_structs, next_lenient, next_name,
};

lenient_structs! {
    /// One frame of the stream.
    struct Chunk<'a> {
        #[serde(borrow)] id: Option<Cow<'a, str>>,
        /// The type, which may be `error`.
        #[serde(borrow)] object: Option<Cow<'a, str>>,
        choices: OneOrMany<Choice>,
        usage: Option<Box<Usage>>,
        /// Where older Groq responses have the usage.
        x_groq: Option<Box<GroqExtension>>,
        error: Value,
    }

    /// One of the completions; only one is ever requested.
    struct Choice {
        index: Option<i64>,
        delta: Option<Box<Delta>>,
        /// The complete message, from servers that do not stream.
        message: Option<Box<Delta>>,
        finish_reason: Option<String>,
        /// Where Moonshot has the usage.
        usage: Option<Box<Usage>>,
        /// Where OpenRouter has the error of the vendor behind it.
        error: Value,
    }

    /// The next part of a call.
    struct Function {
        name: Value,
        arguments: Value,
    }

    /// Groq's extension of a chunk.
    struct GroqExtension {
        usage: Option<Box<Usage>>,
        error: Value,
    }
}

/// The next part of the message.
#[derive(Debug, Default)]
pub(super) struct Delta {
    /// Text, or a list of parts.
    pub(super) content: Value,
    pub(super) refusal: Option<String>,
    pub(super) reasoning_content: Option<String>,
    pub(super) reasoning: Option<String>,
    pub(super) reasoning_details: OneOrMany<JsonObject>,
    pub(super) tool_calls: OneOrMany<JsonObject>,
    pub(super) function_call: Option<Box<Function>>,
    /// Unknown fields.
    pub(super) rest: JsonObject,
}

impl<'de> Lenient<'de> for Delta {
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let mut delta = Self::default();
        while let Some(name) = next_name(&mut object)? {
            match &*name {
                "content" => delta.content = next_lenient(&mut object)?,
                "refusal" => delta.refusal = next_lenient(&mut object)?,
                "reasoning_content" => delta.reasoning_content = next_lenient(&mut object)?,
                "reasoning" => delta.reasoning = next_lenient(&mut object)?,
                "reasoning_details" => delta.reasoning_details = next_lenient(&mut object)?,
                "tool_calls" => delta.tool_calls = next_lenient(&mut object)?,
                "function_call" => delta.function_call = next_lenient(&mut object)?,
                // Always `assistant`.
                "role" => {
                    object.next_value::<IgnoredAny>()?;
                }
                _ => {
                    delta.rest.insert(name.into_owned(), object.next_value()?);
                }
            }
        }
        Ok(Some(delta))
    }
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

impl Lenient<'_> for Count {
    fn from_unsigned(number: u64) -> Option<Self> {
        Some(Self(number))
    }

    fn from_float(number: f64) -> Option<Self> {
        // The cast saturates.
        Some(Self(number as u64))
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
