//! In what the vendors of this protocol differ: rows of a table.

use crate::protocol::call_assembler::fnv1a_hash;

/// What one vendor wants its own way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    /// The field that bounds the tokens of an answer.
    pub(crate) max_tokens_field: &'static str,
    /// The role of what the model should keep to.
    pub(crate) system_role: &'static str,
    /// Which ids of calls are taken back.
    pub(crate) call_id_format: CallIdFormat,
    /// Whether usage has to be asked for; others send it anyway, and some refuse the question.
    pub(crate) requests_stream_usage: bool,
    /// The fields of an answer, beside text and calls, that go back with it.
    pub(crate) replayed_fields: &'static [&'static str],
    /// The field that goes back with messages that have calls, and only with them, even if there is nothing in it.
    pub(crate) field_required_with_calls: Option<&'static str>,
    /// Whether calls of the past must have a JSON object for arguments, lest their whole history be refused.
    pub(crate) arguments_must_be_object: bool,
    /// Whether a call can be forced.
    pub(crate) supports_forced_calls: bool,
    /// How the form of an answer is asked for.
    pub(crate) response_format: ResponseFormatSupport,
    /// Where the images of a tool's result go.
    pub(crate) result_images: ResultImages,
    /// Whether a message can carry sounds.
    pub(crate) accepts_audio: bool,
    /// Whether a message can carry documents.
    pub(crate) accepts_files: bool,
}

/// Which ids of calls a vendor takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIdFormat {
    /// Any of at most 40 bytes.
    UpTo40Bytes,
    /// Exactly nine letters and digits.
    NineAlphanumerics,
}

/// How the form of an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseFormatSupport {
    /// With its schema.
    JsonSchema,
    /// As any JSON object; the schema is told with the system prompt.
    JsonObject,
}

/// Where the images of a tool's result go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultImages {
    /// Into the result.
    InResult,
    /// Into a user message after all results: a result is text.
    InUserMessage,
    /// Nowhere; the result says that there are some.
    DescribedAsText,
}

/// Longer ids are refused by OpenAI.
const MAX_ID_BYTES: usize = 40;

impl Quirks {
    /// What servers that merely imitate the protocol understand: vLLM, llama.cpp, LM Studio, Ollama, Together.
    pub(crate) const COMPATIBLE: Self = Self {
        max_tokens_field: "max_tokens",
        system_role: "system",
        call_id_format: CallIdFormat::UpTo40Bytes,
        requests_stream_usage: true,
        replayed_fields: &[],
        field_required_with_calls: None,
        arguments_must_be_object: true,
        supports_forced_calls: true,
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
        result_images: ResultImages::InUserMessage,
        accepts_audio: true,
        accepts_files: true,
        ..Self::COMPATIBLE
    };

    /// Groq.
    pub(crate) const GROQ: Self = Self {
        max_tokens_field: "max_completion_tokens",
        result_images: ResultImages::InUserMessage,
        ..Self::COMPATIBLE
    };

    /// Mistral, which thinks inside its content.
    pub(crate) const MISTRAL: Self = Self {
        call_id_format: CallIdFormat::NineAlphanumerics,
        requests_stream_usage: false,
        replayed_fields: &["content"],
        result_images: ResultImages::InResult,
        ..Self::COMPATIBLE
    };

    /// DeepSeek, which wants to hear what it thought before its calls.
    pub(crate) const DEEPSEEK: Self = Self {
        field_required_with_calls: Some("reasoning_content"),
        supports_forced_calls: false,
        response_format: ResponseFormatSupport::JsonObject,
        ..Self::COMPATIBLE
    };

    /// xAI.
    pub(crate) const XAI: Self = Self {
        max_tokens_field: "max_completion_tokens",
        result_images: ResultImages::InUserMessage,
        ..Self::COMPATIBLE
    };

    /// OpenRouter, which passes on what the model behind it needs.
    pub(crate) const OPENROUTER: Self = Self {
        replayed_fields: &["reasoning_details"],
        result_images: ResultImages::InUserMessage,
        accepts_audio: true,
        accepts_files: true,
        ..Self::COMPATIBLE
    };
}

impl CallIdFormat {
    /// The id under which a call and its result are sent: the same for the same id, always.
    pub(crate) fn conform(self, id: &str) -> String {
        let fits = match self {
            Self::UpTo40Bytes => !id.is_empty() && id.len() <= MAX_ID_BYTES,
            Self::NineAlphanumerics => {
                id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
            }
        };
        match self {
            _ if fits => id.to_owned(),
            Self::UpTo40Bytes => format!("call_{}", base36(fnv1a_hash(id), 10)),
            Self::NineAlphanumerics => base36(fnv1a_hash(id), 9),
        }
    }
}

/// Writes a number with letters and digits.
fn base36(mut number: u64, count: usize) -> String {
    let letters = (0..count).map(|_| {
        let digit = (number % 36) as u32;
        number /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    });
    letters.collect()
}
