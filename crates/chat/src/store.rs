//! Where journals are kept.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::{BoxFuture, FutureExt as _, ready};
use toolwright_core::Secret;

use crate::entry::Entry;

/// Somebody who keeps journals: append-only, in order, nothing twice.
pub trait Store: Send + Sync + 'static {
    /// Adds entries to a conversation, all of them or none; durable when it returns.
    ///
    /// An entry whose id is there already is the same one, and is not added again.
    fn append<'a>(
        &'a self,
        conversation: &'a str,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns everything that was appended to a conversation, in order; nothing if nobody knows it.
    fn load<'a>(&'a self, conversation: &'a str) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// Returns the key that approvals are signed with: as long-lived as the journals.
    fn key(&self) -> BoxFuture<'_, Result<Secret, StoreError>>;
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn append<'a>(
        &'a self,
        conversation: &'a str,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        (**self).append(conversation, entries)
    }

    fn load<'a>(&'a self, conversation: &'a str) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        (**self).load(conversation)
    }

    fn key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        (**self).key()
    }
}

/// Why a store cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Says what went wrong and what to do about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    /// Adds what it comes from.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// Keeps journals for as long as the process lives.
#[derive(Default)]
pub struct MemoryStore {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    journals: HashMap<String, Vec<Entry>>,
    key: Option<Secret>,
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn append<'a>(
        &'a self,
        conversation: &'a str,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut kept = self.kept();
        let journal = kept.journals.entry(conversation.to_owned()).or_default();
        for entry in entries {
            // What is appended twice was appended just now.
            if !journal.iter().rev().any(|held| held.id == entry.id) {
                journal.push(entry.clone());
            }
        }
        ready(Ok(())).boxed()
    }

    fn load<'a>(&'a self, conversation: &'a str) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        let journal = self.kept().journals.get(conversation).cloned();
        ready(Ok(journal.unwrap_or_default())).boxed()
    }

    fn key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        let mut kept = self.kept();
        let key = match &kept.key {
            Some(key) => Ok(key.clone()),
            None => random(32).map(Secret::new),
        };
        if let Ok(key) = &key {
            kept.key = Some(key.clone());
        }
        ready(key).boxed()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kept().journals.keys()).finish()
    }
}

/// So many random bytes, as digits.
pub(crate) fn random(bytes: usize) -> Result<String, StoreError> {
    let mut drawn = vec![0; bytes];
    getrandom::fill(&mut drawn).map_err(|error| {
        StoreError::new(format!("the system has no random numbers to give: {error}"))
    })?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}
