//! How to write a store: conversations in one file of [redb](https://docs.rs/redb), an embedded database, for one process.
//!
//! A method of [`Store`] is one transaction: what it reads and what it writes belong to the same moment, and a write is on the disk
//! when the method returns. redb runs one transaction that writes at a time, and locks its file, so [`Store::scope`] is one process.
//! Therefore leases are in memory: they end with the process, and only their terms are stored.
//!
//! `cargo test -p redb-store` runs the conformance suite of the stores over it, and takes the power away at each of its writes.
//!
//! # Examples
//!
//! ```
//! use redb_store::RedbStore;
//! use toolwright::chat::{Chat, Store, StoreScope};
//! # use toolwright::{Invoker, Registry, testing::ScriptedModel};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! # let directory = tempfile::tempdir()?;
//! # let file = directory.path().join("conversations.redb");
//! # let (invoker, model) = (Invoker::new(&Registry::new())?, ScriptedModel::new().replies("Hello."));
//! let store = RedbStore::open(&file)?;
//! assert_eq!(store.scope(), StoreScope::Process);
//!
//! let chat = Chat::builder(&invoker, model).store(store).build();
//! chat.message().conversation("notes").user("Hi!").call().await?;
//! # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
//! ```

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolwright::chat::{
    Append, ConversationSummary, Entry, InboxItem, Lease, LeaseStatus, Owner, Store, StoreError,
    StoreFuture, StoreScope, TailEnd,
};
use toolwright::{Secret, SharedState};

mod conversation;
mod database;
mod leases;
mod reading;
mod shared_state;

use database::Inner;
use shared_state::RedbSharedState;

/// Stores conversations in one file of redb, which one process has open.
pub struct RedbStore(Arc<Inner>);

impl RedbStore {
    /// Opens a file; creates it if it does not exist.
    ///
    /// # Errors
    ///
    /// When the file is open in another process, is not of redb, or cannot be read or written.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, StoreError> {
        let file = file.as_ref();
        Inner::new(file.display().to_string(), redb::Database::create(file))
    }

    /// Opens what a backend of redb stores, such as its memory.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn with_backend(backend: impl redb::StorageBackend) -> Result<Self, StoreError> {
        let database = redb::Builder::new().create_with_backend(backend);
        Inner::new("the backend".to_owned(), database)
    }
}

impl Store for RedbStore {
    fn scope(&self) -> StoreScope {
        StoreScope::Process
    }

    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>> {
        let (name, holder) = (conversation.to_owned(), holder.to_owned());
        self.0.write(move |writing, leases| {
            if leases.is_held_by_other(&name, &holder) {
                return Ok(None);
            }
            let term = writing.raise_term(&name)?;
            let lease = Lease::new(name, holder, term);
            leases.hold(&lease, duration);
            Ok(Some(lease))
        })
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.0.write(move |_, leases| {
            let is_held = leases.is_held(&lease);
            if is_held {
                leases.hold(&lease, duration);
            }
            Ok(is_held)
        })
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let lease = lease.clone();
        self.0.write(move |writing, leases| {
            if leases.is_held(&lease) {
                leases.release(&lease.conversation);
                writing.remove_if_empty(&lease.conversation)?;
            }
            Ok(())
        })
    }

    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus> {
        let name = conversation.to_owned();
        self.0.write(move |writing, leases| Ok(leases.status(&name, writing.term(&name)?)))
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        let (lease, entries) = (lease.clone(), append.entries.to_vec());
        let (taken, turn) = (append.taken.to_vec(), append.turn);
        // Each commit is on the disk: redb has none that survive the process and not the machine.
        self.0.write(move |writing, leases| {
            leases.check(&lease)?;
            writing.append(&lease.conversation, &entries, &taken, turn)
        })
    }

    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>> {
        let (name, item) = (conversation.to_owned(), item.clone());
        self.0.write(move |writing, _| writing.push(&name, &item, limit))
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        let name = conversation.to_owned();
        self.0.read(move |reading| reading.inbox(&name))
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        let name = conversation.to_owned();
        self.0.write(move |writing, leases| {
            let is_removed = writing.take(&name, position)?;
            if is_removed && !leases.has(&name) {
                writing.remove_if_empty(&name)?;
            }
            Ok(is_removed)
        })
    }

    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>> {
        self.0.with_leases(move |reading, leases| {
            let now = Instant::now();
            reading.with_work(limit, |name| !leases.is_valid(name, now))
        })
    }

    fn list_held_by<'a>(&'a self, holder: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        let holder = holder.to_owned();
        self.0.with_leases(move |reading, leases| {
            reading.with_work(limit, |name| leases.holder(name) == Some(&holder))
        })
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>> {
        let name = conversation.to_owned();
        let end = match end {
            TailEnd::Newest => None,
            TailEnd::Before(id) => Some((id.to_owned(), 0)),
            TailEnd::At(id) => Some((id.to_owned(), 1)),
        };
        self.0.read(move |reading| reading.tail(&name, end.as_ref(), limit))
    }

    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.0.read(move |reading| {
            let mut listed = reading.summaries(|_| true)?;
            listed.truncate(limit);
            Ok(listed)
        })
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        let owner = owner.clone();
        self.0.read(move |reading| {
            let is_owned = |name: &str| Owner::split_stored_name(name).0 == owner;
            let mut listed = reading.summaries(|summary| is_owned(&summary.conversation))?;
            listed.truncate(limit);
            Ok(listed)
        })
    }

    fn list_older_than(
        &self,
        time: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.0.read(move |reading| {
            let older = reading.summaries(|summary| summary.last < time)?;
            Ok(older.into_iter().rev().take(limit).collect())
        })
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.0.write(move |writing, leases| {
            leases.check(&lease)?;
            writing.clear(&lease.conversation)
        })
    }

    fn delete_expired<'a>(&'a self, lease: &'a Lease, time: u64) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.0.write(move |writing, leases| {
            leases.check(&lease)?;
            writing.clear_expired(&lease.conversation, time)
        })
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        self.0.write(|writing, _| {
            let keys = match writing.keys()? {
                known if known.is_empty() => writing.add_key(1)?,
                known => known,
            };
            Ok(keys.into_iter().map(Secret::new).collect())
        })
    }

    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()> {
        self.0.write(move |writing, _| writing.add_key(keep).map(drop))
    }

    fn check_writable(&self) -> StoreFuture<'_, ()> {
        self.0.write(|writing, _| writing.probe())
    }

    fn shared_state(&self) -> Arc<dyn SharedState> {
        Arc::new(RedbSharedState(Arc::clone(&self.0)))
    }
}

impl fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RedbStore").field(&self.0.label).finish()
    }
}
