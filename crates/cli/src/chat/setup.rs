//! Flags and settings in, chats out: what stays the same while models and conversations change.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwright_chat::{Chat, HostedTool, Model, Prices, TurnLimits};
use toolwright_core::{Config, Invoker};

use super::prices::prices;
use crate::approve::{Lines, Terminal};
use crate::attach::{Servers, wanted};
use crate::conversations::holder;
use crate::failure::Failure;
use crate::store::Kept;

pub(crate) const SYSTEM: &str = "You are a helpful assistant. Use the tools when they help to answer. \
    Say so when you do not know something or when a tool failed; never make up a result.";

/// How long a conversation stays with a process that died: whoever comes back after a crash does not want to wait long.
pub(crate) const LEASE: Duration = Duration::from_secs(10);

/// What every chat of this process is made with.
pub(crate) struct Setup {
    pub(crate) config: Config,
    pub(crate) invoker: Invoker,
    pub(crate) store: Kept,
    pub(crate) conversation: String,
    /// Under which name this process holds conversations.
    pub(crate) node: String,
    pub(crate) servers: Servers,
    system: String,
    /// What the vendor may run, the servers among it that are ours included.
    hosted: Vec<HostedTool>,
    prices: Prices,
    limits: TurnLimits,
    ask: bool,
    yes: bool,
}

impl Setup {
    /// Reads flags and settings.
    pub(crate) fn new(
        command: &super::Chat,
        config: Config,
        invoker: Invoker,
        store: Kept,
        servers: Servers,
    ) -> Result<Self, Failure> {
        let unreadable = |error| Failure::finding(&error);
        let system = match &command.system {
            Some(system) => system.clone(),
            None => config
                .get_or("system", SYSTEM.to_owned())
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
            conversation: command.conversation.clone().unwrap_or_else(fresh),
            node: holder(),
            prices: prices(&config)?,
            config,
            invoker,
            servers,
            system,
            hosted,
            limits,
            ask: command.ask,
            yes: command.yes,
        })
    }

    /// Makes the chat of a model; whoever has to be asked is asked through `lines`.
    pub(crate) fn chat(&self, model: &Arc<dyn Model>, lines: Arc<dyn Lines>) -> Chat {
        let yes = self.yes;
        let mut builder = Chat::builder(Arc::clone(model), &self.invoker)
            .system(&self.system)
            .store(Arc::clone(self.store.store()))
            .node(&self.node)
            .lease_duration(LEASE)
            .limits(self.limits.clone())
            .prices(self.prices.clone())
            .approver(Terminal { yes, lines });
        for hosted in self.hosted.iter().filter(|hosted| !self.is_ours(hosted)) {
            builder = builder.hosted_tool(hosted.clone());
        }
        if self.ask {
            builder = builder.ask_before_each_call();
        }
        builder.build()
    }

    /// Whether we have attached what the vendor could: then it stays ours, whoever the model is.
    fn is_ours(&self, hosted: &HostedTool) -> bool {
        matches!(hosted, HostedTool::Mcp(group) if self.servers.has(&group.name))
    }
}

/// Attaches the servers of the settings, except those that the vendor of the model attaches.
pub(crate) async fn attach(
    servers: &Servers,
    config: &Config,
    model: &dyn Model,
) -> Result<(), Failure> {
    let groups = config.mcp_servers();
    let mut groups = groups
        .map_err(|error| Failure::finding(&error))?
        .into_iter();
    let hosted = groups.any(|group| model.supports_hosted_tool(&HostedTool::Mcp(group)));
    servers.attach(wanted(config, hosted)?).await;
    Ok(())
}

/// The name of a new conversation: later ones sort after earlier ones.
pub(crate) fn fresh() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    format!("chat-{millis:012x}-{:04x}", std::process::id() & 0xffff)
}
