//! A set of scopes in, the tools as their owner sees them out: found again for everybody with the same.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use toolwright_core::{Invoker, InvokerError, Snapshot, ToolSpec};

use super::scope_rules::ScopeRules;
use crate::server::ListCache;

/// How many sets of scopes are kept.
const MAX_SCOPE_SETS: usize = 64;

/// What somebody reaches: the server's tools through the lens of their scopes, and the lists of these.
pub(crate) struct ScopedTools {
    pub(crate) invoker: Invoker,
    pub(crate) list_cache: ListCache,
    /// What all scopes mean, and which of them are held; nothing where everything is open.
    granted_scopes: Option<(Arc<ScopeRules>, BTreeSet<String>)>,
}

impl ScopedTools {
    /// Reaches everything.
    pub(crate) fn unrestricted(invoker: Invoker) -> Self {
        Self {
            invoker,
            list_cache: ListCache::default(),
            granted_scopes: None,
        }
    }

    fn for_scopes(
        whole: &Invoker,
        rules: &Arc<ScopeRules>,
        scopes: BTreeSet<String>,
    ) -> Result<Self, InvokerError> {
        if rules.is_empty() {
            return Ok(Self::unrestricted(whole.clone()));
        }
        let (held, known) = (scopes.clone(), Arc::clone(rules));
        let invoker = whole.with_view(|view| view.filter(move |spec| known.grants(&held, spec)))?;
        Ok(Self {
            invoker,
            list_cache: ListCache::default(),
            granted_scopes: Some((Arc::clone(rules), scopes)),
        })
    }

    /// Tells whether this is open.
    pub(crate) fn allows(&self, spec: &ToolSpec) -> bool {
        let open =
            |(rules, scopes): &(Arc<ScopeRules>, BTreeSet<String>)| rules.grants(scopes, spec);
        self.granted_scopes.as_ref().is_none_or(open)
    }

    /// Returns true if scopes decide what is open.
    pub(crate) fn is_scoped(&self) -> bool {
        self.granted_scopes.is_some()
    }

    /// Tells whether all that the other reaches is reached.
    pub(crate) fn is_superset_of(&self, other: &Self) -> bool {
        match (&self.granted_scopes, &other.granted_scopes) {
            (Some((_, mine)), Some((_, theirs))) => mine.is_superset(theirs),
            (mine, _) => mine.is_none(),
        }
    }

    /// Returns the scope that would open this, if one is missing and there is one.
    pub(crate) fn missing_scope(&self, spec: &ToolSpec, all: &Snapshot) -> Option<&str> {
        let (rules, _) = self
            .granted_scopes
            .as_ref()
            .filter(|_| !self.allows(spec))?;
        rules.least_privileged_scope(spec, all.iter().map(toolwright_core::RegisteredTool::spec))
    }
}

/// The reaches there are.
#[derive(Default)]
pub(super) struct ScopedToolsCache(Mutex<HashMap<BTreeSet<String>, Arc<ScopedTools>>>);

impl ScopedToolsCache {
    /// Finds what these scopes reach.
    pub(super) fn get_or_build(
        &self,
        whole: &Invoker,
        rules: &Arc<ScopeRules>,
        granted: &BTreeSet<String>,
    ) -> Result<Arc<ScopedTools>, InvokerError> {
        let scopes = rules.granting_scopes(granted);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reach) = kept.get(&scopes) {
            return Ok(Arc::clone(reach));
        }
        let reach = Arc::new(ScopedTools::for_scopes(whole, rules, scopes.clone())?);
        if kept.len() >= MAX_SCOPE_SETS {
            kept.clear();
        }
        kept.insert(scopes, Arc::clone(&reach));
        Ok(reach)
    }
}
