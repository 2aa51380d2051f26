//! What a request is about in, an error out if its scopes do not open it.
//!
//! What some scope opens is refused with the scope that is missing, so that clients can ask for it. What no scope opens
//! is not there: whoever looks for it is answered as if it did not exist.

use toolwright_core::ToolSpec;

use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::request::request_context::RequestContext;

impl McpServer {
    /// Checks that a tool is open, if there is one of this name.
    pub(crate) fn check_tool_scope(
        &self,
        name: &str,
        context: &RequestContext,
    ) -> Result<(), RpcError> {
        if !self.scoped_tools(context).is_scoped() {
            return Ok(());
        }
        let snapshot = self.0.auth.all_tools().invoker().snapshot()?;
        match snapshot.find(name) {
            Some(entry) => self.check_scope(entry.spec(), context),
            None => Ok(()),
        }
    }

    /// Checks that a prompt is open, if there is one of this name.
    pub(crate) fn check_prompt_scope(
        &self,
        name: &str,
        context: &RequestContext,
    ) -> Result<(), RpcError> {
        if !self.scoped_tools(context).is_scoped() {
            return Ok(());
        }
        let snapshot = self.0.auth.all_tools().invoker().snapshot()?;
        match snapshot.prompt(name) {
            Some(prompt) => self.check_scope(prompt.spec(), context),
            None => Ok(()),
        }
    }

    /// Refuses what a scope would open that is missing.
    pub(crate) fn check_scope(
        &self,
        spec: &ToolSpec,
        context: &RequestContext,
    ) -> Result<(), RpcError> {
        let tools = self.scoped_tools(context);
        if !tools.is_scoped() {
            return Ok(());
        }
        let snapshot = self.0.auth.all_tools().invoker().snapshot()?;
        match tools.missing_scope(spec, &snapshot) {
            Some(scope) => {
                let challenge = self.0.auth.insufficient_scope(scope);
                Err(RpcError::insufficient_scope(scope, challenge))
            }
            None => Ok(()),
        }
    }

    /// Tells whether the resource at an address is open.
    pub(crate) fn is_resource_visible(&self, uri: &str, context: &RequestContext) -> bool {
        let tools = self.scoped_tools(context);
        let all = self.0.resources.iter();
        let mut there = all
            .filter(|resource| resource.match_uri(uri).is_some())
            .peekable();
        there.peek().is_none() || there.any(|resource| tools.allows(resource.tool.spec()))
    }
}
