//! The leases, in memory: no other process can have one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use toolwright::chat::{Lease, LeaseStatus, StoreError};

/// A duration that overflows becomes a century.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// The last lease of each conversation, unless it was released, and when it expires.
#[derive(Default)]
pub(crate) struct Leases(HashMap<String, (Lease, Instant)>);

impl Leases {
    /// Holds a lease until the duration is over.
    pub(crate) fn hold(&mut self, lease: &Lease, duration: Duration) {
        let until = Instant::now() + duration.min(CENTURY);
        self.0.insert(lease.conversation.clone(), (lease.clone(), until));
    }

    pub(crate) fn renew(&mut self, lease: &Lease, duration: Duration) -> bool {
        self.check(lease).map(|()| self.hold(lease, duration)).is_ok()
    }

    pub(crate) fn release(&mut self, lease: &Lease) -> bool {
        self.check(lease).is_ok() && self.0.remove(&lease.conversation).is_some()
    }

    /// Returns an error if a lease is not valid. One that has expired is, until another holder acquires it.
    pub(crate) fn check(&self, lease: &Lease) -> Result<(), StoreError> {
        match self.0.get(&lease.conversation) {
            Some((held, _)) if held == lease => Ok(()),
            _ => Err(StoreError::leased_elsewhere(&lease.conversation)),
        }
    }

    /// Returns true if a conversation has a lease, even one that has expired.
    pub(crate) fn has(&self, conversation: &str) -> bool {
        self.0.contains_key(conversation)
    }

    /// Returns the holder of a lease that has not expired.
    pub(crate) fn holder(&self, conversation: &str) -> Option<&String> {
        let held = self.0.get(conversation).filter(|(_, until)| *until > Instant::now());
        held.map(|(lease, _)| &lease.holder)
    }

    /// Returns the status of a conversation whose last term was this one.
    pub(crate) fn status(&self, conversation: &str, term: u64) -> LeaseStatus {
        match self.holder(conversation) {
            None if self.has(conversation) => LeaseStatus::expired(term),
            holder => LeaseStatus::new(term, holder.cloned()),
        }
    }
}
