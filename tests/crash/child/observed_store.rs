//! A store that prints each entry before and after it is appended.

use std::sync::Arc;
use std::time::Duration;

use toolwright::Secret;
use toolwright::chat::{
    Append, ConversationSummary, Entry, EntryBody, InboxItem, Lease, Owner, Store, StoreFuture,
    TailEnd,
};

use crate::kill_points::{KillPoints, Stage, print_line};

pub(crate) struct ObservedStore {
    store: Arc<dyn Store>,
    points: KillPoints,
}

impl ObservedStore {
    pub(crate) fn new(store: Arc<dyn Store>, points: KillPoints) -> Self {
        Self { store, points }
    }
}

/// The stage before and after an entry is appended, and the name of the entry.
fn append_stages(what: &EntryBody) -> (Stage, Stage, &'static str) {
    match what {
        EntryBody::User { .. } => (Stage::Before, Stage::Before, "the question"),
        EntryBody::Step { calls, .. } if calls.is_empty() => {
            (Stage::Answering, Stage::Answering, "the answer")
        }
        EntryBody::Step { .. } => (Stage::Before, Stage::Before, "the step"),
        EntryBody::ApprovalRequested { .. } => (Stage::Before, Stage::Waiting, "what is asked"),
        EntryBody::ApprovalDecided { .. } => (Stage::Waiting, Stage::Before, "the decision"),
        EntryBody::CallStarted { .. } => (Stage::Before, Stage::During, "the start"),
        EntryBody::CallFinished { .. } => (Stage::After, Stage::After, "the result"),
        EntryBody::TurnEnded { .. } => (Stage::Answering, Stage::Answering, "the end"),
        _ => (Stage::Before, Stage::Before, "something"),
    }
}

impl Store for ObservedStore {
    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            if let Some(first) = append.entries.first() {
                let (before, _, name) = append_stages(&first.body);
                self.points.reach(before, &format!("{name} is to be kept"));
            }
            self.store.append(lease, append).await?;
            for entry in append.entries {
                print_line(&format!("kept {}", entry.id));
            }
            if let Some(last) = append.entries.last() {
                let (_, after, name) = append_stages(&last.body);
                self.points.reach(after, &format!("{name} is kept"));
            }
            Ok(())
        })
    }

    fn acquire<'a>(
        &'a self,
        conversation: &'a str,
        holder: &'a str,
        duration: Duration,
    ) -> StoreFuture<'a, Option<Lease>> {
        self.store.acquire(conversation, holder, duration)
    }

    fn renew<'a>(&'a self, lease: &'a Lease, duration: Duration) -> StoreFuture<'a, bool> {
        self.store.renew(lease, duration)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, ()> {
        self.store.release(lease)
    }

    fn term<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, u64> {
        self.store.term(conversation)
    }

    fn push_inbox<'a>(
        &'a self,
        conversation: &'a str,
        item: &'a InboxItem,
        limit: usize,
    ) -> StoreFuture<'a, Option<u64>> {
        self.store.push_inbox(conversation, item, limit)
    }

    fn inbox<'a>(&'a self, conversation: &'a str) -> StoreFuture<'a, Vec<InboxItem>> {
        self.store.inbox(conversation)
    }

    fn remove_inbox_item<'a>(
        &'a self,
        conversation: &'a str,
        position: u64,
    ) -> StoreFuture<'a, bool> {
        self.store.remove_inbox_item(conversation, position)
    }

    fn list_unattended(&self, limit: usize) -> StoreFuture<'_, Vec<String>> {
        self.store.list_unattended(limit)
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        end: TailEnd<'a>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<Entry>> {
        self.store.tail(conversation, end, limit)
    }

    fn list(&self, limit: usize) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.store.list(limit)
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ConversationSummary>> {
        self.store.list_by_owner(owner, limit)
    }

    fn list_older_than(
        &self,
        time: u64,
        limit: usize,
    ) -> StoreFuture<'_, Vec<ConversationSummary>> {
        self.store.list_older_than(time, limit)
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> StoreFuture<'a, bool> {
        self.store.delete(lease)
    }

    fn signing_keys(&self) -> StoreFuture<'_, Vec<Secret>> {
        self.store.signing_keys()
    }

    fn rotate_signing_key(&self, keep: usize) -> StoreFuture<'_, ()> {
        self.store.rotate_signing_key(keep)
    }
}
