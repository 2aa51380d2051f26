//! Pins that last as long as the process.

use std::sync::{Mutex, PoisonError};

use super::pin_set::PinSet;
use super::{Fingerprint, PinError, PinStatus, PinStore};

/// Pins in memory: they tell what changes while the process runs, and nothing of before.
#[derive(Debug, Default)]
pub struct MemoryPins(Mutex<PinSet>);

impl MemoryPins {
    /// Starts with no pins.
    pub fn new() -> Self {
        Self::default()
    }
}

impl PinStore for MemoryPins {
    fn check(
        &self,
        server: &str,
        seen: &[(String, Fingerprint)],
    ) -> Result<Vec<PinStatus>, PinError> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(book.check(server, seen, false).0)
    }

    fn accept(&self, server: &str, definition: &str) -> Result<bool, PinError> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(book.accept(server, definition))
    }
}
