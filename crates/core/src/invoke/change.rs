//! An invoker in, one that differs in a single thing out.

use std::sync::Arc;

use futures::stream::Stream;

use super::{Invoker, Shared, Source, builder};
use crate::approve::{Approvals, Approve};
use crate::error::{InvokerError, RegistryError};
use crate::options::Policy;
use crate::registry::View;
use crate::tool::ToolSpec;

impl Invoker {
    /// Returns an invoker that goes on with the tools as they are now, whatever the registry does.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn pinned(&self) -> Result<Self, RegistryError> {
        let source = Source::Pinned(self.snapshot()?);
        Ok(self.changed(|shared| shared.source = source))
    }

    /// Returns an invoker with the same set-up and other tools: a request's own, or fewer.
    ///
    /// It sees the registry as it is, and its tools as they are: what was pinned or adjusted before is not.
    ///
    /// # Errors
    ///
    /// As [`InvokerBuilder::build`](crate::InvokerBuilder::build).
    pub fn with_view(&self, change: impl FnOnce(View) -> View) -> Result<Self, InvokerError> {
        let given = change(self.0.given.clone());
        let shared = &self.0;
        let source = builder::set_up(given.clone(), &shared.setup, &shared.settings)?;
        let source = Source::Live(source);
        Ok(self.changed(|shared| (shared.given, shared.source) = (given, source)))
    }

    /// Returns an invoker that treats calls otherwise, whatever tools, settings and earlier adjustments say.
    ///
    /// It sees the registry as it is, even where it was pinned before.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn adjusted(
        &self,
        change: impl Fn(&ToolSpec, &mut Policy) + Send + Sync + 'static,
    ) -> Result<Self, RegistryError> {
        let shared = &self.0;
        let view = match &shared.source {
            Source::Live(view) => view.clone(),
            Source::Pinned(_) => {
                builder::set_up_view(shared.given.clone(), &shared.setup, &shared.settings)
            }
        };
        let view = view.adjust(change);
        view.snapshot()?;
        Ok(self.changed(|shared| shared.source = Source::Live(view)))
    }

    /// Tells whether there is somebody to ask before a dangerous call runs.
    pub fn has_approver(&self) -> bool {
        self.0.terms.approver.is_some()
    }

    /// Returns an invoker that asks somebody else.
    pub fn with_approver(&self, approver: impl Approve + 'static) -> Self {
        self.changed(|shared| shared.terms.approver = Some(Arc::new(approver)))
    }

    /// Returns an invoker that makes and takes these approvals.
    pub fn with_approvals(&self, approvals: Arc<Approvals>) -> Self {
        self.changed(|shared| shared.approvals = approvals)
    }

    /// Streams the version of the registry behind the tools, as
    /// [`Registry::changes`](crate::Registry::changes) does.
    pub fn changes(&self) -> impl Stream<Item = u64> + Send + use<> {
        self.0.given.changes()
    }

    fn changed(&self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Shared::clone(&self.0);
        change(&mut shared);
        Self(Arc::new(shared))
    }
}
