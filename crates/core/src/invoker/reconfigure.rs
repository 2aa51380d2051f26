//! Copies of an invoker with other tools, policies or approvers.

use std::sync::Arc;

use futures::stream::Stream;

use super::{Invoker, InvokerInner, ToolSource, builder};
use crate::error::{InvokerError, RegistryError};
use crate::invoker::approval::{ApprovalSigner, Approver};
use crate::registry::View;
use crate::tool::policy::Policy;
use crate::tool::{Tool, ToolSpec};

impl Invoker {
    /// Returns an invoker with the current tools, which ignores later changes of the registry.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn with_fixed_snapshot(&self) -> Result<Self, RegistryError> {
        let source = ToolSource::Fixed(self.snapshot()?);
        Ok(self.clone_with(|inner| inner.tool_source = source))
    }

    /// Returns an invoker with the same state and options and other tools: more, for one request, or fewer.
    ///
    /// It follows the registry's changes. [`with_fixed_snapshot`](Self::with_fixed_snapshot) and
    /// [`with_policy`](Self::with_policy) of this invoker have no effect on it.
    ///
    /// # Errors
    ///
    /// As [`InvokerBuilder::build`](crate::InvokerBuilder::build).
    pub fn with_view(&self, change: impl FnOnce(View) -> View) -> Result<Self, InvokerError> {
        let base_view = change(self.0.base_view.clone());
        let view = builder::configure_view(
            base_view.clone(),
            &self.0.invoker_context,
            &self.0.tool_settings,
        );
        let source = ToolSource::Live(view);
        self.clone_with(|inner| (inner.base_view, inner.tool_source) = (base_view, source))
            .check_dependencies()
    }

    /// Returns an invoker with other policies; `change` overrides definitions, settings and earlier changes.
    ///
    /// It follows the registry's changes, even if this invoker has a fixed snapshot.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn with_policy(
        &self,
        change: impl Fn(&ToolSpec, &mut Policy) + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        let inner = &self.0;
        let view = match &inner.tool_source {
            ToolSource::Live(view) => view.clone(),
            ToolSource::Fixed(_) => builder::configure_view(
                inner.base_view.clone(),
                &inner.invoker_context,
                &inner.tool_settings,
            ),
        };
        let view = view.map_policy(change);
        view.snapshot()?;
        Ok(self.clone_with(|inner| inner.tool_source = ToolSource::Live(view)))
    }

    /// Returns an invoker with these tools beside its own. Neither its settings nor its layers and policies apply to them. They
    /// hide tools of the same names that the registry gets later.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub(crate) fn with_added_tools(&self, added: &[Tool]) -> Result<Self, RegistryError> {
        let source = match &self.0.tool_source {
            ToolSource::Live(view) => {
                let names = added.iter().map(|tool| tool.name().to_string());
                ToolSource::Live(view.clone().exclude(names).with(added.to_vec()))
            }
            ToolSource::Fixed(snapshot) => ToolSource::Fixed(Arc::new(snapshot.with_tools(added))),
        };
        let invoker = self.clone_with(|inner| inner.tool_source = source);
        invoker.snapshot()?;
        Ok(invoker)
    }

    /// Returns true if there is an approver.
    pub fn has_approver(&self) -> bool {
        self.0.options.approver.is_some()
    }

    /// Returns an invoker with another approver.
    pub fn with_approver(&self, approver: impl Approver + 'static) -> Self {
        self.clone_with(|inner| inner.options.approver = Some(Arc::new(approver)))
    }

    /// Returns an invoker with another signer of approval tokens.
    #[doc(hidden)]
    pub fn with_approval_signer(&self, signer: Arc<ApprovalSigner>) -> Self {
        self.clone_with(|inner| inner.signer = signer)
    }

    /// Streams the version of the registry, as [`Registry::changes`](crate::Registry::changes) does.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        self.0.base_view.changes()
    }

    fn clone_with(&self, change: impl FnOnce(&mut InvokerInner)) -> Self {
        let mut inner = InvokerInner::clone(&self.0);
        change(&mut inner);
        Self(Arc::new(inner))
    }
}
