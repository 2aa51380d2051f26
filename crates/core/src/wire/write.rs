//! Writes the definition of a lowered tool in the shape of an API.

use serde::Serialize;
use toolwright_schema::{Dialect, Lowered};

use super::Shape;
use super::input_examples::input_examples;
use crate::tool::custom_format::CustomToolFormat;
use crate::tool::policy::Hints;
use crate::wire::CandidateTool;

/// The parts of one definition.
pub(super) struct DefinitionParts<'a> {
    pub(super) tool: &'a CandidateTool<'a>,
    pub(super) name: &'a str,
    pub(super) description: &'a str,
    /// The lowered schema as JSON text.
    pub(super) schema: &'a str,
    pub(super) lowered: &'a Lowered,
    /// Whether the schema has properties; some APIs expect no schema otherwise.
    pub(super) has_parameters: bool,
    pub(super) strict: bool,
    pub(super) dialect: Dialect,
    /// The format of a custom tool that is defined as such, and not as a function.
    pub(super) custom_format: Option<&'a CustomToolFormat>,
    /// Whether the definition is loaded only after a search; only some APIs have that.
    pub(super) deferred: bool,
}

impl Shape {
    /// Returns the usual shape of a dialect.
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

    /// Writes the `tools` array.
    pub(super) fn write_array(self, definitions: &[String]) -> String {
        let inner = definitions.join(",");
        match self {
            // In Gemini all declarations are one tool, and an empty one is rejected.
            Self::Gemini if definitions.is_empty() => "[]".to_owned(),
            Self::Gemini => format!("[{{\"functionDeclarations\":[{inner}]}}]"),
            _ => format!("[{inner}]"),
        }
    }

    pub(super) fn write_definition(self, parts: &DefinitionParts<'_>) -> String {
        let mut out = ObjectWriter::new();
        match (self, parts.custom_format) {
            (Self::OpenAiResponses, Some(format)) => {
                out.field("type", "custom");
                out.name_and_description(parts);
                out.field("format", &format.to_responses_json());
                out.defer_loading(parts);
                return out.finish();
            }
            (Self::OpenAiChat, Some(format)) => {
                let mut custom = ObjectWriter::new();
                custom.name_and_description(parts);
                custom.field("format", &format.to_chat_json());
                out.field("type", "custom");
                out.raw_field("custom", &custom.finish());
                return out.finish();
            }
            _ => {}
        }
        match self {
            Self::OpenAiResponses => {
                out.field("type", "function");
                out.function_fields(parts, true);
                out.defer_loading(parts);
            }
            Self::OpenAiChat | Self::Ollama => {
                let mut function = ObjectWriter::new();
                function.function_fields(parts, self == Self::OpenAiChat);
                out.field("type", "function");
                out.raw_field("function", &function.finish());
            }
            Self::Anthropic => {
                out.name_and_description(parts);
                out.raw_field("input_schema", parts.schema);
                out.field("strict", &parts.strict);
                out.defer_loading(parts);
                if !parts.tool.allowed_callers.is_empty() {
                    out.field("allowed_callers", parts.tool.allowed_callers);
                }
                out.input_examples(parts);
            }
            Self::Gemini => {
                out.name_and_description(parts);
                if parts.dialect == Dialect::GEMINI {
                    out.raw_field("parametersJsonSchema", parts.schema);
                } else if parts.has_parameters {
                    out.raw_field("parameters", parts.schema);
                }
            }
            Self::Mcp => {
                out.field("name", parts.name);
                if let Some(title) = parts.tool.title {
                    out.field("title", title);
                }
                out.field("description", parts.description);
                out.raw_field("inputSchema", parts.schema);
                if let Some(output) = parts.tool.output {
                    out.field("outputSchema", output);
                }
                if parts.tool.hints != Hints::default() {
                    out.field("annotations", &parts.tool.hints);
                }
            }
            Self::Bedrock => {
                let mut spec = ObjectWriter::new();
                spec.name_and_description(parts);
                spec.raw_field("inputSchema", &format!("{{\"json\":{}}}", parts.schema));
                out.raw_field("toolSpec", &spec.finish());
            }
        }
        out.finish()
    }
}

/// Writes the JSON text of an object.
struct ObjectWriter(String);

impl ObjectWriter {
    fn new() -> Self {
        Self("{".to_owned())
    }

    /// Writes name and description, the first fields of all shapes but MCP.
    fn name_and_description(&mut self, parts: &DefinitionParts<'_>) {
        self.field("name", parts.name);
        self.field("description", parts.description);
    }

    fn function_fields(&mut self, parts: &DefinitionParts<'_>, strict: bool) {
        self.name_and_description(parts);
        self.raw_field("parameters", parts.schema);
        if strict {
            self.field("strict", &parts.strict);
        }
    }

    fn defer_loading(&mut self, parts: &DefinitionParts<'_>) {
        if parts.deferred {
            self.field("defer_loading", &true);
        }
    }

    fn input_examples(&mut self, parts: &DefinitionParts<'_>) {
        // Searches for tools are documented without examples.
        if parts.deferred {
            return;
        }
        let examples = input_examples(parts.tool.input, parts.lowered);
        if !examples.is_empty() {
            self.field("input_examples", &examples);
        }
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) {
        // Texts, flags and schemas always serialise.
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
