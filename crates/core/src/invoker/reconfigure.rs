//! An invoker in, one that differs in a single thing out.

use std::sync::Arc;

use futures::stream::Stream;

use super::{Invoker, InvokerInner, ToolSource, builder};
use crate::error::{InvokerError, RegistryError};
use crate::invoker::approval::{ApprovalSigner, Approver};
use crate::registry::View;
use crate::tool::ToolSpec;
use crate::tool::policy::Policy;

impl Invoker {
    /// Returns an invoker that goes on with the tools as they are now, whatever the registry does.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn with_fixed_snapshot(&self) -> Result<Self, RegistryError> {
        let source = ToolSource::Fixed(self.snapshot()?);
        Ok(self.clone_with(|shared| shared.tool_source = source))
    }

    /// Returns an invoker with the same set-up and other tools: a request's own, or fewer.
    ///
    /// It sees the registry as it is, and its tools as they are: what was pinned or adjusted before is not.
    ///
    /// # Errors
    ///
    /// As [`InvokerBuilder::build`](crate::InvokerBuilder::build).
    pub fn with_view(&self, change: impl FnOnce(View) -> View) -> Result<Self, InvokerError> {
        let given = change(self.0.base_view.clone());
        let shared = &self.0;
        let source = builder::configure_and_check_view(
            given.clone(),
            &shared.invoker_context,
            &shared.tool_settings,
        )?;
        let source = ToolSource::Live(source);
        Ok(self.clone_with(|shared| (shared.base_view, shared.tool_source) = (given, source)))
    }

    /// Returns an invoker that treats calls otherwise, whatever tools, settings and earlier adjustments say.
    ///
    /// It sees the registry as it is, even where it was pinned before.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn with_policy(
        &self,
        change: impl Fn(&ToolSpec, &mut Policy) + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        let shared = &self.0;
        let view = match &shared.tool_source {
            ToolSource::Live(view) => view.clone(),
            ToolSource::Fixed(_) => builder::configure_view(
                shared.base_view.clone(),
                &shared.invoker_context,
                &shared.tool_settings,
            ),
        };
        let view = view.map_policy(change);
        view.snapshot()?;
        Ok(self.clone_with(|shared| shared.tool_source = ToolSource::Live(view)))
    }

    /// Tells whether there is somebody to ask before a dangerous call runs.
    pub fn has_approver(&self) -> bool {
        self.0.options.approver.is_some()
    }

    /// Returns an invoker that asks somebody else.
    pub fn with_approver(&self, approver: impl Approver + 'static) -> Self {
        self.clone_with(|shared| shared.options.approver = Some(Arc::new(approver)))
    }

    /// Returns an invoker that makes and takes these approvals.
    pub fn with_approval_signer(&self, approvals: Arc<ApprovalSigner>) -> Self {
        self.clone_with(|shared| shared.signer = approvals)
    }

    /// Streams the version of the registry behind the tools, as
    /// [`Registry::changes`](crate::Registry::changes) does.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        self.0.base_view.changes()
    }

    fn clone_with(&self, change: impl FnOnce(&mut InvokerInner)) -> Self {
        let mut shared = InvokerInner::clone(&self.0);
        change(&mut shared);
        Self(Arc::new(shared))
    }
}
