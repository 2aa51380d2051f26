//! ModelRequest in, a stream of ModelEvents out.

use std::fmt;
use std::sync::Arc;

use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use toolwright_core::{CallId, Content, RegisteredTool as Tool, ToolName, ToolResult};

use crate::model::item::{Item, Step};
use crate::model::usage::{StopReason, Usage};

pub(crate) mod item;
pub(crate) mod price;
pub(crate) mod usage;

/// Somebody who answers: a language model behind a wire protocol, a script, a set of rules.
///
/// # Cancellation
///
/// Dropping the stream ends the request.
pub trait Model: Send + Sync + 'static {
    /// Which model answers, as `openai:gpt-5`.
    fn id(&self) -> &ModelId;

    /// Asks, and streams the answer: deltas as they come, each item when it is whole, one
    /// [`ModelEvent::Finished`] at the end.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Whether the vendor runs this hosted tool itself.
    fn supports_hosted_tool(&self, _: &HostedTool) -> bool {
        false
    }

    /// Reads an answer that was asked for in a form, as the wire had to put it.
    ///
    /// # Errors
    ///
    /// When the text is not JSON; what is wrong with it, in words that the model can read.
    fn parse_structured_output(
        &self,
        _: &ResponseFormat,
        text: &str,
    ) -> Result<serde_json::Value, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn id(&self) -> &ModelId {
        (**self).id()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        (**self).stream(request)
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        (**self).supports_hosted_tool(hosted)
    }

    fn parse_structured_output(
        &self,
        form: &ResponseFormat,
        text: &str,
    ) -> Result<serde_json::Value, String> {
        (**self).parse_structured_output(form, text)
    }
}

/// What a model streams.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, crate::ModelError>>;

/// A vendor and one of its models.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelId {
    /// The vendor, as `openai`.
    pub vendor: String,
    /// The model, as the vendor names it.
    pub name: String,
}

impl ModelId {
    /// Names a vendor's model.
    pub fn new(vendor: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            vendor: vendor.into(),
            name: name.into(),
        }
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            f.write_str(&self.vendor)
        } else {
            write!(f, "{}:{}", self.vendor, self.name)
        }
    }
}

/// What a model is asked.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelRequest {
    /// What it should keep to.
    pub system: Option<String>,
    /// What has been said, the newest last.
    pub messages: Vec<Message>,
    /// The tools it may call, in stable order; shared, so that what is worked out for them can be kept.
    pub tools: Arc<[Tool]>,
    /// The tools its vendor runs.
    pub hosted_tools: Vec<HostedTool>,
    /// Whether it must call one.
    pub tool_choice: ToolChoice,
    /// The form the answer must have.
    pub response_format: Option<ResponseFormat>,
    /// How to answer.
    pub options: ModelOptions,
}

/// One part of what has been said.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message {
    /// A person, or a program on a person's behalf.
    User(Vec<Content>),
    /// The model's own words, put into its mouth by a prompt of role assistant.
    Assistant(Vec<Content>),
    /// A step of a model, with everything that its protocol needs to hear again.
    Step(Arc<Step>),
    /// What the calls of the step before came to, in the order of the calls.
    Results(Vec<ToolResult>),
}

/// Which tools the model may or must call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Named(String),
}

/// A tool that the vendor runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostedTool {
    /// Searches the web.
    WebSearch(toolwright_core::WebSearchConfig),
    /// The tools of an MCP server.
    Mcp(toolwright_core::McpServerConfig),
}

/// The form of an answer that a program reads.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResponseFormat {
    /// What to call it.
    pub name: String,
    /// What it satisfies.
    pub schema: toolwright_core::schema::Schema,
}

impl ResponseFormat {
    /// Asks for an answer that satisfies a schema.
    pub fn new(name: impl Into<String>, schema: toolwright_core::schema::Schema) -> Self {
        let name = name.into();
        Self { name, schema }
    }
}

/// How a model answers; what is not set is left to the vendor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelOptions {
    /// The most tokens of an answer.
    pub max_tokens: Option<u32>,
    /// How freely it chooses words.
    pub temperature: Option<f32>,
    /// How much of the likely words it chooses from.
    pub top_p: Option<f32>,
    /// How much it thinks first: `minimal`, `low`, `medium`, `high`.
    pub effort: Option<String>,
    /// Fields added to the request as they are.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A piece of an answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelEvent {
    /// What is sent, as it goes over the wire; keys travel in headers and are not in it.
    RequestSent(Arc<str>),
    /// More text.
    Text(String),
    /// More of what the model thinks.
    Reasoning(String),
    /// A call begins.
    CallBegins {
        /// Which of the step's calls.
        index: usize,
        /// Its id.
        id: CallId,
        /// The tool.
        name: ToolName,
    },
    /// More of a call's arguments, in the wire's form: for display only.
    CallDelta {
        /// Which of the step's calls.
        index: usize,
        /// The next piece of JSON text.
        delta: String,
    },
    /// An item is whole.
    Item(Item),
    /// The answer is whole.
    Finished {
        /// Why it ends.
        stop: StopReason,
        /// What it took.
        usage: Usage,
    },
}
