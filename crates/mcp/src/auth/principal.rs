//! Whoever sent a request, once they were let in.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::time::Instant;
use toolwright_core::{Caller, Invoker, ToolSpec};

use super::scoped_tools::ScopedTools;

/// Whoever sent a request, once they were let in: who it is, what was granted, what they reach.
#[derive(Clone)]
pub struct Principal {
    pub(crate) caller: Caller,
    pub(crate) scoped_tools: Arc<ScopedTools>,
    /// Whether the credential names its subject: a shared token does not.
    pub(crate) is_identified: bool,
    /// What was granted; nothing where nobody is asked for scopes.
    pub(super) scopes: Option<Arc<BTreeSet<String>>>,
    /// When the credential expires, by the clock of the machine and by one that does not jump.
    pub(super) expiry: Option<Expiry>,
}

/// When a credential expires.
#[derive(Clone, Copy)]
pub(super) struct Expiry {
    pub(super) wall_clock: SystemTime,
    pub(super) deadline: Instant,
}

impl Principal {
    /// Lets somebody in who reaches everything.
    pub(crate) fn unrestricted(caller: Caller, identified: bool, reach: &Arc<ScopedTools>) -> Self {
        Self {
            caller,
            scoped_tools: Arc::clone(reach),
            is_identified: identified,
            scopes: None,
            expiry: None,
        }
    }

    /// Returns on whose behalf they call.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the scopes of their token, those that are implied included.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes
            .iter()
            .flat_map(|scopes| scopes.iter().map(String::as_str))
    }

    /// Returns the invoker of what they reach, and of nothing else.
    pub fn invoker(&self) -> &Invoker {
        &self.scoped_tools.invoker
    }

    /// Returns the subject that the credential names; `None` for a token that several people share, and without credentials.
    pub fn subject(&self) -> Option<&str> {
        self.caller.name().filter(|_| self.is_identified)
    }

    /// Returns true if the scopes of the credential open this tool, by the rules of this server.
    pub fn may_use(&self, tool: &ToolSpec) -> bool {
        self.scoped_tools.allows(tool)
    }

    /// Returns true if scopes limit what is reached.
    pub fn is_scoped(&self) -> bool {
        self.scoped_tools.is_scoped()
    }

    /// Returns when the credential expires, by the clock of the machine; `None` if it does not.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expiry.map(|expiry| expiry.wall_clock)
    }

    /// Returns true if the credential has expired.
    pub fn is_expired(&self) -> bool {
        self.expiry
            .is_some_and(|expiry| expiry.deadline <= Instant::now())
    }

    /// Waits until the credential expires; for ever, if it does not.
    pub async fn wait_expired(&self) {
        match self.expiry {
            Some(expiry) => tokio::time::sleep_until(expiry.deadline).await,
            None => std::future::pending().await,
        }
    }
}

impl std::fmt::Debug for Principal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visitor")
            .field("caller", &self.caller)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
