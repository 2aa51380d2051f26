//! Who was let in, and what they may reach.

use std::sync::Arc;

use toolwright_chat::{Ask, Asked};
use toolwright_core::{Caller, Invoker, Scope, Tool};
use toolwright_mcp::Visitor;

/// The bundle of the tools that somebody brings and runs themselves.
pub(crate) const BROUGHT: &str = "brought by the caller";

/// Whether a call is one that whoever asked runs themselves.
pub(crate) fn is_brought(asked: &Asked) -> bool {
    &*asked.tool.bundle == BROUGHT
}

/// Somebody who was let in; cheap to clone.
#[derive(Clone)]
pub(crate) struct Guest {
    pub(crate) caller: Caller,
    /// The tools and prompts that are theirs to reach.
    pub(crate) invoker: Invoker,
    /// The tools of the server that are not.
    hidden: Arc<[String]>,
    /// The tools that they run themselves.
    brought: Arc<[Tool]>,
}

impl Guest {
    /// Somebody who reaches what they were granted of all there is.
    pub(crate) fn new(visitor: &Visitor, all: &Invoker) -> Self {
        let invoker = visitor.invoker().clone();
        let hidden = match (invoker.snapshot(), all.snapshot()) {
            (Ok(theirs), Ok(all)) if Arc::ptr_eq(&theirs, &all) => Vec::new(),
            (Ok(theirs), Ok(all)) => {
                let names = all.iter().map(|entry| entry.spec().name.as_str());
                let names = names.filter(|name| theirs.get(name).is_none());
                names.map(str::to_owned).collect()
            }
            // What cannot be listed cannot be called either.
            _ => Vec::new(),
        };
        Self {
            caller: visitor.caller().clone(),
            invoker,
            hidden: hidden.into(),
            brought: Arc::default(),
        }
    }

    /// Somebody in whose name the server itself acts.
    pub(crate) fn nobody(all: &Invoker) -> Self {
        Self {
            caller: Caller::default(),
            invoker: all.clone(),
            hidden: Arc::default(),
            brought: Arc::default(),
        }
    }

    /// Brings tools of their own, which wait for whoever brought them when they are called.
    #[must_use]
    pub(crate) fn bringing(mut self, tools: Vec<Tool>) -> Self {
        self.brought = tools.into();
        self
    }

    /// In whose name tools are called.
    pub(crate) fn scope(&self) -> Scope {
        Scope::new().caller(self.caller.clone())
    }

    /// Keeps a prompt to what they may reach, among the tools that an endpoint has.
    pub(crate) fn limit(&self, ask: Ask, tools: &Invoker) -> Ask {
        let mut ask = ask.caller(self.caller.clone());
        if !self.brought.is_empty() {
            ask = ask.tools(self.brought.to_vec());
        }
        if self.hidden.is_empty() {
            return ask;
        }
        let Ok(snapshot) = tools.snapshot() else {
            return ask;
        };
        let there = self
            .hidden
            .iter()
            .filter(|name| snapshot.get(name).is_some());
        ask.exclude(there.cloned())
    }
}
