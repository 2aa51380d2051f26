//! The authenticated sender of a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use toolwright_core::{Caller, Invoker, ToolSpec};

use crate::scoped_tools::ScopedTools;

/// The authenticated sender of a request: its caller, its scopes, and the tools that they grant.
#[derive(Clone)]
pub struct Principal {
    pub(crate) caller: Caller,
    pub(crate) scoped_tools: Arc<ScopedTools>,
    /// Whether the credential names its subject: a shared token does not.
    pub(crate) is_identified: bool,
    /// The scopes of its identity, implied ones included; `None` for a configured token and without credentials.
    pub(crate) scopes: Option<Arc<BTreeSet<String>>>,
    pub(crate) display_name: Option<Arc<str>>,
    pub(crate) roles: Arc<BTreeSet<String>>,
    pub(crate) claims: Arc<BTreeMap<String, BTreeSet<String>>>,
    pub(crate) expiry: Option<Expiry>,
}

/// When a credential expires, by the clock of the machine and by the monotonic clock.
#[derive(Clone, Copy)]
pub(crate) struct Expiry {
    pub(crate) wall_clock: SystemTime,
    pub(crate) deadline: Instant,
}

/// Timers are set no further ahead, whatever the expiry is.
const MAX_TIMER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl Expiry {
    /// Returns `None` if the time is not in the future.
    pub(crate) fn new(at: SystemTime) -> Option<Self> {
        let left = at.duration_since(SystemTime::now()).ok().filter(|left| !left.is_zero())?;
        Some(Self { wall_clock: at, deadline: Instant::now() + left.min(MAX_TIMER) })
    }
}

impl Principal {
    /// A principal without scopes and expiry.
    pub(crate) fn unrestricted(
        caller: Caller,
        is_identified: bool,
        all_tools: &Arc<ScopedTools>,
    ) -> Self {
        Self {
            caller,
            scoped_tools: Arc::clone(all_tools),
            is_identified,
            scopes: None,
            display_name: None,
            roles: Arc::default(),
            claims: Arc::default(),
            expiry: None,
        }
    }

    /// Returns the caller that tools see.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the scopes of its identity, implied ones included.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.scopes.iter().flat_map(|scopes| scopes.iter().map(String::as_str))
    }

    /// Returns the roles of its identity.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }

    /// Returns true if its identity has this role.
    pub fn has_role(&self, role: &str) -> bool {
        self.roles.contains(role)
    }

    /// Returns the claims of its identity, with the values of each.
    pub fn claims(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.claims
    }

    /// Returns true if a claim of its identity has this value, or has it among others.
    pub fn has_claim(&self, name: &str, value: &str) -> bool {
        self.claims.get(name).is_some_and(|values| values.contains(value))
    }

    /// Returns the name that other people see; `None` if the identity has only a subject.
    pub fn display_name(&self) -> Option<&str> {
        self.display_name.as_deref()
    }

    /// Returns the invoker of the tools that it may use.
    pub fn invoker(&self) -> &Invoker {
        self.scoped_tools.invoker()
    }

    /// Returns the tools that it may use; principals with the same scopes share them.
    pub fn scoped_tools(&self) -> &Arc<ScopedTools> {
        &self.scoped_tools
    }

    /// Returns the subject of the credential; `None` for a token that several people share, and without credentials.
    pub fn subject(&self) -> Option<&str> {
        self.caller.name().filter(|_| self.is_identified)
    }

    /// Returns true if the scopes of the credential grant this tool.
    pub fn may_use(&self, tool: &ToolSpec) -> bool {
        self.scoped_tools.allows(tool)
    }

    /// Returns true if scopes limit the tools that it may use.
    pub fn is_scoped(&self) -> bool {
        self.scoped_tools.is_scoped()
    }

    /// Returns when the credential expires, by the clock of the machine; `None` if it does not.
    pub fn expires_at(&self) -> Option<SystemTime> {
        self.expiry.map(|expiry| expiry.wall_clock)
    }

    /// Returns true if the credential has expired.
    pub fn is_expired(&self) -> bool {
        self.expiry.is_some_and(|expiry| expiry.deadline <= Instant::now())
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
        f.debug_struct("Principal")
            .field("caller", &self.caller)
            .field("scopes", &self.scopes)
            .field("roles", &self.roles)
            .finish_non_exhaustive()
    }
}
