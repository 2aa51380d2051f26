//! The result of a search: the definitions of the tools that it found, which the model reads, and later requests read again.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolwright_core::schema::Dialect;
use toolwright_core::{RegisteredTool, ToolResult};

/// How much of the fingerprint the result has: enough to notice a change.
const VERSION_LENGTH: usize = 12;

/// The maximum size of a result in bytes; one tool is always shown.
const MAX_RESULT: usize = 48_000;

/// The maximum size of the schema of one tool in bytes; a larger one is left out.
const MAX_SCHEMA: usize = 32_000;

/// A tool in the result of a search.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct FoundTool<'a> {
    /// The name to call it by.
    pub name: Cow<'a, str>,
    /// What it does.
    pub description: Cow<'a, str>,
    /// The schema of its arguments.
    pub input_schema: Cow<'a, RawValue>,
    /// The beginning of its fingerprint.
    pub version: Cow<'a, str>,
}

#[derive(Serialize)]
struct SearchOutput<'a> {
    tools: &'a [FoundTool<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl<'a> FoundTool<'a> {
    /// Describes a tool for a model of this dialect; `None` if the dialect cannot express its schema.
    fn new(tool: &'a RegisteredTool, dialect: Dialect) -> Option<Self> {
        let definition = tool.deferred_definition(dialect)?;
        let input_schema = match definition.input.text() {
            text if text.len() > MAX_SCHEMA => {
                // The error of a call has what is missing.
                Cow::Owned(RawValue::from_string(r#"{"type":"object"}"#.to_owned()).ok()?)
            }
            text => Cow::Borrowed(serde_json::from_str(text).ok()?),
        };
        Some(Self {
            name: tool.spec().name.as_str().into(),
            description: definition.description,
            input_schema,
            version: version(tool).into(),
        })
    }

    /// Returns the result of a search that found these tools, for a model of this dialect.
    pub fn result(tools: &'a [&'a RegisteredTool], dialect: Dialect) -> ToolResult {
        let mut remaining = MAX_RESULT;
        let mut shown: Vec<Self> = Vec::new();
        for tool in tools.iter().filter_map(|tool| Self::new(tool, dialect)) {
            let size = tool.name.len() + tool.description.len() + tool.input_schema.get().len();
            if size > remaining && !shown.is_empty() {
                continue;
            }
            remaining = remaining.saturating_sub(size);
            shown.push(tool);
        }
        let note = shown.is_empty().then_some("no tool matches: describe the task in other words");
        let output = SearchOutput { tools: &shown, note };
        ToolResult::success(serde_json::to_string(&output).unwrap_or_default())
    }

    /// Reads the tools in the text of a search's result.
    pub fn read(text: &'a str) -> Vec<Self> {
        #[derive(Deserialize)]
        struct ReadOutput<'a> {
            #[serde(borrow)]
            tools: Vec<ReadTool<'a>>,
        }
        #[derive(Deserialize)]
        struct ReadTool<'a> {
            #[serde(borrow)]
            name: Cow<'a, str>,
            #[serde(borrow)]
            description: Cow<'a, str>,
            #[serde(borrow)]
            input_schema: &'a RawValue,
            #[serde(borrow)]
            version: Cow<'a, str>,
        }
        let output: Option<ReadOutput<'a>> = serde_json::from_str(text).ok();
        let tools = output.map(|output| output.tools).unwrap_or_default();
        let found = tools.into_iter().map(|tool| Self {
            name: tool.name,
            description: tool.description,
            input_schema: Cow::Borrowed(tool.input_schema),
            version: tool.version,
        });
        found.collect()
    }

    /// Returns true if this is the tool that was found, unchanged since.
    pub fn is_current(&self, tool: &RegisteredTool) -> bool {
        self.name == tool.spec().name.as_str() && self.version == version(tool)
    }
}

fn version(tool: &RegisteredTool) -> &str {
    let fingerprint = tool.tool().fingerprint();
    fingerprint.get(..VERSION_LENGTH).unwrap_or(fingerprint)
}
