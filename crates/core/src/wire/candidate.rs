//! [`CandidateTool`]: a tool that may become part of a request.

use toolwright_schema::Schema;

use super::ToolDefinition;
use crate::registry::RegisteredTool;
use crate::tool::custom_format::CustomToolFormat;
use crate::tool::policy::{Hints, StrictMode};

/// A tool that may become part of a request.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CandidateTool<'a> {
    /// The name in the registry.
    pub name: &'a str,
    /// The display name.
    pub title: Option<&'a str>,
    /// What the tool does.
    pub description: &'a str,
    /// The schema of the arguments.
    pub input: &'a Schema,
    /// The schema of the structured result.
    pub output: Option<&'a Schema>,
    /// The declared effects.
    pub hints: Hints,
    /// Whether the provider may enforce the schema.
    pub strict: StrictMode,
    /// The format of the text that is the only argument, if it is a custom tool.
    pub custom_format: Option<&'a CustomToolFormat>,
    /// Who may call the tool in Anthropic's API; without any, only the model may.
    pub allowed_callers: &'a [String],
    /// The name of its bundle; empty if it has none.
    pub bundle: &'a str,
    /// Whether the provider loads the definition only after a search has found the tool.
    pub deferred: bool,
}

impl CandidateTool<'_> {
    /// Makes the tool one that the provider loads only after a search has found it.
    #[must_use]
    pub fn deferred(mut self) -> Self {
        self.deferred = true;
        self
    }
}

impl<'a> From<&'a RegisteredTool> for CandidateTool<'a> {
    fn from(tool: &'a RegisteredTool) -> Self {
        let spec = tool.spec();
        Self {
            name: spec.name.as_str(),
            title: spec.title.as_deref(),
            description: &spec.description,
            input: &spec.input,
            output: spec.output.as_ref(),
            hints: spec.hints,
            strict: tool.policy().strict,
            custom_format: spec.custom_format.as_ref(),
            allowed_callers: &tool.policy().allowed_callers,
            bundle: &spec.bundle,
            deferred: false,
        }
    }
}

impl<'a> From<&'a ToolDefinition> for CandidateTool<'a> {
    fn from(definition: &'a ToolDefinition) -> Self {
        Self {
            name: &definition.name,
            title: definition.title.as_deref(),
            description: &definition.description,
            input: &definition.input,
            output: definition.output.as_ref(),
            hints: definition.hints,
            strict: match definition.strict {
                Some(true) => StrictMode::On,
                Some(false) => StrictMode::Off,
                None => StrictMode::Auto,
            },
            custom_format: definition.custom_format.as_ref(),
            allowed_callers: &[],
            bundle: "",
            deferred: false,
        }
    }
}
