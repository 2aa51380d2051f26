//! A store that prints each entry before and after it is appended.

use std::sync::Arc;
use std::time::Duration;

use toolwright::chat::{ConversationSummary, Entry, EntryBody, Lease, Owner, Store, StoreError};
use toolwright::{BoxFuture, Secret};

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
    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if let Some(first) = entries.first() {
                let (before, _, name) = append_stages(&first.body);
                self.points.reach(before, &format!("{name} is to be kept"));
            }
            self.store.append(lease, entries).await?;
            for entry in entries {
                print_line(&format!("kept {}", entry.id));
            }
            if let Some(last) = entries.last() {
                let (_, after, name) = append_stages(&last.body);
                self.points.reach(after, &format!("{name} is kept"));
            }
            Ok(())
        })
    }

    fn acquire<'a>(
        &'a self,
        lease: &'a Lease,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.store.acquire(lease, life)
    }

    fn release<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<(), StoreError>> {
        self.store.release(lease)
    }

    fn tail<'a>(
        &'a self,
        conversation: &'a str,
        before: Option<&'a str>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.store.tail(conversation, before, most)
    }

    fn list(&self, most: usize) -> BoxFuture<'_, Result<Vec<ConversationSummary>, StoreError>> {
        self.store.list(most)
    }

    fn list_by_owner<'a>(
        &'a self,
        owner: &'a Owner,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<ConversationSummary>, StoreError>> {
        self.store.list_by_owner(owner, most)
    }

    fn delete<'a>(&'a self, lease: &'a Lease) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.store.delete(lease)
    }

    fn signing_key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        self.store.signing_key()
    }
}
