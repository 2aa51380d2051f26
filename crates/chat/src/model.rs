//! [`Model`]: a [`ModelRequest`] in, a stream of [`ModelEvent`]s out.

use std::fmt;
use std::sync::Arc;

use futures::stream::BoxStream;
use serde::{Deserialize, Serialize};
use toolwright_core::schema::Dialect;
use toolwright_core::{
    CallId, Config, ConfigError, Content, McpAttachMode, McpServerConfig, RegisteredTool as Tool,
    ToolName, ToolResult, WebSearchConfig,
};

use crate::model::item::{Item, Step};
use crate::model::usage::{StopReason, Usage};

pub(crate) mod item;
pub(crate) mod price;
pub(crate) mod usage;

/// Answers requests: a language model behind a wire protocol, a script, a set of rules.
///
/// # Cancellation
///
/// Dropping the stream ends the request.
pub trait Model: Send + Sync + 'static {
    /// Returns the vendor and the model, as `openai:gpt-5`.
    fn id(&self) -> &ModelId;

    /// Sends a request, and streams the answer: deltas as they arrive, each item when it is complete, and one
    /// [`ModelEvent::Finished`] at the end.
    fn stream(&self, request: ModelRequest) -> ModelStream;

    /// Returns the dialect of tool schemas that the model reads.
    fn tool_dialect(&self) -> Dialect {
        Dialect::MCP
    }

    /// Returns how the provider loads the tools that a search has found; `None` if it loads none, which is the default.
    fn tool_deferral(&self) -> Option<ToolDeferral> {
        None
    }

    /// Returns true if the vendor has this hosted tool.
    fn supports_hosted_tool(&self, _: &HostedTool) -> bool {
        false
    }

    /// Parses the text of an answer to a request with this format, and undoes changes that the provider's dialect required.
    ///
    /// # Errors
    ///
    /// When the text is not JSON; with a message that the model can read.
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

    fn tool_dialect(&self) -> Dialect {
        (**self).tool_dialect()
    }

    fn tool_deferral(&self) -> Option<ToolDeferral> {
        (**self).tool_deferral()
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        (**self).supports_hosted_tool(hosted)
    }

    fn parse_structured_output(
        &self,
        format: &ResponseFormat,
        text: &str,
    ) -> Result<serde_json::Value, String> {
        (**self).parse_structured_output(format, text)
    }
}

/// The events of an answer; an error is the last item.
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
    /// Creates the id of a vendor's model.
    pub fn new(vendor: impl Into<String>, name: impl Into<String>) -> Self {
        Self { vendor: vendor.into(), name: name.into() }
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

/// A request to a model.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The system prompt.
    pub system: Option<String>,
    /// The history, the newest message last.
    pub messages: Vec<Message>,
    /// The tools it may call, in stable order; shared, so that a model can cache what it derives from them.
    pub tools: Arc<[Tool]>,
    /// The tools that the provider loads once a search has found them; only for a model with a [`ToolDeferral`].
    pub native_search: Option<NativeToolSearch>,
    /// The tools that the vendor runs.
    pub hosted_tools: Vec<HostedTool>,
    /// Whether the model may, must or must not call a tool.
    pub tool_choice: ToolChoice,
    /// The schema that the answer must satisfy, if any.
    pub response_format: Option<ResponseFormat>,
    /// The sampling options.
    pub options: ModelOptions,
}

/// How a provider loads the definitions of tools that a search has found.
///
/// The search itself is a tool of the request, and so an ordinary call with an ordinary result: the protocol writes both in the
/// form of the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolDeferral {
    /// Every request has the definitions of all deferred tools, and the result of a search refers to those that it found.
    References,
    /// The result of a search has the definitions of the tools that it found, and requests have no others.
    Definitions,
}

/// The tools that a provider loads once a search has found them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NativeToolSearch {
    /// The tool of the request that searches.
    pub search_tool: ToolName,
    /// The tools that the provider may load: all that can be found, for [`ToolDeferral::References`], or those that were found,
    /// for [`ToolDeferral::Definitions`].
    pub deferred: Arc<[Tool]>,
}

impl NativeToolSearch {
    /// Creates the search with this tool for these deferred ones.
    pub fn new(search_tool: impl Into<ToolName>, deferred: Arc<[Tool]>) -> Self {
        Self { search_tool: search_tool.into(), deferred }
    }
}

/// A message of the history.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Message {
    /// A message of the user.
    User(Vec<Content>),
    /// A message in the role of the model that is not one of its steps.
    Assistant(Vec<Content>),
    /// A step of a model, with the provider's JSON that its protocol needs back.
    Step(Arc<Step>),
    /// The results of the calls of the step before, in the order of the calls.
    Results(Vec<ToolResult>),
}

