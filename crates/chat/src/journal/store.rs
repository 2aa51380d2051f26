//! Where journals are kept.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use toolwright_core::{Content, Secret};

use crate::journal::entry::{Entry, EntryBody};
use crate::journal::store::owner::Owner;

pub(crate) mod lease;
mod memory;
pub(crate) mod owner;

pub use memory::MemoryStore;

/// Somebody who keeps journals: append-only, in order, nothing twice.
///
/// Whoever appends holds the conversation's [`Lease`], so that one of many nodes runs a turn. A lease that its holder does not
/// renew in time may be taken by another, and what the former holder still wants to append is refused then; until another has
/// taken it, it stays its holder's.
pub trait Store: Send + Sync + 'static {
    /// Takes a conversation's lease, or renews it, for so long; `false` if another holds it.
    ///
    /// The time starts when the lease is written, not when it is asked for.
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Gives a lease back; nothing happens if it is not held.
    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Adds entries to a conversation whose lease is held, all of them or none; durable when it returns.
    ///
    /// An entry whose id is there already is the same one, and is not added again.
    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the last entries of a conversation, at most so many, those before the entry of this id; in order, and
    /// nothing if nobody knows the conversation.
    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>>;

    /// Returns what conversations there are, the latest first, at most so many.
    fn list(&self, most: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>>;

    /// Returns the conversations of one owner, the latest first, at most so many.
    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>>;

    /// Forgets a conversation whose lease is held; tells whether there was one.
    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Returns the key that approvals are signed with: as long-lived as the journals.
    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>>;

    /// Returns an error if the store cannot take on new work now: it cannot be written, or is too far behind with what it has.
    ///
    /// A server calls this before it accepts a message, and for its readiness probe. An implementation writes something small
    /// and durable, at most about once a second, and reports a backlog with [`StoreError::overloaded`]. The default is for
    /// stores that can always be written.
    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    /// Returns everything that was appended to a conversation, in order; nothing if nobody knows it.
    fn load<'a>(&'a self, conversation: &'a str) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.tail(conversation, None, usize::MAX)
    }
}

/// The right to append to one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// To which.
    pub conversation: String,
    /// Whose: a node, or whoever else acts on its own.
    pub holder: String,
}

impl Lease {
    /// Names a conversation and who wants it.
    pub fn new(conversation: impl Into<String>, holder: impl Into<String>) -> Self {
        Self {
            conversation: conversation.into(),
            holder: holder.into(),
        }
    }
}

/// What a list of conversations shows of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConversationSummary {
    /// Which.
    pub conversation: String,
    /// The beginning of what was said first.
    pub title: String,
    /// How many entries it has.
    pub entries: u64,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// When something happened in it last.
    pub last: u64,
}

impl ConversationSummary {
    /// Sums up a conversation in which nothing was said.
    pub fn empty(conversation: impl Into<String>) -> Self {
        Self {
            conversation: conversation.into(),
            title: String::new(),
            entries: 0,
            began: 0,
            last: 0,
        }
    }

    /// Sums a journal up by its first and last entries.
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

/// How many characters of what was said make a title.
const MAX_TITLE_CHARS: usize = 80;

/// The beginning of what an entry says, on one line.
pub fn entry_title(entry: &Entry) -> String {
    let (EntryBody::User { content } | EntryBody::Assistant { content }) = &entry.body else {
        return String::new();
    };
    let said = content.iter().find_map(|item| match item {
        Content::Text { text } => Some(text.as_str()),
        _ => None,
    });
    let words: Vec<&str> = said
        .unwrap_or_default()
        .split_whitespace()
        .take(MAX_TITLE_CHARS)
        .collect();
    words.join(" ").chars().take(MAX_TITLE_CHARS).collect()
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).acquire(lease, life)
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
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        (**self).tail(conversation, before, most)
    }

    fn list(&self, most: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        (**self).list(most)
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        (**self).list_by_owner(owner, most)
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

/// Why a store cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct StoreError {
    message: String,
    retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl StoreError {
    /// Says what went wrong and what to do about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            retry_after: None,
            source: None,
        }
    }

    /// Makes the error of a store that has too much to do; it may well succeed after `retry_after`.
    pub fn overloaded(message: impl Into<String>, retry_after: Duration) -> Self {
        Self {
            retry_after: Some(retry_after),
            ..Self::new(message)
        }
    }

    /// Returns when to try again, if the store only has too much to do.
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Says that the conversation is in another's hands.
    pub fn leased_elsewhere(lease: &Lease) -> Self {
        Self::new(format!(
            "conversation `{}` is in the hands of another process; try again when it is done",
            lease.conversation
        ))
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

/// So many random bytes, as digits.
pub(crate) fn random_hex(bytes: usize) -> Result<String, StoreError> {
    let mut drawn = vec![0; bytes];
    getrandom::fill(&mut drawn).map_err(|error| {
        StoreError::new(format!("the system has no random numbers to give: {error}"))
    })?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}
