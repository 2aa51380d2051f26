//! The [`Store`] of journals: the trait, and the leases that order its writers.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use toolwright_core::{Content, Secret, SharedState};

use crate::journal::entry::{Entry, EntryBody, is_turn_over};
use crate::journal::store::inbox::InboxItem;
use crate::journal::store::owner::Owner;

mod delegate;
mod error;
pub(crate) mod inbox;
pub(crate) mod lease;
mod memory;
pub(crate) mod owner;

pub use error::StoreError;
pub use memory::MemoryStore;

/// The future of an operation of a [`Store`].
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, StoreError>>;

/// Stores conversations: a journal of entries, append-only, and an inbox of items that wait to be moved into the journal.
///
/// Appending requires the conversation's [`Lease`], so that only one of many nodes runs its turn. A lease that is not renewed in
/// time may be acquired by another holder, and appends of the former holder fail from then on; until then, the lease remains
/// valid. The inbox needs no lease: what a node accepts from a client is stored there, whichever node holds the lease.
pub trait Store: Send + Sync + 'static {
    /// Returns which processes may use the same store at the same time. It never changes.
    fn scope(&self) -> StoreScope;

    /// Acquires the lease of a conversation for `duration`; `None` if another holder has it.
    ///
    /// A holder that has the lease already acquires it again: so does a process that was restarted under the same name. Every
    /// acquisition raises the term, and a lease of an earlier term is no longer valid. The duration starts when the lease is
    /// written, not when this is called.
    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>>;

    /// Renews a lease for `duration`; returns false if it is not valid any more.
    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool>;

    /// Releases a lease; does nothing if it is not valid any more.
    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()>;

    /// Returns the term of the last acquisition of a conversation's lease, or of a conversation of this name that was deleted,
    /// and the holder whose lease has not expired.
    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus>;

    /// Appends entries to a conversation and removes items from its inbox: all of it or nothing. Requires the lease.
    ///
    /// An entry whose id is stored already is not appended again. New entries are not appended if one of the items is not in
    /// the inbox any more, with [`StoreError::Withdrawn`]: it was withdrawn after the holder had read it.
    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()>;

    /// Adds an item to the inbox of a conversation, unless it has `limit` items: then returns `None`. Durable when it returns.
    ///
    /// Positions rise from item to item. An item is marked as [resuming](InboxItem::resumes) if it is a decision or a stop, or
    /// if the turn is paused now. An item that was added before is not added again: returns its position, or 0 if an entry of
    /// the same id shows that it was taken.
    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>>;

    /// Returns the inbox of a conversation in order.
    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>>;

    /// Removes an item from an inbox; returns false if it is not there any more.
    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool>;

    /// Returns at most `limit` conversations that no holder attends to: their lease is free or has expired, and their turn is
    /// [running](TurnStatus::Running) or their inbox has items. While a turn is paused, only items that resume it count.
    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>>;

    /// Returns at most `limit` conversations whose lease this holder has, and that would be [unattended](Self::list_unattended)
    /// without it: a process that is started under the name of another attends to what that has left, before the leases expire.
    ///
    /// The default returns none: the leases of such a store expire.
    fn list_held_by<'a>(&'a self, _holder: &'a str, _limit: usize) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    /// Returns the last entries of a conversation in order, at most `limit`, up to `end`; empty if the conversation or the
    /// entry that `end` names does not exist.
    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>>;

    /// Returns at most `limit` conversations, the latest first.
    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>>;

    /// Returns at most `limit` conversations of one owner, the latest first.
    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>>;

    /// Returns at most `limit` conversations whose last entry is older than `time`, in milliseconds since 1970, the oldest
    /// first.
    fn list_older_than(&self, time: u64, limit: usize)
    -> StoreFuture<'_, Vec<ConversationSummary>>;

    /// Deletes a conversation with its inbox. Requires its lease; returns false if it did not exist.
    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool>;

    /// Deletes a conversation if its last entry is older than `time`, its turn is over and its inbox is empty: all of it is
    /// checked with the deletion, so that no item is lost that is added meanwhile. Requires its lease; otherwise returns false.
    fn delete_expired<'a>(&'a self, lease: &'a Lease, time: u64) -> StoreFuture<'a, bool>;

    /// Returns the keys that approvals are signed with, the newest first; created once, and stored as long as the journals.
    ///
    /// The newest key signs, and all of them verify.
    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>>;

    /// Adds a new signing key, which signs from now on; at most `keep` keys remain.
    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()>;

    /// Returns an error if the store cannot accept new work now: it cannot be written, or its backlog is too long.
    ///
    /// A server calls this before it accepts a message, and for its readiness probe. An implementation writes something small
    /// and durable, at most about once a second, and reports a backlog with [`StoreError::Overloaded`]. The default is for
    /// stores that can always be written.
    fn check_writable(&self) -> StoreFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Returns the values and counters that all programs with this store share: sessions, limits, pins.
    ///
    /// A store that has no place for them returns a [`MemorySharedState`](toolwright_core::MemorySharedState) that it owns: then
    /// each process has its own.
    fn shared_state(&self) -> Arc<dyn SharedState>;

    /// Returns all entries of a conversation in order; empty if the conversation does not exist.
    fn load<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<Entry>> {
        self.tail(conversation, TailEnd::Newest, usize::MAX)
    }
}

