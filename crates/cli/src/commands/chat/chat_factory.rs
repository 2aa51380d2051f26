//! Flags and settings in, chats out: what stays the same while models and conversations change.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwright_chat::{Chat, HostedTool, Model, Prices, TurnLimits};
use toolwright_core::{Config, Invoker};

use crate::cli_error::CliError;
use crate::commands::conversations::unique_node_name;
use crate::config::conversation_store::ConversationStore;
use crate::config::prices::load_prices;
use crate::remote_servers::{RemoteServers, configured_servers};
use crate::terminal::approval::{LineReader, TerminalApprover};

pub(crate) const DEFAULT_SYSTEM_MESSAGE: &str = "You are a helpful assistant. Use the tools when they help to answer. \
    Say so when you do not know something or when a tool failed; never make up a result.";

/// How long a conversation stays with a process that died: whoever comes back after a crash does not want to wait long.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(10);

/// What every chat of this process is made with.
pub(crate) struct ChatFactory {
    pub(crate) config: Config,
    pub(crate) invoker: Invoker,
    pub(crate) store: ConversationStore,
    pub(crate) conversation_id: String,
    /// Under which name this process holds conversations.
    pub(crate) node_name: String,
    pub(crate) servers: RemoteServers,
    system: String,
    /// What the vendor may run, the servers among it that are ours included.
    hosted_tools: Vec<HostedTool>,
    prices: Prices,
    limits: TurnLimits,
    ask_before_each_call: bool,
    approve_all: bool,
}

impl ChatFactory {
    /// Reads flags and settings.
    pub(crate) fn new(
        command: &super::ChatArgs,
        config: Config,
        invoker: Invoker,
        store: ConversationStore,
        servers: RemoteServers,
    ) -> Result<Self, CliError> {
        let unreadable = |error| CliError::from_error(&error);
        let system = match &command.system {
            Some(system) => system.clone(),
            None => config
                .get_or("system", DEFAULT_SYSTEM_MESSAGE.to_owned())
                .map_err(unreadable)?,
        };
        let mut limits = TurnLimits::default();
        if let Some(calls) = command.max_calls {
            limits.calls = calls;
        }
        let search = config.web_search().map_err(unreadable)?;
        let search = search.into_iter().map(HostedTool::WebSearch);
        let groups = config.mcp_servers().map_err(unreadable)?.into_iter();
        let hosted = search.chain(groups.map(HostedTool::Mcp)).collect();
        Ok(Self {
            store,
            conversation_id: command
                .conversation
                .clone()
                .unwrap_or_else(new_conversation_id),
            node_name: unique_node_name(),
            prices: load_prices(&config)?,
            config,
            invoker,
            servers,
            system,
            hosted_tools: hosted,
            limits,
            ask_before_each_call: command.ask,
            approve_all: command.yes,
        })
    }

    /// Makes the chat of a model; whoever has to be asked is asked through `lines`.
    pub(crate) fn build_chat(&self, model: &Arc<dyn Model>, lines: Arc<dyn LineReader>) -> Chat {
        let yes = self.approve_all;
        let mut builder = Chat::builder(Arc::clone(model), &self.invoker)
            .system(&self.system)
            .store(Arc::clone(self.store.store()))
            .node(&self.node_name)
            .lease_duration(LEASE_DURATION)
            .limits(self.limits.clone())
            .prices(self.prices.clone())
            .approver(TerminalApprover {
                approve_all: yes,
                reader: lines,
            });
        for hosted in self
            .hosted_tools
            .iter()
            .filter(|hosted| !self.is_attached_locally(hosted))
        {
            builder = builder.hosted_tool(hosted.clone());
        }
        if self.ask_before_each_call {
            builder = builder.ask_before_each_call();
        }
        builder.build()
    }

    /// Whether we have attached what the vendor could: then it stays ours, whoever the model is.
    fn is_attached_locally(&self, hosted: &HostedTool) -> bool {
        matches!(hosted, HostedTool::Mcp(group) if self.servers.contains(&group.name))
    }
}

/// Attaches the servers of the settings, except those that the vendor of the model attaches.
pub(crate) async fn attach_configured_servers(
    servers: &RemoteServers,
    config: &Config,
    model: &dyn Model,
) -> Result<(), CliError> {
    let groups = config.mcp_servers();
    let mut groups = groups
        .map_err(|error| CliError::from_error(&error))?
        .into_iter();
    let hosted = groups.any(|group| model.supports_hosted_tool(&HostedTool::Mcp(group)));
    servers.attach(configured_servers(config, hosted)?).await;
    Ok(())
}

/// The name of a new conversation: later ones sort after earlier ones.
pub(crate) fn new_conversation_id() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    format!("chat-{millis:012x}-{:04x}", std::process::id() & 0xffff)
}
