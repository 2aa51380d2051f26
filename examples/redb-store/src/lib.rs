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

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{
    Append, ConversationSummary, Entry, InboxItem, Lease, LeaseStatus, Owner, Store, StoreError,
    StoreFuture, StoreScope, TailEnd,
};
use toolwright::{Secret, SharedState};

mod database;
mod leases;
mod reading;
mod shared_state;
mod writing;

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
        Inner::prepare(file.display().to_string(), redb::Database::create(file))
    }

    /// Opens what a backend of redb stores, such as its memory.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn with_backend(backend: impl redb::StorageBackend) -> Result<Self, StoreError> {
        let database = redb::Builder::new().create_with_backend(backend);
        Inner::prepare("the backend".to_owned(), database)
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
        let lease = Lease::new(conversation, holder, 0);
        self.0.write(move |it| it.acquire(lease, duration))
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.0.write(move |it| Ok(it.leases.renew(&lease, duration)))
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        let lease = lease.clone();
        self.0.write(move |it| it.release(&lease))
    }

    fn lease_status<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, LeaseStatus> {
        let name = conversation.to_owned();
        self.0.write(move |it| Ok(it.leases.status(&name, it.record(&name)?.term)))
    }

    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        let (lease, entries) = (lease.clone(), append.entries.to_vec());
        let (taken, turn) = (append.taken.to_vec(), append.turn);
        // Each commit is on the disk: redb has none that survive the process and not the machine.
        self.0.write(move |it| it.append(&lease, Append::new(&entries).taking(&taken).turn(turn)))
    }

    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>> {
        let (name, item) = (conversation.to_owned(), item.clone());
        self.0.write(move |it| it.push(&name, item, limit))
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        let name = conversation.to_owned();
        self.0.read(move |it| it.inbox(&name))
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        let name = conversation.to_owned();
        self.0.write(move |it| it.withdraw(&name, position))
    }

    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>> {
        self.0.read(move |it| it.with_work(limit, |holder| holder.is_none()))
    }

    fn list_held_by<'a>(&'a self, holder: &'a str, limit: usize) -> StoreFuture<'a, Vec<String>> {
        let own = holder.to_owned();
        self.0.read(move |it| it.with_work(limit, |holder| holder == Some(&own)))
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
        self.0.read(move |it| it.tail(&name, end, limit))
    }

    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.0.read(move |it| Ok(it.summaries(|_| true)?.take(limit).collect()))
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        let owner = owner.clone();
        let of = |it: &ConversationSummary| Owner::split_stored_name(&it.conversation).0;
        self.0.read(move |it| Ok(it.summaries(|it| of(it) == owner)?.take(limit).collect()))
    }

    fn list_older_than(
        &self,
        time: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.0.read(move |it| {
            Ok(it.summaries(|summary| summary.last < time)?.rev().take(limit).collect())
        })
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.0.write(move |it| it.delete(&lease, None))
    }

    fn delete_expired<'a>(&'a self, lease: &'a Lease, time: u64) -> StoreFuture<'a, bool> {
        let lease = lease.clone();
        self.0.write(move |it| it.delete(&lease, Some(time)))
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        self.0.write(|it| Ok(it.keys(None)?.into_iter().map(Secret::new).collect()))
    }

    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()> {
        self.0.write(move |it| it.keys(Some(keep)).map(drop))
    }

    fn check_writable(&self) -> StoreFuture<'_, ()> {
        self.0.write(|it| it.set_meta("probe", &()))
    }

    fn shared_state(&self) -> Arc<dyn SharedState> {
        Arc::new(RedbSharedState(Arc::clone(&self.0)))
    }
}
