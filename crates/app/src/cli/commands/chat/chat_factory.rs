//! Builds the chats of a process: the settings that stay the same while the model and the conversation change.

use std::sync::Arc;

use toolwright_chat::{Chat, HostedTool, Model, Prices, ToolSearch, TurnLimits, unique_node_name};
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::Invoker;

use crate::cli::cli_error::CliError;
use crate::cli::terminal::approval::TerminalApprover;
use crate::cli::terminal::input::LineReader;
use crate::project::Project;
use crate::project::assistant::{LEASE_DURATION, system_message};
use crate::project::conversation_store::ConversationStore;
use crate::remote_servers::RemoteServers;
use crate::setup::AppSetup;

/// The settings of every chat of this process.
pub(crate) struct ChatFactory<'a> {
    pub(crate) project: &'a Project,
    setup: &'a AppSetup,
    pub(crate) invoker: Invoker,
    pub(crate) store: ConversationStore,
    pub(crate) conversation_id: String,
    /// The owner of the leases that this process acquires.
    pub(crate) node_name: String,
    pub(crate) servers: &'a RemoteServers,
    system: String,
    /// Includes MCP servers that may also be attached locally; those are filtered when a chat is built.
    hosted_tools: Vec<HostedTool>,
    prices: Prices,
    tool_search: ToolSearch,
    limits: TurnLimits,
    max_calls: Option<usize>,
    ask_before_each_call: bool,
    approve_all: bool,
}

impl<'a> ChatFactory<'a> {
    /// Reads flags and settings.
    pub(crate) fn new(
        command: &super::ChatArgs,
        project: &'a Project,
        setup: &'a AppSetup,
        invoker: Invoker,
        store: ConversationStore,
        servers: &'a RemoteServers,
    ) -> Result<Self, CliError> {
        let config = project.config();
        Ok(Self {
            store,
            conversation_id: command.conversation.clone().unwrap_or_else(new_conversation_id),
            node_name: unique_node_name("process"),
            system: system_message(config)?,
            hosted_tools: HostedTool::from_config(config)?,
            prices: Prices::from_config(config)?,
            tool_search: ToolSearch::from_config(config)?,
            project,
            setup,
            invoker,
            servers,
            limits: TurnLimits::from_config(config)?,
            max_calls: command.max_calls,
            ask_before_each_call: command.ask,
            approve_all: command.yes,
        })
    }

    /// Builds the chat of a model; approval questions are answered through `reader`.
    pub(crate) fn build_chat(&self, model: &Arc<dyn Model>, reader: Arc<dyn LineReader>) -> Chat {
        let builder = Chat::builder(&self.invoker, Arc::clone(model));
        let builder = builder.tool_search(self.tool_search.clone()).limits(self.limits.clone());
        let mut builder = self
            .setup
            .configure_chat(builder)
            .system(&self.system)
            .store(Arc::clone(self.store.store()))
            .node(&self.node_name)
            .lease_duration(LEASE_DURATION)
            .configure_limits(|limits| limits.calls = self.max_calls.unwrap_or(limits.calls))
            .prices(self.prices.clone())
            .approver(TerminalApprover { approve_all: self.approve_all, reader });
        for tool in &self.hosted_tools {
            if !self.servers.is_attached_locally(tool) {
                builder = builder.hosted_tool(tool.clone());
            }
        }
        if self.ask_before_each_call {
            builder = builder.ask_before_each_call();
        }
        builder.build()
    }
}

/// The ID of a new conversation; IDs sort by time of creation.
pub(crate) fn new_conversation_id() -> String {
    format!("chat-{:012x}-{:04x}", unix_millis_now(), std::process::id() & 0xffff)
}