/// Which tools the model may or must call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool.
    None,
    /// At least one tool.
    Required,
    /// The tool of this name.
    Named(String),
}

/// A tool that the vendor runs; left out where the vendor does not have it.
///
/// It is selected and excluded by its [name](Self::name), like any other tool.
///
/// # Examples
///
/// ```
/// use toolwright::chat::{Chat, HostedTool};
/// use toolwright::testing::ScriptedModel;
/// use toolwright::{Invoker, Registry};
///
/// let chat = Chat::builder(&Invoker::new(Registry::new())?, ScriptedModel::new())
///     .hosted_tool(HostedTool::web_search().city("Prague").country("CZ"))
///     .hosted_tool(HostedTool::mcp("wiki", "https://wiki.example/mcp").authorization("Bearer …"))
///     .build();
/// let without_search = chat.message().user("Hello").exclude(["web_search"]);
/// # Ok::<(), toolwright::InvokerError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostedTool {
    /// Searches the web.
    WebSearch(WebSearchConfig),
    /// The tools of an MCP server.
    Mcp(McpServerConfig),
}

impl HostedTool {
    /// Describes a search of the web, by default without a location.
    pub fn web_search() -> WebSearchConfig {
        WebSearchConfig::default()
    }

    /// Describes an MCP server that the vendor connects to, by its name and address.
    pub fn mcp(name: impl Into<String>, url: impl Into<String>) -> McpServerConfig {
        McpServerConfig::new(name, url)
    }

    /// Reads the settings `WebSearchTool.*` and `MCP.*`, without the servers that only this program is to connect to.
    ///
    /// # Errors
    ///
    /// When a setting is missing or cannot be read.
    pub fn from_config(config: &Config) -> Result<Vec<Self>, ConfigError> {
        let search = config.web_search()?.into_iter().map(Self::WebSearch);
        let servers = config.mcp_servers()?.into_iter();
        let servers = servers.filter(|server| server.mode != McpAttachMode::Client);
        Ok(search.chain(servers.map(Self::Mcp)).collect())
    }

    /// Returns the name that selects or excludes it: `web_search`, or the name of the MCP server.
    pub fn name(&self) -> &str {
        match self {
            Self::WebSearch(_) => "web_search",
            Self::Mcp(server) => &server.name,
        }
    }
}

impl From<WebSearchConfig> for HostedTool {
    fn from(search: WebSearchConfig) -> Self {
        Self::WebSearch(search)
    }
}

impl From<McpServerConfig> for HostedTool {
    fn from(server: McpServerConfig) -> Self {
        Self::Mcp(server)
    }
}

/// The schema of a structured answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ResponseFormat {
    /// A name for the schema, which some protocols require.
    pub name: String,
    /// The schema that the answer satisfies.
    pub schema: toolwright_core::schema::Schema,
}

impl ResponseFormat {
    /// Creates the format of answers that satisfy a schema.
    pub fn new(name: impl Into<String>, schema: toolwright_core::schema::Schema) -> Self {
        let name = name.into();
        Self { name, schema }
    }
}

/// The sampling options of a request; the vendor's default applies where a field is not set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelOptions {
    /// The maximum number of tokens in an answer.
    pub max_tokens: Option<u32>,
    /// The sampling temperature.
    pub temperature: Option<f32>,
    /// The probability mass of nucleus sampling.
    pub top_p: Option<f32>,
    /// The reasoning effort: `minimal`, `low`, `medium`, `high`.
    pub effort: Option<String>,
    /// Fields that are added to the request body unchanged.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// An event of a streamed answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelEvent {
    /// The request body as it goes over the wire; keys are in headers and not in it.
    RequestSent(Arc<str>),
    /// Another model than [`Model::id`] answers, because that one is overloaded or cannot be reached.
    Fallback {
        /// The model that answers.
        model: ModelId,
        /// Why it answers.
        reason: String,
    },
    /// More text of the answer.
    Text(String),
    /// More of the model's reasoning.
    Reasoning(String),
    /// The model begins to write a call.
    CallBegins {
        /// The position among the calls of the step, from 0.
        index: usize,
        /// The id of the call.
        id: CallId,
        /// The tool as the model names it.
        name: ToolName,
    },
    /// More of a call's arguments, in the form of the wire: for display only.
    CallDelta {
        /// The position among the calls of the step, from 0.
        index: usize,
        /// The next piece of JSON text.
        delta: String,
    },
    /// An item is complete.
    Item(Item),
    /// The answer is complete.
    Finished {
        /// Why the model stopped.
        stop: StopReason,
        /// The tokens of the step.
        usage: Usage,
    },
}