/// Which processes may use the same store at the same time, each having opened it: they then see each other's leases, inboxes and
/// shared state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StoreScope {
    /// One: the store is in its memory, or it locks its files.
    Process,
    /// Those of one machine.
    Machine,
    /// The nodes of a cluster, on any machine.
    Cluster,
}

/// The right to append to one conversation, from one acquisition to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The name of the conversation.
    pub conversation: String,
    /// The name of the holder: a node, or another process that appends.
    pub holder: String,
    /// The number of the acquisition, which rises each time the conversation is acquired.
    pub term: u64,
}

impl Lease {
    /// Creates the lease of one acquisition; for stores, which return it from [`Store::acquire`].
    pub fn new(conversation: impl Into<String>, holder: impl Into<String>, term: u64) -> Self {
        Self { conversation: conversation.into(), holder: holder.into(), term }
    }
}

/// The status of a conversation's lease, as [`Store::lease_status`] returns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeaseStatus {
    /// The number of the last acquisition.
    pub term: u64,
    /// The name of the holder; `None` if the lease is free or has expired, so that any holder can acquire it.
    pub holder: Option<String>,
    /// True if the lease has expired: its holder can still renew it, and append, until another one acquires it.
    pub is_expired: bool,
}

impl LeaseStatus {
    /// Creates a status; for stores.
    pub fn new(term: u64, holder: Option<String>) -> Self {
        Self { term, holder, is_expired: false }
    }

    /// Creates the status of a lease that its holder has neither renewed in time nor released; for stores.
    pub fn expired(term: u64) -> Self {
        Self { term, holder: None, is_expired: true }
    }
}

/// What one [`Store::append`] does.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Append<'a> {
    /// The entries that are appended.
    pub entries: &'a [Entry],
    /// The positions of the inbox items that are removed.
    pub taken: &'a [u64],
    /// The status of the turn after these entries.
    pub turn: TurnStatus,
    /// True if the append must be on the disk when it returns. Otherwise it may be lost in a power failure, together with all
    /// later appends and this process.
    pub durable: bool,
}

impl<'a> Append<'a> {
    /// Appends entries durably; the turn is over if they end with its end, and runs otherwise.
    pub fn new(entries: &'a [Entry]) -> Self {
        let turn = match is_turn_over(entries) {
            true => TurnStatus::Over,
            false => TurnStatus::Running,
        };
        Self { entries, taken: &[], turn, durable: true }
    }

    /// Removes these items from the inbox.
    #[must_use]
    pub fn taking(mut self, positions: &'a [u64]) -> Self {
        self.taken = positions;
        self
    }

    /// Sets the status of the turn after these entries.
    #[must_use]
    pub fn turn(mut self, turn: TurnStatus) -> Self {
        self.turn = turn;
        self
    }

    /// Sets whether the append must be on the disk when it returns.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }
}

/// The status of a conversation's last turn, which decides whether it has to be resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnStatus {
    /// It has ended, or there is none.
    #[default]
    Over,
    /// It runs: without a holder of its lease, it has to be resumed.
    Running,
    /// It waits for a decision, and is resumed by one.
    Paused,
}

/// Where the entries that [`Store::tail`] returns end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TailEnd<'a> {
    /// With the newest entry.
    Newest,
    /// With the entry before the one of this id.
    Before(&'a str),
    /// With the entry of this id.
    At(&'a str),
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
    crate::delegate_store!(|self| **self =>
        scope acquire renew release lease_status append push_inbox inbox remove_inbox_item list_unattended list_held_by tail list
        list_by_owner list_older_than delete delete_expired signing_keys rotate_signing_key check_writable shared_state);
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
