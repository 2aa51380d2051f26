//! Acquires a conversation, and finds out whether its last turn was interrupted.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolwright_chat::{Lease, StoreError, load_unfinished_turn};

use super::chat_factory::ChatFactory;
use super::event_printer::EventPrinter;
use crate::config::assistant::LEASE_DURATION;

/// How long to wait for the lease of another process.
const LEASE_WAIT_TIMEOUT: Duration = Duration::from_secs(60);
const LEASE_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Printed before an interrupted turn is resumed.
pub(crate) const RESUMING_NOTE: &str = "the last turn was interrupted: finishing it first";

/// The state of a conversation whose lease this process holds.
pub(crate) enum ConversationState {
    /// It has no entries.
    Empty,
    /// Its last turn has ended.
    Idle,
    /// Its last turn has not ended, because the process did.
    Interrupted,
}

/// Acquires the lease of a conversation and returns its state; prints a note if another process holds the lease.
///
/// The chats of this process can use the lease, because they have the same node name.
pub(crate) async fn acquire_conversation(
    factory: &ChatFactory<'_>,
    conversation: &str,
    printer: &mut EventPrinter,
) -> Result<ConversationState, StoreError> {
    let store = factory.store.store();
    let lease = Lease::new(conversation, &factory.node_name);
    let started = Instant::now();
    let mut is_noted = false;
    while !store.acquire(&lease, LEASE_DURATION).await? {
        if started.elapsed() >= LEASE_WAIT_TIMEOUT {
            return Err(StoreError::leased_elsewhere(&lease));
        }
        if !std::mem::replace(&mut is_noted, true) {
            printer.print_note("another process has this conversation: waiting for it");
        }
        sleep(LEASE_RETRY_INTERVAL).await;
    }
    if load_unfinished_turn(store, conversation).await?.is_some() {
        return Ok(ConversationState::Interrupted);
    }
    Ok(match store.tail(conversation, None, 1).await?.is_empty() {
        true => ConversationState::Empty,
        false => ConversationState::Idle,
    })
}

/// Releases the lease, so that other processes can use the conversation until the next message.
pub(crate) async fn release_conversation(
    factory: &ChatFactory<'_>,
    conversation: &str,
) -> Result<(), StoreError> {
    let lease = Lease::new(conversation, &factory.node_name);
    factory.store.store().release(&lease).await
}
