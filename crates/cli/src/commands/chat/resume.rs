//! The name of a conversation in; whether its last turn was interrupted out.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolwright_chat::{EntryBody, Lease, StoreError};

use super::chat_factory::{ChatFactory, LEASE_DURATION};

/// How long another process is waited for.
const LEASE_WAIT_TIMEOUT: Duration = Duration::from_secs(60);
const LEASE_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// What is said before a turn goes on.
pub(crate) const RESUMING_NOTE: &str = "the last turn was interrupted: finishing it first";

/// How a conversation stands, while nobody else goes on with it.
pub(crate) enum ConversationState {
    /// Nothing was said in it yet.
    Empty,
    /// Its last turn is over.
    Idle,
    /// Its last turn was interrupted: by a crash, or by somebody who left.
    Interrupted,
}

/// Takes a conversation into this process's hands and tells how it stands; `busy` is told if another process has it.
///
/// The chats of this process go on with it at once, under the same name.
pub(crate) async fn acquire_conversation(
    setup: &ChatFactory,
    conversation: &str,
    busy: &mut dyn FnMut(),
) -> Result<ConversationState, StoreError> {
    let store = setup.store.store();
    let lease = Lease::new(conversation, &setup.node_name);
    let began = Instant::now();
    let mut told = false;
    while !store.acquire(&lease, LEASE_DURATION).await? {
        if began.elapsed() >= LEASE_WAIT_TIMEOUT {
            return Err(StoreError::leased_elsewhere(&lease));
        }
        if !std::mem::replace(&mut told, true) {
            busy();
        }
        sleep(LEASE_RETRY_INTERVAL).await;
    }
    let last = store.tail(conversation, None, 1).await?;
    Ok(match last.last().map(|entry| &entry.body) {
        None => ConversationState::Empty,
        Some(EntryBody::TurnEnded { .. }) => ConversationState::Idle,
        Some(_) => ConversationState::Interrupted,
    })
}

/// Gives a conversation back, for as long as nothing is asked in it.
pub(crate) async fn release_conversation(
    setup: &ChatFactory,
    conversation: &str,
) -> Result<(), StoreError> {
    let lease = Lease::new(conversation, &setup.node_name);
    setup.store.store().release(&lease).await
}
