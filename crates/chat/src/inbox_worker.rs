//! Attends to a conversation: resumes its interrupted turn, and takes the items of its inbox one at a time.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use crate::journal::store::inbox::{InboxBody, InboxItem};
use crate::journal::store::lease::{ACQUIRE_TIMEOUT, HeldLease};
use crate::journal::store::{Append, Store, StoreError, TurnStatus};
use crate::journal::window::load_unfinished_turn;
use crate::turn::{Turn, TurnAction};

/// Runs the turns that an inbox asks for.
///
/// # Cancellation
///
/// The futures are dropped when the lease is lost, or when [`attend`] is dropped: the turn is resumed from its journal later.
pub trait InboxHandler: Send + Sync {
    /// The lease of the conversation was acquired; it is renewed while the other methods run.
    fn on_acquired(&self, lease: &Arc<HeldLease>);

    /// Resumes the turn that is interrupted; `None` if that is not possible now.
    fn resume<'a>(&'a self, lease: &'a Arc<HeldLease>) -> BoxFuture<'a, Option<TurnStatus>>;

    /// Handles an item, and returns the status of the turn afterwards.
    ///
    /// `None` if that is not possible now: then the item stays in the inbox, and nothing more is taken. Otherwise the item is
    /// removed if it is still there.
    fn handle<'a>(
        &'a self,
        item: InboxItem,
        lease: &'a Arc<HeldLease>,
    ) -> BoxFuture<'a, Option<TurnStatus>>;

    /// Returns true if a paused turn is to be resumed, too, so that its approvals are requested again; then it pauses again.
    fn resumes_paused(&self) -> bool {
        false
    }

    /// Returns how long to wait for a lease that another holder has.
    fn acquire_timeout(&self) -> Duration {
        ACQUIRE_TIMEOUT
    }

    /// The inbox is about to be read.
    fn before_read(&self) {}

    /// Returns false if an item may have been added since [`before_read`](Self::before_read): the inbox is read again.
    fn may_finish(&self) -> bool {
        true
    }
}

/// How [`attend`] ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attended {
    /// Everything was done that can be done now.
    Done,
    /// Another holder has the lease.
    Elsewhere,
}

/// Holds the lease of a conversation, and has a handler take what its inbox has until nothing is left.
///
/// # Errors
///
/// When the store fails, or the lease is lost.
pub async fn attend(
    store: &Arc<dyn Store>,
    conversation: &str,
    holder: &str,
    lease_duration: Duration,
    handler: &dyn InboxHandler,
) -> Result<Attended, StoreError> {
    let held = HeldLease::acquire_within(
        handler.acquire_timeout(),
        Arc::clone(store),
        conversation,
        holder,
        lease_duration,
    );
    let Some(held) = held.await? else {
        return Ok(Attended::Elsewhere);
    };
    let held = Arc::new(held);
    handler.on_acquired(&held);
    held.run_while_renewing(take_items(store, conversation, &held, handler)).await?;
    held.release().await;
    Ok(Attended::Done)
}

async fn take_items(
    store: &Arc<dyn Store>,
    conversation: &str,
    lease: &Arc<HeldLease>,
    handler: &dyn InboxHandler,
) -> Result<(), StoreError> {
    let mut turn = load_turn_status(&**store, conversation).await?;
    let mut handled = None;
    loop {
        handler.before_read();
        let mut inbox = store.inbox(conversation).await?;
        if let Some(position) = handled.take()
            && inbox.iter().any(|item| item.position == position)
        {
            // With the lease: what this process concluded about the item is wrong if another one attends to the conversation.
            store.append(lease.lease(), Append::new(&[]).taking(&[position])).await?;
            inbox.retain(|item| item.position != position);
        }
        // A stop or a decision resumes the turn itself.
        let has_messages_only =
            inbox.iter().all(|item| matches!(item.body, InboxBody::Message { .. }));
        let outcome = match InboxItem::next_of(inbox, turn) {
            _ if turn == TurnStatus::Running && has_messages_only => handler.resume(lease).await,
            Some(item) => {
                handled = Some(item.position);
                handler.handle(item, lease).await
            }
            None if turn == TurnStatus::Paused && handler.resumes_paused() => {
                handler.resume(lease).await
            }
            None if handler.may_finish() => return Ok(()),
            None => Some(turn),
        };
        match outcome {
            Some(status) => turn = status,
            None => return Ok(()),
        }
    }
}

/// Loads the status of a conversation's last turn.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn load_turn_status(
    store: &dyn Store,
    conversation: &str,
) -> Result<TurnStatus, StoreError> {
    let Some(entries) = load_unfinished_turn(store, conversation).await? else {
        return Ok(TurnStatus::Over);
    };
    // An approval that has expired is handled when the turn is resumed.
    Ok(match Turn::from_entries(&entries).next_action(0) {
        TurnAction::AwaitApproval(_) => TurnStatus::Paused,
        _ => TurnStatus::Running,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::store::MemoryStore;

    /// Loses the lease while it handles an item.
    struct LosesLease(Arc<dyn Store>);

    impl InboxHandler for LosesLease {
        fn on_acquired(&self, _: &Arc<HeldLease>) {}

        fn resume<'a>(&'a self, _: &'a Arc<HeldLease>) -> BoxFuture<'a, Option<TurnStatus>> {
            Box::pin(async { None })
        }

        fn handle<'a>(
            &'a self,
            _: InboxItem,
            _: &'a Arc<HeldLease>,
        ) -> BoxFuture<'a, Option<TurnStatus>> {
            Box::pin(async {
                let acquired = self.0.acquire("c", "another", Duration::MAX).await;
                assert!(acquired.unwrap().is_some());
                Some(TurnStatus::Over)
            })
        }
    }

    #[tokio::test]
    async fn a_holder_that_lost_the_lease_removes_nothing() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let stop = InboxItem::new("a", 0, InboxBody::Stop);
        store.push_inbox("c", &stop, 9).await.unwrap().unwrap();
        let handler = LosesLease(Arc::clone(&store));
        attend(&store, "c", "me", Duration::ZERO, &handler).await.unwrap_err();
        assert_eq!(store.inbox("c").await.unwrap().len(), 1);
    }
}
