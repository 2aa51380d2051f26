//! The leases, in memory: no other process can have one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use toolwright::chat::{Lease, LeaseStatus, StoreError};

/// A duration that overflows becomes a century.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The lease of each conversation that was acquired and not released.
#[derive(Default)]
pub(crate) struct Leases(HashMap<String, (Lease, Instant)>);

impl Leases {
    /// Holds a lease until the duration is over.
    pub(crate) fn hold(&mut self, lease: &Lease, duration: Duration) {
        let until = Instant::now() + duration.min(CENTURY);
        self.0.insert(lease.conversation.clone(), (lease.clone(), until));
    }

    pub(crate) fn release(&mut self, conversation: &str) {
        self.0.remove(conversation);
    }

    /// Returns true if this is the last lease of the conversation, and was not released: it may have expired.
    pub(crate) fn is_held(&self, lease: &Lease) -> bool {
        self.0.get(&lease.conversation).is_some_and(|(held, _)| held == lease)
    }

    pub(crate) fn check(&self, lease: &Lease) -> Result<(), StoreError> {
        match self.is_held(lease) {
            true => Ok(()),
            false => Err(StoreError::leased_elsewhere(&lease.conversation)),
        }
    }

    /// Returns true if somebody has a lease, though it may have expired.
    pub(crate) fn has(&self, conversation: &str) -> bool {
        self.0.contains_key(conversation)
    }

    pub(crate) fn is_valid(&self, conversation: &str, now: Instant) -> bool {
        self.0.get(conversation).is_some_and(|(_, until)| *until > now)
    }

    pub(crate) fn holder(&self, conversation: &str) -> Option<&String> {
        self.0.get(conversation).map(|(lease, _)| &lease.holder)
    }

    pub(crate) fn is_held_by_other(&self, conversation: &str, holder: &str) -> bool {
        self.is_valid(conversation, Instant::now())
            && self.holder(conversation).is_some_and(|other| other != holder)
    }

    /// Returns the status of a conversation whose last term was this one.
    pub(crate) fn status(&self, conversation: &str, term: u64) -> LeaseStatus {
        match self.holder(conversation) {
            Some(_) if !self.is_valid(conversation, Instant::now()) => LeaseStatus::expired(term),
            holder => LeaseStatus::new(term, holder.cloned()),
        }
    }
}
