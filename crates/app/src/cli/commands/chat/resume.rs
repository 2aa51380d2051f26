//! Acquires a conversation, and finds out whether its last turn was interrupted.

use std::sync::Arc;
use std::time::Duration;

use toolwright_chat::{HeldLease, StoreError, TailEnd, load_unfinished_turn};

use crate::project::assistant::LEASE_DURATION;

use super::chat_factory::ChatFactory;
use super::event_printer::EventPrinter;

/// How long to wait for the lease of another process.
const LEASE_WAIT_TIMEOUT: Duration = Duration::from_secs(60);

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
/// The chats of this process acquire it again at once, because they have the same node name.
pub(crate) async fn acquire_conversation(
    factory: &ChatFactory<'_>,
    conversation: &str,
    printer: &mut EventPrinter,
) -> Result<(HeldLease, ConversationState), StoreError> {
    let store = factory.store.store();
    let acquire = |timeout| {
        let (store, holder) = (Arc::clone(store), &factory.node_name);
        HeldLease::acquire_within(timeout, store, conversation, holder, LEASE_DURATION)
    };
    let mut held = acquire(Duration::ZERO).await?;
    if held.is_none() {
        printer.print_note("another process has this conversation: waiting for it");
        held = acquire(LEASE_WAIT_TIMEOUT).await?;
    }
    let held = held.ok_or_else(|| StoreError::leased_elsewhere(conversation))?;
    let state = if load_unfinished_turn(store, conversation).await?.is_some() {
        ConversationState::Interrupted
    } else if store.tail(conversation, TailEnd::Newest, 1).await?.is_empty() {
        ConversationState::Empty
    } else {
        ConversationState::Idle
    };
    Ok((held, state))
}
