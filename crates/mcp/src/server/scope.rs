//! What a request is about in, an error out if its scopes do not open it.
//!
//! What some scope opens is refused with the scope that is missing, so that clients can ask for it. What no scope opens
//! is not there: whoever looks for it is answered as if it did not exist.

use toolwright_core::ToolSpec;

use super::McpServer;
use super::error::RpcError;
use super::exchange::Exchange;

impl McpServer {
    /// Checks that a tool is open, if there is one of this name.
    pub(super) fn check_tool(&self, name: &str, exchange: &Exchange) -> Result<(), RpcError> {
        if self.0.door.is_none() {
            return Ok(());
        }
        let snapshot = self.0.whole.invoker.snapshot()?;
        match snapshot.find(name) {
            Some(entry) => self.check_open(entry.spec(), exchange),
            None => Ok(()),
        }
    }

    /// Checks that a prompt is open, if there is one of this name.
    pub(super) fn check_prompt(&self, name: &str, exchange: &Exchange) -> Result<(), RpcError> {
        if self.0.door.is_none() {
            return Ok(());
        }
        let snapshot = self.0.whole.invoker.snapshot()?;
        match snapshot.prompt(name) {
            Some(prompt) => self.check_open(prompt.spec(), exchange),
            None => Ok(()),
        }
    }

    /// Refuses what a scope would open that is missing.
    pub(super) fn check_open(&self, spec: &ToolSpec, exchange: &Exchange) -> Result<(), RpcError> {
        let Some(door) = &self.0.door else {
            return Ok(());
        };
        let snapshot = self.0.whole.invoker.snapshot()?;
        match exchange.reach(&self.0.whole).missing(spec, &snapshot) {
            Some(scope) => Err(RpcError::missing_scope(scope, door.step_up(scope))),
            None => Ok(()),
        }
    }

    /// Tells whether the resource at an address is open.
    pub(super) fn is_shown(&self, uri: &str, exchange: &Exchange) -> bool {
        let reach = exchange.reach(&self.0.whole);
        let all = self.0.resources.iter();
        let mut there = all
            .filter(|resource| resource.matches(uri).is_some())
            .peekable();
        there.peek().is_none() || there.any(|resource| reach.shows(resource.tool.spec()))
    }
}
