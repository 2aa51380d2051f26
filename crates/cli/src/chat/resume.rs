//! The name of a conversation in; whether its last turn was interrupted out.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use toolwright_chat::{EntryBody, Lease, StoreError};

use super::setup::{LEASE, Setup};

/// How long another process is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);

/// What is said before a turn goes on.
pub(crate) const FINISHING: &str = "the last turn was interrupted: finishing it first";

/// How a conversation stands, while nobody else goes on with it.
pub(crate) enum Standing {
    /// Nothing was said in it yet.
    New,
    /// Its last turn is over.
    Over,
    /// Its last turn was interrupted: by a crash, or by somebody who left.
    Interrupted,
}

/// Takes a conversation into this process's hands and tells how it stands; `busy` is told if another process has it.
///
/// The chats of this process go on with it at once, under the same name.
pub(crate) async fn take(
    setup: &Setup,
    conversation: &str,
    busy: &mut dyn FnMut(),
) -> Result<Standing, StoreError> {
    let store = setup.store.store();
    let lease = Lease::new(conversation, &setup.node);
    let began = Instant::now();
    let mut told = false;
    while !store.acquire(&lease, LEASE).await? {
        if began.elapsed() >= PATIENCE {
            return Err(StoreError::leased_elsewhere(&lease));
        }
        if !std::mem::replace(&mut told, true) {
            busy();
        }
        sleep(PAUSE).await;
    }
    let last = store.tail(conversation, None, 1).await?;
    Ok(match last.last().map(|entry| &entry.body) {
        None => Standing::New,
        Some(EntryBody::TurnEnded { .. }) => Standing::Over,
        Some(_) => Standing::Interrupted,
    })
}

/// Gives a conversation back, for as long as nothing is asked in it.
pub(crate) async fn give_back(setup: &Setup, conversation: &str) -> Result<(), StoreError> {
    let lease = Lease::new(conversation, &setup.node);
    setup.store.store().release(&lease).await
}
