//! Streamed answers of every protocol: five hundred text deltas and a call.

pub mod baseline;
pub mod recorded;

/// The protocols, each by a vendor that uses it.
pub const VENDORS: [&str; 5] = ["openai", "openai-chat", "anthropic", "gemini", "ollama"];

/// The tool that is called.
pub const TOOL_NAME: &str = "weather";
/// The arguments of the call.
pub const ARGUMENTS: &str = r#"{"city":"San José","days":5,"parts":["temperature","wind","humidity"],"note":"say \"sí\" if dry"}"#;
/// The id of the call.
pub const CALL_ID: &str = "call_7Qy3WcPz0aTn5Vd8";

const SENTENCE: &str = "The weather in \"San José\" — as far as anyone can tell — stays warm, dry and \
    windless until Friday;\nafter that, clouds come in from the west.\n";
const TEXT_DELTAS: usize = 500;

/// The content of an answer.
#[derive(Debug, Default)]
pub struct StreamedAnswer {
    /// Its text.
    pub text: String,
    /// The tool it calls; empty if it calls none.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: String,
}

impl StreamedAnswer {
    /// All fields in one text, for comparison.
    pub fn to_text(&self) -> String {
        format!("{}{}{}", self.text, self.tool, self.arguments)
    }
}

/// The text, split like a model's tokens.
pub fn text_deltas() -> impl Iterator<Item = &'static str> {
    let words = SENTENCE.split_inclusive(' ');
    // A real token starts with the space instead, which makes no difference here.
    words.cycle().take(TEXT_DELTAS)
}

/// The arguments, split like a model's tokens.
pub fn argument_deltas() -> impl Iterator<Item = &'static str> {
    ARGUMENTS.split_inclusive(['"', ',', ' '])
}
