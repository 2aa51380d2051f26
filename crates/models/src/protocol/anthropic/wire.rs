//! The JSON of frames: any field may be missing, unknown fields are ignored.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::MapAccess;
use serde_json::Value;

use crate::protocol::json::{
    JsonObject, Lenient, TextOrValue, lenient, lenient_structs, next_lenient, next_name,
    replace_count,
};

lenient_structs! {
    /// Any frame; its type determines its fields.
    struct Frame<'a> {
        #[serde(rename = "type", borrow)] kind: Cow<'a, str>,
        /// The index of the content block.
        index: Option<u64>,
        message: Option<Box<MessageStart>>,
        content_block: JsonObject,
        #[serde(borrow)] delta: Delta<'a>,
        usage: Option<Box<Usage>>,
        error: Option<Box<ErrorBody>>,
    }

    /// The message as it starts.
    struct MessageStart {
        usage: Usage,
        container: JsonObject,
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

/// A delta of a block or of the message.
#[derive(Debug, Default)]
pub(super) struct Delta<'a> {
    pub(super) kind: Cow<'a, str>,
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) thinking: Option<Cow<'a, str>>,
    pub(super) partial_json: Option<Cow<'a, str>>,
    /// All other fields, also those above if they are no text.
    pub(super) rest: JsonObject,
}

impl<'de: 'a, 'a> Lenient<'de> for Delta<'a> {
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let mut delta = Self::default();
        while let Some(name) = next_name(&mut object)? {
            let text = match &*name {
                "type" => {
                    delta.kind = next_lenient(&mut object)?;
                    continue;
                }
                "text" => &mut delta.text,
                "thinking" => &mut delta.thinking,
                "partial_json" => &mut delta.partial_json,
                _ => {
                    delta.rest.insert(name.into_owned(), object.next_value()?);
                    continue;
                }
            };
            match next_lenient(&mut object)? {
                TextOrValue::Text(value) => *text = Some(value),
                TextOrValue::Value(value) => {
                    delta.rest.insert(name.into_owned(), value);
                }
            }
        }
        Ok(Some(delta))
    }
}

impl Delta<'_> {
    /// All fields but the type.
    pub(super) fn into_fields(self) -> JsonObject {
        let texts =
            [("text", self.text), ("thinking", self.thinking), ("partial_json", self.partial_json)];
        let texts =
            texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
        texts.chain(self.rest).collect()
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
    pub(super) container: JsonObject,
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
