//! [`Shape`]: the form of a tool definition in an API.

use std::{fmt, str::FromStr};

use toolwright_schema::did_you_mean;

/// The form of a tool definition in an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// `{"type": "function", "function": {"name", "description", "parameters"}}`, or the inner object alone.
    OpenAiChat,
    /// `{"type": "function", "name", "description", "parameters"}`.
    OpenAiResponses,
    /// `{"name", "description", "input_schema"}`.
    Anthropic,
    /// `{"name", "description", "parameters" or "parametersJsonSchema"}` among `functionDeclarations`.
    Gemini,
    /// The form of Ollama; an import detects it as [`Shape::OpenAiChat`], which looks the same.
    Ollama,
    /// `{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}`.
    Mcp,
    /// `{"toolSpec": {"name", "description", "inputSchema": {"json"}}}`.
    Bedrock,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Ollama,
        Self::Mcp,
        Self::Bedrock,
    ];

    /// Returns the name, for example `openai-chat`.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Mcp => "mcp",
            Self::Bedrock => "bedrock",
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Shape {
    type Err = UnknownShape;

    fn from_str(name: &str) -> Result<Self, UnknownShape> {
        let mut all = Self::ALL.into_iter();
        all.find(|shape| shape.name() == name).ok_or_else(|| UnknownShape(name.to_owned()))
    }
}

/// The error for an unknown name of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownShape(String);

impl fmt::Display for UnknownShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Shape::ALL.map(Shape::name);
        let hint = did_you_mean(&self.0, names);
        let hint = hint.unwrap_or_else(|| format!("there are {}", names.join(", ")));
        write!(f, "there is no shape `{}`; {hint}", self.0)
    }
}

impl std::error::Error for UnknownShape {}
