//! Checks that the scopes of a principal grant the subject of a request.
//!
//! The error names the scope that would grant it, so that clients can request it. What no scope grants is answered as if it did
//! not exist.

use toolwright_core::ToolSpec;

use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::request::request_context::RequestContext;

impl McpServer {
    /// Checks that a tool is granted, if there is one of this name.
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

    /// Checks that a prompt is granted, if there is one of this name.
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

    /// Returns an error if a scope that the principal lacks would grant it.
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

    /// Returns true if the resource at an address is granted, or there is none.
    pub(crate) fn is_resource_visible(&self, uri: &str, context: &RequestContext) -> bool {
        let tools = self.scoped_tools(context);
        let resources = self.0.resources.iter();
        let mut matching =
            resources.filter(|resource| resource.match_uri(uri).is_some()).peekable();
        matching.peek().is_none() || matching.any(|resource| tools.allows(resource.tool.spec()))
    }
}
