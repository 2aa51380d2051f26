//! A store that prints each entry before and after it is appended.

use std::sync::Arc;

use toolwright::chat::{Append, EntryBody, Lease, Store, StoreFuture, delegate_store};

use super::kill_points::{KillPoints, Stage, print_line};

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

    delegate_store!(|self| self.store =>
        scope acquire renew release lease_status push_inbox inbox remove_inbox_item list_unattended tail list
        list_by_owner list_older_than delete delete_expired shared_state signing_keys rotate_signing_key);
}
