//! A lowered tool in, its definition as an API writes it out.

use serde::Serialize;
use toolwright_schema::Dialect;

use super::Shape;
use crate::tool::policy::Hints;
use crate::wire::CandidateTool;

/// What is written of one tool.
pub(super) struct DefinitionParts<'a> {
    pub(super) tool: &'a CandidateTool<'a>,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    /// The lowered schema as JSON text.
    pub(super) schema: &'a str,
    /// Whether the schema has properties; where none is written, none is meant.
    pub(super) has_parameters: bool,
    pub(super) strict: bool,
    pub(super) dialect: Dialect,
}

impl Shape {
    /// The shape in which a dialect's tools are usually sent.
    pub fn for_dialect(dialect: Dialect) -> Self {
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
    pub(super) fn write_array(self, definitions: &[String]) -> String {
        let inner = definitions.join(",");
        match self {
            // All declarations are one tool there, and an empty one is refused.
            Self::Gemini if definitions.is_empty() => "[]".to_owned(),
            Self::Gemini => format!("[{{\"functionDeclarations\":[{inner}]}}]"),
            _ => format!("[{inner}]"),
        }
    }

    pub(super) fn write_definition(self, written: &DefinitionParts<'_>) -> String {
        let mut out = ObjectWriter::new();
        match self {
            Self::OpenAiResponses => {
                out.field("type", "function");
                out.function_fields(written, true);
            }
            Self::OpenAiChat | Self::Ollama => {
                let mut function = ObjectWriter::new();
                function.function_fields(written, self == Self::OpenAiChat);
                out.field("type", "function");
                out.raw_field("function", &function.finish());
            }
            Self::Anthropic => {
                out.name_and_description(written);
                out.raw_field("input_schema", written.schema);
                out.field("strict", &written.strict);
            }
            Self::Gemini => {
                out.name_and_description(written);
                if written.dialect == Dialect::GEMINI {
                    out.raw_field("parametersJsonSchema", written.schema);
                } else if written.has_parameters {
                    out.raw_field("parameters", written.schema);
                }
            }
            Self::Mcp => {
                out.field("name", written.name);
                if let Some(title) = written.tool.title {
                    out.field("title", title);
                }
                out.field("description", written.description);
                out.raw_field("inputSchema", written.schema);
                if let Some(output) = written.tool.output {
                    out.field("outputSchema", output);
                }
                if written.tool.hints != Hints::default() {
                    out.field("annotations", &written.tool.hints);
                }
            }
            Self::Bedrock => {
                let mut spec = ObjectWriter::new();
                spec.name_and_description(written);
                spec.raw_field("inputSchema", &format!("{{\"json\":{}}}", written.schema));
                out.raw_field("toolSpec", &spec.finish());
            }
        }
        out.finish()
    }
}

/// JSON text of an object that is being written.
struct ObjectWriter(String);

impl ObjectWriter {
    fn new() -> Self {
        Self("{".to_owned())
    }

    /// Name and description, which all but MCP begin with.
    fn name_and_description(&mut self, written: &DefinitionParts<'_>) {
        self.field("name", written.name);
        self.field("description", written.description);
    }

    fn function_fields(&mut self, written: &DefinitionParts<'_>, strict: bool) {
        self.name_and_description(written);
        self.raw_field("parameters", written.schema);
        if strict {
            self.field("strict", &written.strict);
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        // Texts, flags and schemas: nothing that could fail to be written.
        let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw_field(name, &text);
    }

    fn raw_field(&mut self, name: &str, json: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push('"');
        self.0.push_str(name);
        self.0.push_str("\":");
        self.0.push_str(json);
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
