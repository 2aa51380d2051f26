//! In what the vendors of this protocol differ: rows of a table.

use crate::assemble::fnv;

/// What one vendor wants its own way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quirks {
    /// The field that bounds the tokens of an answer.
    pub(crate) max_tokens: &'static str,
    /// The role of what the model should keep to.
    pub(crate) system: &'static str,
    /// Which ids of calls are taken back.
    pub(crate) call_ids: CallIds,
    /// Whether usage has to be asked for; others send it anyway, and some refuse the question.
    pub(crate) stream_usage: bool,
    /// The fields of an answer, beside text and calls, that go back with it.
    pub(crate) replayed: &'static [&'static str],
    /// The field that goes back with messages that have calls, and only with them, even if there is nothing in it.
    pub(crate) beside_calls: Option<&'static str>,
    /// Whether calls of the past must have a JSON object for arguments, lest their whole history be refused.
    pub(crate) tidy_arguments: bool,
    /// Whether a call can be forced.
    pub(crate) forced_calls: bool,
    /// How the form of an answer is asked for.
    pub(crate) answers: Answers,
    /// Where the images of a tool's result go.
    pub(crate) result_images: ResultImages,
    /// Whether a message can carry sounds.
    pub(crate) audio: bool,
    /// Whether a message can carry documents.
    pub(crate) files: bool,
}

/// Which ids of calls a vendor takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallIds {
    /// Any of at most 40 bytes.
    Free,
    /// Exactly nine letters and digits.
    Nine,
}

/// How the form of an answer is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    /// With its schema.
    Schema,
    /// As any JSON object; the schema is told with the system prompt.
    Object,
}

/// Where the images of a tool's result go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultImages {
    /// Into the result.
    Inside,
    /// Into a user message after all results: a result is text.
    After,
    /// Nowhere; the result says that there are some.
    Told,
}

/// Longer ids are refused by OpenAI.
const LONGEST_ID: usize = 40;

impl Quirks {
    /// What servers that merely imitate the protocol understand: vLLM, llama.cpp, LM Studio, Ollama, Together.
    pub(crate) const COMPATIBLE: Self = Self {
        max_tokens: "max_tokens",
        system: "system",
        call_ids: CallIds::Free,
        stream_usage: true,
        replayed: &[],
        beside_calls: None,
        tidy_arguments: true,
        forced_calls: true,
        answers: Answers::Schema,
        result_images: ResultImages::Told,
        audio: false,
        files: false,
    };

    /// OpenAI itself, and Azure.
    pub(crate) const OPENAI: Self = Self {
        max_tokens: "max_completion_tokens",
        system: "developer",
        replayed: &["refusal"],
        tidy_arguments: false,
        result_images: ResultImages::After,
        audio: true,
        files: true,
        ..Self::COMPATIBLE
    };

    /// Groq.
    pub(crate) const GROQ: Self = Self {
        max_tokens: "max_completion_tokens",
        result_images: ResultImages::After,
        ..Self::COMPATIBLE
    };

    /// Mistral, which thinks inside its content.
    pub(crate) const MISTRAL: Self = Self {
        call_ids: CallIds::Nine,
        stream_usage: false,
        replayed: &["content"],
        result_images: ResultImages::Inside,
        ..Self::COMPATIBLE
    };

    /// DeepSeek, which wants to hear what it thought before its calls.
    pub(crate) const DEEPSEEK: Self = Self {
        beside_calls: Some("reasoning_content"),
        forced_calls: false,
        answers: Answers::Object,
        ..Self::COMPATIBLE
    };

    /// xAI.
    pub(crate) const XAI: Self = Self {
        max_tokens: "max_completion_tokens",
        result_images: ResultImages::After,
        ..Self::COMPATIBLE
    };

    /// OpenRouter, which passes on what the model behind it needs.
    pub(crate) const OPENROUTER: Self = Self {
        replayed: &["reasoning_details"],
        result_images: ResultImages::After,
        audio: true,
        files: true,
        ..Self::COMPATIBLE
    };
}

impl CallIds {
    /// The id under which a call and its result are sent: the same for the same id, always.
    pub(crate) fn of(self, id: &str) -> String {
        let fits = match self {
            Self::Free => !id.is_empty() && id.len() <= LONGEST_ID,
            Self::Nine => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        };
        match self {
            _ if fits => id.to_owned(),
            Self::Free => format!("call_{}", letters(fnv(id), 10)),
            Self::Nine => letters(fnv(id), 9),
        }
    }
}

/// Writes a number with letters and digits.
fn letters(mut number: u64, count: usize) -> String {
    let letters = (0..count).map(|_| {
        let digit = (number % 36) as u32;
        number /= 36;
        char::from_digit(digit, 36).unwrap_or('0')
    });
    letters.collect()
}
