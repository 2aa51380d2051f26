//! Answers as vendors stream them: five hundred pieces of text and a call, in the words of every protocol.

pub mod baseline;
pub mod recorded;

/// The protocols, each by a vendor that speaks it.
pub const VENDORS: [&str; 5] = ["openai", "openai-chat", "anthropic", "gemini", "ollama"];

/// The tool that is called, and with what.
pub const TOOL_NAME: &str = "weather";
/// The arguments, as a model writes them.
pub const ARGUMENTS: &str = r#"{"city":"San José","days":5,"parts":["temperature","wind","humidity"],"note":"say \"sí\" if dry"}"#;
/// The id of the call.
pub const CALL_ID: &str = "call_7Qy3WcPz0aTn5Vd8";

const SENTENCE: &str = "The weather in \"San José\" — as far as anyone can tell — stays warm, dry and \
    windless until Friday;\nafter that, clouds come in from the west.\n";
const TEXT_DELTAS: usize = 500;

/// What an answer says.
#[derive(Debug, Default)]
pub struct StreamedAnswer {
    /// Its text.
    pub text: String,
    /// The tool it calls; empty if it calls none.
    pub tool: String,
    /// With what.
    pub arguments: String,
}

impl StreamedAnswer {
    /// The same as one text, to compare.
    pub fn to_text(&self) -> String {
        format!("{}{}{}", self.text, self.tool, self.arguments)
    }
}

/// The text, as a model's tokens cut it.
pub fn text_deltas() -> impl Iterator<Item = &'static str> {
    let words = SENTENCE.split_inclusive(' ');
    // A token carries the space before it, but where it stands makes no difference here.
    words.cycle().take(TEXT_DELTAS)
}

/// The arguments, as a model's tokens cut them.
pub fn argument_deltas() -> impl Iterator<Item = &'static str> {
    ARGUMENTS.split_inclusive(['"', ',', ' '])
}
