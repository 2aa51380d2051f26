//! Pins that last as long as the process.

use std::sync::{Mutex, PoisonError};

use super::book::Book;
use super::{Fingerprint, PinError, Pins, Verdict};

/// Pins in memory: they tell what changes while the process runs, and nothing of before.
#[derive(Debug, Default)]
pub struct MemoryPins(Mutex<Book>);

impl MemoryPins {
    /// Starts with no pins.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Pins for MemoryPins {
    fn check(
        &self,
        server: &str,
        seen: &[(String, Fingerprint)],
    ) -> Result<Vec<Verdict>, PinError> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(book.check(server, seen, false).0)
    }

    fn accept(&self, server: &str, definition: &str) -> Result<bool, PinError> {
        let mut book = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(book.accept(server, definition))
    }
}
