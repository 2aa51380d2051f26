//! The [`Store`] of journals: the trait, its errors, and the leases that order its writers.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use toolwright_core::{Content, Secret};

use crate::journal::entry::{Entry, EntryBody};
use crate::journal::store::owner::Owner;

pub(crate) mod lease;
mod memory;
pub(crate) mod owner;

pub use memory::MemoryStore;

/// Stores journals: append-only, in order, each entry once.
///
/// Appending requires the conversation's [`Lease`], so that only one of many nodes runs its turn. A lease that is not renewed in
/// time may be acquired by another holder, and appends of the former holder fail from then on; until then, the lease remains
/// valid.
pub trait Store: Send + Sync + 'static {
    /// Acquires or renews a conversation's lease for `duration`; returns false if another holder has it.
    ///
    /// The duration starts when the lease is written, not when this is called.
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        duration: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Releases a lease; does nothing if it is not held.
    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Appends entries to a conversation, all of them or none; durable when it returns. Requires the conversation's lease.
    ///
    /// An entry whose id is stored already is not appended again.
    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the last entries of a conversation in order, at most `limit`, and only those before the entry with the id
    /// `before`; empty if the conversation does not exist.
    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// Returns at most `limit` conversations, the latest first.
    fn list(&self, limit: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>>;

    /// Returns at most `limit` conversations of one owner, the latest first.
    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>>;

    /// Deletes a conversation. Requires its lease; returns false if it did not exist.
    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Returns the key that approval tokens are signed with; created once, and stored as long as the journals.
    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>>;

    /// Returns an error if the store cannot accept new work now: it cannot be written, or its backlog is too long.
    ///
    /// A server calls this before it accepts a message, and for its readiness probe. An implementation writes something small
    /// and durable, at most about once a second, and reports a backlog with [`StoreError::overloaded`]. The default is for
    /// stores that can always be written.
    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns all entries of a conversation in order; empty if the conversation does not exist.
    fn load<'a>(&'a self, conversation: &'a str) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.tail(conversation, None, usize::MAX)
    }
}

/// The right to append to one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The name of the conversation.
    pub conversation: String,
    /// The name of the holder: a node, or another process that appends.
    pub holder: String,
}

impl Lease {
    /// Creates the lease of a conversation and a holder; [`Store::acquire`] acquires it.
    pub fn new(conversation: impl Into<String>, holder: impl Into<String>) -> Self {
        Self { conversation: conversation.into(), holder: holder.into() }
    }
}

/// A stored conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConversationSummary {
    /// The name of the conversation.
    pub conversation: String,
    /// The beginning of the first message.
    pub title: String,
    /// The number of entries.
    pub entries: u64,
    /// The time of the first entry, in milliseconds since 1970.
    pub began: u64,
    /// The time of the last entry, in milliseconds since 1970.
    pub last: u64,
}

impl ConversationSummary {
    /// Creates the summary of a conversation without entries.
    pub fn empty(conversation: impl Into<String>) -> Self {
        Self {
            conversation: conversation.into(),
            title: String::new(),
            entries: 0,
            began: 0,
            last: 0,
        }
    }

    /// Creates a summary from the first entry, the time of the last one, and their number.
    pub fn new(conversation: impl Into<String>, first: &Entry, last: u64, entries: u64) -> Self {
        Self {
            conversation: conversation.into(),
            title: entry_title(first),
            entries,
            began: first.at,
            last,
        }
    }
}

/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 80;

/// Returns the beginning of a message on one line; empty if the entry is no message or has no text.
pub fn entry_title(entry: &Entry) -> String {
    let (EntryBody::User { content } | EntryBody::Assistant { content }) = &entry.body else {
        return String::new();
    };
    let text = content.iter().find_map(|item| match item {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let words: Vec<&str> =
        text.unwrap_or_default().split_whitespace().take(MAX_TITLE_CHARS).collect();
    words.join(" ").chars().take(MAX_TITLE_CHARS).collect()
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        duration: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).acquire(lease, duration)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        (**self).release(lease)
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        (**self).append(lease, entries)
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        (**self).tail(conversation, before, limit)
    }

    fn list(&self, limit: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        (**self).list(limit)
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        (**self).list_by_owner(owner, limit)
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).delete(lease)
    }

    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        (**self).signing_key()
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        (**self).check_writable()
    }
}

/// An error of a store.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    message: String,
    retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Creates an error with a message that explains what to do about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), retry_after: None, source: None }
    }

    /// Creates the error of an overloaded store; a retry may succeed after `retry_after`.
    pub fn overloaded(message: impl Into<String>, retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::new(message) }
    }

    /// Returns how long to wait before a retry, if the store is overloaded.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Creates the error of a conversation whose lease another holder has.
    pub fn leased_elsewhere(lease: &Lease) -> Self {
        Self::new(format!(
            "conversation `{}` is in the hands of another process; try again when it is done",
            lease.conversation
        ))
    }

    /// Adds the source of the error.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}

/// Returns random bytes as hexadecimal digits, two for each byte.
///
/// # Errors
///
/// When the system has no source of random numbers.
pub fn random_hex(bytes: usize) -> Result<String, StoreError> {
    toolwright_core::__internal::random_hex(bytes).map_err(|error| {
        StoreError::new(format!("the system has no random numbers to give: {error}"))
    })
}

/// Returns a name that no other process has, of a process id and the time: the holder of a [`Lease`].
pub fn unique_node_name(prefix: &str) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("{prefix}-{}-{nanos:x}", std::process::id())
}
