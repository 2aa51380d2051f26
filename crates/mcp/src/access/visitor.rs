//! Whoever sent a request, once they were let in.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::time::Instant;
use toolwright_core::{Caller, Invoker};

use super::reach::Reach;

/// Whoever sent a request, once they were let in: who it is, what was granted, what they reach.
#[derive(Clone)]
pub struct Visitor {
    pub(crate) caller: Caller,
    pub(crate) reach: Arc<Reach>,
    /// What was granted; nothing where nobody is asked for scopes.
    pub(super) scopes: Option<Arc<BTreeSet<String>>>,
    /// When their token ends.
    pub(super) until: Option<Instant>,
}

impl Visitor {
    /// Lets somebody in who reaches everything.
    pub(crate) fn anywhere(caller: Caller, reach: &Arc<Reach>) -> Self {
        Self {
            caller,
            reach: Arc::clone(reach),
            scopes: None,
            until: None,
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
        &self.reach.invoker
    }

    /// Waits until their token ends; for ever, if it does not.
    pub(crate) async fn expired(&self) {
        match self.until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }
}

impl std::fmt::Debug for Visitor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Visitor")
            .field("caller", &self.caller)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
