//! [`ToolSearch`]: when a model searches for tools, instead of getting the definitions of all.

use serde::Deserialize;
use toolwright_core::schema::Dialect;
use toolwright_core::wire::BYTES_PER_TOKEN;
use toolwright_core::{Config, ConfigError, RegisteredTool};

/// The maximum number of tools in a request where the model's dialect has no lower one.
const DEFAULT_MAX_TOOLS: usize = 128;

/// The default of [`ToolSearch::max_tokens`].
const DEFAULT_MAX_TOKENS: usize = 20_000;

/// The estimated number of bytes of the punctuation and keys of a definition.
const DEFINITION_OVERHEAD: usize = 60;

/// The maximum number and size in bytes of the deferred definitions in a request, where the provider wants them all in each:
/// it accepts 10,000, and each step of a turn uploads them.
const MAX_DEFERRED_TOOLS: usize = 10_000;
const MAX_DEFERRED_BYTES: usize = 1_000_000;

/// Whether a model searches for tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolSearchMode {
    /// If the definitions of all tools are beyond the budget of the request, or the conversation has searched before.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never: tools that do not fit into a request are left out.
    Off,
}

/// When a model searches for tools, instead of getting the definitions of all.
///
/// Then a request has the pinned tools, `search_tools` and `call_tool`, and always the same ones in a conversation, so that
/// prompt caches of providers hold. The result of a search has the definitions of the tools that it found; only those, and the
/// pinned ones, can be called. A call through `call_tool` is validated, approved, limited, recorded and shown as a call of the
/// tool that it names. A search ranks only tools that the caller may use.
///
/// A provider with a [`ToolDeferral`](crate::ToolDeferral) loads the tools that a search has found, and the model calls them by
/// their own names: its requests do not have `call_tool`.
///
/// # Examples
///
/// ```
/// use toolwright::chat::{Chat, ToolSearch, ToolSearchMode};
/// use toolwright::testing::ScriptedModel;
/// use toolwright::{Invoker, Registry, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let registry = Registry::of(add::tool())?;
/// let model = ScriptedModel::new()
///     .calls("search_tools", r#"{"query": "sum of two numbers"}"#)
///     .calls("call_tool", r#"{"name": "add", "arguments": {"a": 2, "b": 3}}"#)
///     .replies("It is 5.");
/// let chat = Chat::builder(&Invoker::new(&registry)?, model)
///     .tool_search(ToolSearch::new(ToolSearchMode::On))
///     .build();
/// let response = chat.message().user("What is 2 + 3?").call().await?;
/// assert_eq!(response.results()[1].tool.as_str(), "add");
/// assert_eq!(response.results()[1].text(), "5");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSearch {
    /// Whether the model searches.
    pub mode: ToolSearchMode,
    /// The maximum number of tools in a request, for [`ToolSearchMode::Auto`]; `None` for what the model's provider accepts,
    /// and at most 128.
    pub max_tools: Option<usize>,
    /// The maximum of estimated tokens of all definitions in a request, for [`ToolSearchMode::Auto`]; 20,000 by default.
    pub max_tokens: usize,
}

impl Default for ToolSearch {
    fn default() -> Self {
        Self::new(ToolSearchMode::default())
    }
}

impl From<ToolSearchMode> for ToolSearch {
    fn from(mode: ToolSearchMode) -> Self {
        Self::new(mode)
    }
}

impl ToolSearch {
    /// Searches in this mode, with the default budget.
    pub fn new(mode: ToolSearchMode) -> Self {
        Self { mode, max_tools: None, max_tokens: DEFAULT_MAX_TOKENS }
    }

    /// Sets the maximum number of tools in a request.
    #[must_use]
    pub fn max_tools(mut self, tools: usize) -> Self {
        self.max_tools = Some(tools);
        self
    }

    /// Sets the maximum of estimated tokens of all definitions in a request.
    #[must_use]
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Reads the settings `tools.search`, `tools.search_max_tools` and `tools.search_max_tokens`.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    pub fn from_config(config: &Config) -> Result<Self, ConfigError> {
        // Settings below the key are those of a tool of this name.
        let mode = match config.keys_under("tools.search").is_empty() {
            true => config.get_optional("tools.search")?,
            false => None,
        };
        Ok(Self {
            mode: mode.unwrap_or_default(),
            max_tools: config.get_optional("tools.search_max_tools")?,
            max_tokens: config.get_or("tools.search_max_tokens", DEFAULT_MAX_TOKENS)?,
        })
    }

    /// Returns true if a request with these tools is beyond the budget for a model of this dialect.
    pub(crate) fn is_beyond_budget(&self, tools: &[RegisteredTool], dialect: Dialect) -> bool {
        let accepted = dialect.max_tools().unwrap_or(DEFAULT_MAX_TOOLS).min(DEFAULT_MAX_TOOLS);
        tools.len() > self.max_tools.unwrap_or(accepted)
            || definitions_size(tools, dialect) / BYTES_PER_TOKEN > self.max_tokens
    }
}

/// Returns true if each request can have the definitions of these tools, deferred.
pub(crate) fn fits_deferred(tools: &[RegisteredTool], dialect: Dialect) -> bool {
    tools.len() <= MAX_DEFERRED_TOOLS && definitions_size(tools, dialect) <= MAX_DEFERRED_BYTES
}

/// Returns the estimated number of bytes of definitions.
pub(crate) fn definitions_size(tools: &[RegisteredTool], dialect: Dialect) -> usize {
    let size = |tool: &RegisteredTool| {
        let spec = tool.spec();
        let schema = spec.input.lower(dialect.non_strict()).map_or(0, |it| it.text().len());
        spec.name.as_str().len() + spec.description.len() + schema + DEFINITION_OVERHEAD
    };
    tools.iter().map(size).sum()
}
