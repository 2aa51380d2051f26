//! Checks that the scopes of a principal grant the subject of a request.
//!
//! The error names the scope that would grant it, so that clients can request it. What no scope grants is answered as if it did
//! not exist.

use toolwright_core::{Snapshot, ToolSpec};

use crate::server::{Challenge, Request, RpcError};

impl Request {
    /// Checks that a tool or prompt is granted, if `find` finds it.
    pub(crate) fn check_named_scope(
        &self,
        find: impl FnOnce(&Snapshot) -> Option<&ToolSpec>,
    ) -> Result<(), RpcError> {
        if !self.tools().is_scoped() {
            return Ok(());
        }
        let snapshot = self.server.0.all_tools.invoker().snapshot()?;
        find(&snapshot).map_or(Ok(()), |spec| self.check_scope(spec))
    }

    /// Returns an error if a scope that the principal lacks would grant it.
    pub(crate) fn check_scope(&self, spec: &ToolSpec) -> Result<(), RpcError> {
        let snapshot = self.server.0.all_tools.invoker().snapshot()?;
        match self.tools().missing_scope(spec, &snapshot) {
            Some(scope) => Err(RpcError::insufficient_scope(scope, self.scope_challenge(scope))),
            None => Ok(()),
        }
    }

    #[cfg(feature = "http")]
    fn scope_challenge(&self, scope: &str) -> Option<Challenge> {
        self.server.0.auth.insufficient_scope(scope)
    }

    #[cfg(not(feature = "http"))]
    fn scope_challenge(&self, _: &str) -> Option<Challenge> {
        None
    }

    /// Returns true if the resource at an address is granted, or there is none.
    pub(crate) fn is_resource_visible(&self, uri: &str) -> bool {
        let resources = self.server.0.resources.iter();
        let mut matching =
            resources.filter(|resource| resource.match_uri(uri).is_some()).peekable();
        matching.peek().is_none()
            || matching.any(|resource| self.tools().allows(resource.tool.spec()))
    }
}
