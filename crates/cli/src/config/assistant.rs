//! The settings of a chat that `chat` and `serve` share.

use std::time::Duration;

use toolwright_chat::HostedTool;
use toolwright_core::Config;

use crate::cli_error::CliError;

const DEFAULT_SYSTEM_MESSAGE: &str = "You are a helpful assistant. Use the tools when they help to answer. \
    Say so when you do not know something or when a tool failed; never make up a result.";

/// How long a lease outlives a process that crashed; short, so that a restart can soon continue the conversation.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(10);

/// The system message: the flag `--system`, else the setting `system`, else the default.
pub(crate) fn system_message(flag: Option<&str>, config: &Config) -> Result<String, CliError> {
    match flag {
        Some(system) => Ok(system.to_owned()),
        None => Ok(config.get_or("system", DEFAULT_SYSTEM_MESSAGE.to_owned())?),
    }
}

/// The tools that the settings let the vendor run: web search and the MCP servers of the groups `MCP.*`.
pub(crate) fn hosted_tools(config: &Config) -> Result<Vec<HostedTool>, CliError> {
    let search = config.web_search()?.into_iter().map(HostedTool::WebSearch);
    let servers = config.mcp_servers()?.into_iter().map(HostedTool::Mcp);
    Ok(search.chain(servers).collect())
}
