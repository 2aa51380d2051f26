//! A set of scopes in, the tools as their owner sees them out: found again for everybody with the same.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use toolwright_core::{Invoker, InvokerError, Snapshot, ToolSpec};

use super::rules::Rules;
use crate::server::Lists;

/// How many sets of scopes are kept.
const MOST: usize = 64;

/// What somebody reaches: the server's tools through the lens of their scopes, and the lists of these.
pub(crate) struct Reach {
    pub(crate) invoker: Invoker,
    pub(crate) lists: Lists,
    /// What all scopes mean, and which of them are held; nothing where everything is open.
    lens: Option<(Arc<Rules>, BTreeSet<String>)>,
}

impl Reach {
    /// Reaches everything.
    pub(crate) fn whole(invoker: Invoker) -> Self {
        Self {
            invoker,
            lists: Lists::default(),
            lens: None,
        }
    }

    fn through(
        whole: &Invoker,
        rules: &Arc<Rules>,
        scopes: BTreeSet<String>,
    ) -> Result<Self, InvokerError> {
        if rules.are_none() {
            return Ok(Self::whole(whole.clone()));
        }
        let (held, known) = (scopes.clone(), Arc::clone(rules));
        let invoker = whole.with_view(|view| view.filter(move |spec| known.open(&held, spec)))?;
        Ok(Self {
            invoker,
            lists: Lists::default(),
            lens: Some((Arc::clone(rules), scopes)),
        })
    }

    /// Tells whether this is open.
    pub(crate) fn shows(&self, spec: &ToolSpec) -> bool {
        let open = |(rules, scopes): &(Arc<Rules>, BTreeSet<String>)| rules.open(scopes, spec);
        self.lens.as_ref().is_none_or(open)
    }

    /// Returns true if scopes decide what is open.
    pub(crate) fn is_limited(&self) -> bool {
        self.lens.is_some()
    }

    /// Tells whether all that the other reaches is reached.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        match (&self.lens, &other.lens) {
            (Some((_, mine)), Some((_, theirs))) => mine.is_superset(theirs),
            (mine, _) => mine.is_none(),
        }
    }

    /// Returns the scope that would open this, if one is missing and there is one.
    pub(crate) fn missing(&self, spec: &ToolSpec, all: &Snapshot) -> Option<&str> {
        let (rules, _) = self.lens.as_ref().filter(|_| !self.shows(spec))?;
        rules.narrowest(spec, all.iter().map(toolwright_core::Entry::spec))
    }
}

/// The reaches there are.
#[derive(Default)]
pub(super) struct Reaches(Mutex<HashMap<BTreeSet<String>, Arc<Reach>>>);

impl Reaches {
    /// Finds what these scopes reach.
    pub(super) fn of(
        &self,
        whole: &Invoker,
        rules: &Arc<Rules>,
        granted: &BTreeSet<String>,
    ) -> Result<Arc<Reach>, InvokerError> {
        let scopes = rules.deciding(granted);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reach) = kept.get(&scopes) {
            return Ok(Arc::clone(reach));
        }
        let reach = Arc::new(Reach::through(whole, rules, scopes.clone())?);
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(scopes, Arc::clone(&reach));
        Ok(reach)
    }
}
