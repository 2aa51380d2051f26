//! A lowered tool in, its definition as an API writes it out.

use serde::Serialize;
use toolwright_schema::Dialect;

use super::Shape;
use crate::options::Hints;
use crate::wire::Candidate;

/// What is written of one tool.
pub(super) struct Written<'a> {
    pub(super) tool: &'a Candidate<'a>,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    /// The lowered schema as JSON text.
    pub(super) schema: &'a str,
    /// Whether the schema has properties; where none is written, none is meant.
    pub(super) takes_something: bool,
    pub(super) strict: bool,
    pub(super) dialect: Dialect,
}

impl Shape {
    /// The shape in which a dialect's tools are usually sent.
    pub fn of(dialect: Dialect) -> Self {
        match dialect.name() {
            "openai" | "openai-strict" => Self::OpenAiResponses,
            "anthropic" | "anthropic-strict" => Self::Anthropic,
            "gemini" | "gemini-openapi" => Self::Gemini,
            "ollama" => Self::Ollama,
            "bedrock" => Self::Bedrock,
            "mcp" => Self::Mcp,
            _ => Self::OpenAiChat,
        }
    }

    /// Writes the whole `tools` array from the definitions in it.
    pub(super) fn array(self, definitions: &[String]) -> String {
        let inner = definitions.join(",");
        match self {
            // All declarations are one tool there, and an empty one is refused.
            Self::Gemini if definitions.is_empty() => "[]".to_owned(),
            Self::Gemini => format!("[{{\"functionDeclarations\":[{inner}]}}]"),
            _ => format!("[{inner}]"),
        }
    }

    pub(super) fn definition(self, written: &Written<'_>) -> String {
        let mut out = Object::new();
        match self {
            Self::OpenAiResponses => {
                out.field("type", "function");
                out.function(written, true);
            }
            Self::OpenAiChat | Self::Ollama => {
                let mut function = Object::new();
                function.function(written, self == Self::OpenAiChat);
                out.field("type", "function");
                out.raw("function", &function.end());
            }
            Self::Anthropic => {
                out.start(written);
                out.raw("input_schema", written.schema);
                out.field("strict", &written.strict);
            }
            Self::Gemini => {
                out.start(written);
                if written.dialect == Dialect::GEMINI {
                    out.raw("parametersJsonSchema", written.schema);
                } else if written.takes_something {
                    out.raw("parameters", written.schema);
                }
            }
            Self::Mcp => {
                out.field("name", written.name);
                if let Some(title) = written.tool.title {
                    out.field("title", title);
                }
                out.field("description", written.description);
                out.raw("inputSchema", written.schema);
                if let Some(output) = written.tool.output {
                    out.field("outputSchema", output);
                }
                if written.tool.hints != Hints::default() {
                    out.field("annotations", &written.tool.hints);
                }
            }
            Self::Bedrock => {
                let mut spec = Object::new();
                spec.start(written);
                spec.raw("inputSchema", &format!("{{\"json\":{}}}", written.schema));
                out.raw("toolSpec", &spec.end());
            }
        }
        out.end()
    }
}

/// JSON text of an object that is being written.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self("{".to_owned())
    }

    /// Name and description, which all but MCP begin with.
    fn start(&mut self, written: &Written<'_>) {
        self.field("name", written.name);
        self.field("description", written.description);
    }

    fn function(&mut self, written: &Written<'_>, strict: bool) {
        self.start(written);
        self.raw("parameters", written.schema);
        if strict {
            self.field("strict", &written.strict);
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        // Texts, flags and schemas: nothing that could fail to be written.
        let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw(name, &text);
    }

    fn raw(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        self.0.push_str(json);
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
