//! The tools that a set of scopes grants, shared by all tokens with the same set.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use toolwright_core::{Invoker, InvokerError, RegisteredTool, Snapshot, ToolSpec};

use crate::scope_rules::ScopeRules;

/// How many sets of scopes are cached.
const MAX_SCOPE_SETS: usize = 64;

/// The tools that a principal may use: all of a server's, or those that its scopes grant.
pub struct ScopedTools {
    invoker: Invoker,
    /// The rules and the granted scopes; `None` where all tools are granted.
    granted: Option<(Arc<ScopeRules>, BTreeSet<String>)>,
}

impl ScopedTools {
    /// All tools of an invoker, without the limits of any scope.
    pub fn unrestricted(invoker: Invoker) -> Self {
        Self { invoker, granted: None }
    }

    /// Returns the invoker of these tools.
    pub fn invoker(&self) -> &Invoker {
        &self.invoker
    }

    /// Returns the scopes that grant these tools; `None` where all tools are granted.
    pub fn scopes(&self) -> Option<&BTreeSet<String>> {
        self.granted.as_ref().map(|(_, scopes)| scopes)
    }

    /// Returns true if this tool, prompt or resource is granted.
    pub fn allows(&self, spec: &ToolSpec) -> bool {
        let granted = self.granted.as_ref();
        granted.is_none_or(|(rules, scopes)| rules.grants(scopes, spec))
    }

    /// Returns true if scopes limit these tools.
    pub fn is_scoped(&self) -> bool {
        self.granted.is_some()
    }

    /// Returns true if these are all tools of the other, or more.
    pub fn is_superset_of(&self, other: &Self) -> bool {
        match (self.scopes(), other.scopes()) {
            (Some(own), Some(other)) => own.is_superset(other),
            (own, _) => own.is_none(),
        }
    }

    /// Returns the scope to request for a tool that is not granted: the one that grants the least of `all` beside it. `None` if
    /// the tool is granted, or no scope grants it.
    pub fn missing_scope(&self, spec: &ToolSpec, all: &Snapshot) -> Option<&str> {
        let (rules, _) = self.granted.as_ref().filter(|_| !self.allows(spec))?;
        rules.least_privileged_scope(spec, all.iter().map(RegisteredTool::spec))
    }
}

impl std::fmt::Debug for ScopedTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScopedTools").field("scopes", &self.scopes()).finish_non_exhaustive()
    }
}

/// The tools of each set of scopes that was seen so far.
#[derive(Default)]
pub(crate) struct ScopedToolsCache(Mutex<HashMap<BTreeSet<String>, Arc<ScopedTools>>>);

impl ScopedToolsCache {
    /// Returns the tools that these scopes grant.
    pub(crate) fn get_or_build(
        &self,
        all_tools: &Invoker,
        rules: &Arc<ScopeRules>,
        granted: &BTreeSet<String>,
    ) -> Result<Arc<ScopedTools>, InvokerError> {
        let scopes = rules.granting_scopes(granted);
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tools) = cache.get(&scopes) {
            return Ok(Arc::clone(tools));
        }
        let mut tools = ScopedTools::unrestricted(all_tools.clone());
        if !rules.is_empty() {
            let (filter, granted) = (Arc::clone(rules), scopes.clone());
            tools.invoker = all_tools
                .with_view(|view| view.filter(move |spec| filter.grants(&granted, spec)))?;
            tools.granted = Some((Arc::clone(rules), scopes.clone()));
        }
        let tools = Arc::new(tools);
        if cache.len() >= MAX_SCOPE_SETS {
            cache.clear();
        }
        cache.insert(scopes, Arc::clone(&tools));
        Ok(tools)
    }
}
