//! The deviations of the vendors that implement this protocol.

use toolwright_core::schema::Dialect;

use crate::protocol::call_assembler::fnv1a_hash;

/// One vendor's deviations from the protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    /// The dialect of the vendor's schemas.
    pub(crate) dialect: Dialect,
    /// The field for the maximum number of output tokens.
    pub(crate) max_tokens_field: &'static str,
    /// The role of the system message.
    pub(crate) system_role: &'static str,
    /// Which call ids are accepted in the history.
    pub(crate) call_id_format: CallIdFormat,
    /// Whether usage has to be requested; other vendors send it anyway, and some reject the field.
    pub(crate) requests_stream_usage: bool,
    /// The fields of a response, besides text and calls, that are replayed.
    pub(crate) replayed_fields: &'static [&'static str],
    /// The field that is replayed with messages that have calls, and only with them, even if it is empty.
    pub(crate) field_required_with_calls: Option<&'static str>,
    /// Whether the arguments of earlier calls must be a JSON object; otherwise the request fails.
    pub(crate) arguments_must_be_object: bool,
    /// Whether `tool_choice` can force a call.
    pub(crate) supports_forced_calls: bool,
    /// Whether the vendor has custom tools; which models call them is decided by their names.
    pub(crate) has_custom_tools: bool,
    /// How a response format is requested.
    pub(crate) response_format: ResponseFormatSupport,
    /// Where the images of a tool result are sent.
    pub(crate) result_images: ResultImages,
    /// Whether a message can contain audio.
    pub(crate) accepts_audio: bool,
    /// Whether a message can contain files.
    pub(crate) accepts_files: bool,
}

/// Which call ids a vendor accepts in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIdFormat {
    /// Any of at most 40 bytes.
    UpTo40Bytes,
    /// Exactly nine letters and digits.
    NineAlphanumerics,
}

/// How a response format is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseFormatSupport {
    /// With its JSON schema.
    JsonSchema,
    /// As any JSON object; the schema is part of the system message.
    JsonObject,
}

/// Where the images of a tool result are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultImages {
    /// In the result.
    InResult,
    /// In a user message after all results: a result is text.
    InUserMessage,
    /// Nowhere; the result describes them.
    DescribedAsText,
}

/// OpenAI rejects longer ids.
const MAX_ID_BYTES: usize = 40;

impl Quirks {
    /// What servers that imitate the protocol support: vLLM, llama.cpp, LM Studio, Ollama.
    pub(crate) const COMPATIBLE: Self = Self {
        dialect: Dialect::OPENAI,
        max_tokens_field: "max_tokens",
        system_role: "system",
        call_id_format: CallIdFormat::UpTo40Bytes,
        requests_stream_usage: true,
        replayed_fields: &[],
        field_required_with_calls: None,
        arguments_must_be_object: true,
        supports_forced_calls: true,
        has_custom_tools: false,
        response_format: ResponseFormatSupport::JsonSchema,
        result_images: ResultImages::DescribedAsText,
        accepts_audio: false,
        accepts_files: false,
    };

    /// OpenAI itself, and Azure.
    pub(crate) const OPENAI: Self = Self {
        max_tokens_field: "max_completion_tokens",
        system_role: "developer",
        replayed_fields: &["refusal"],
        arguments_must_be_object: false,
        has_custom_tools: true,
        result_images: ResultImages::InUserMessage,
        accepts_audio: true,
        accepts_files: true,
        ..Self::COMPATIBLE
    };

    /// Groq.
    pub(crate) const GROQ: Self = Self {
        dialect: Dialect::GROQ,
        max_tokens_field: "max_completion_tokens",
        result_images: ResultImages::InUserMessage,
        ..Self::COMPATIBLE
    };

    /// Mistral, whose reasoning is part of the content.
    pub(crate) const MISTRAL: Self = Self {
        dialect: Dialect::MISTRAL,
        call_id_format: CallIdFormat::NineAlphanumerics,
        requests_stream_usage: false,
        replayed_fields: &["content"],
        result_images: ResultImages::InResult,
        ..Self::COMPATIBLE
    };

    /// DeepSeek, which requires the reasoning before its calls.
    pub(crate) const DEEPSEEK: Self = Self {
        dialect: Dialect::DEEPSEEK,
        field_required_with_calls: Some("reasoning_content"),
        supports_forced_calls: false,
        response_format: ResponseFormatSupport::JsonObject,
        ..Self::COMPATIBLE
    };

    /// xAI.
    pub(crate) const XAI: Self = Self { dialect: Dialect::XAI, ..Self::GROQ };

    /// Together.
    pub(crate) const TOGETHER: Self = Self { dialect: Dialect::PORTABLE, ..Self::COMPATIBLE };

    /// OpenRouter, which forwards `reasoning_details` to the vendor behind it.
    pub(crate) const OPENROUTER: Self = Self {
        dialect: Dialect::PORTABLE,
        replayed_fields: &["reasoning_details"],
        result_images: ResultImages::InUserMessage,
        accepts_audio: true,
        accepts_files: true,
        ..Self::COMPATIBLE
    };
}

impl CallIdFormat {
    /// Returns the id to send for a call and its result; deterministic, so that both are the same.
    pub(crate) fn conform(self, id: &str) -> String {
        let is_valid = match self {
            Self::UpTo40Bytes => !id.is_empty() && id.len() <= MAX_ID_BYTES,
            Self::NineAlphanumerics => {
                id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
        };
        match self {
            _ if is_valid => id.to_owned(),
            Self::UpTo40Bytes => format!("call_{}", base36(fnv1a_hash(id), 10)),
            Self::NineAlphanumerics => base36(fnv1a_hash(id), 9),
        }
    }
}

/// The last `count` digits of a number in base 36, in reverse.
fn base36(mut number: u64, count: usize) -> String {
    let digits = (0..count).map(|_| {
        let digit = (number % 36) as u32;
        number /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    });
    digits.collect()
}
