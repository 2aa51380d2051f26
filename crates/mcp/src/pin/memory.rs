//! Pins in memory.

use std::sync::Mutex;

use super::pin_set::PinSet;
use super::{Fingerprint, PinError, PinStatus, PinStore};
use crate::lock::lock;

/// Pins in memory: they detect changes while the process runs only.
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
        definitions: &[(String, Fingerprint)],
    ) -> Result<Vec<PinStatus>, PinError> {
        let mut pins = lock(&self.0);
        Ok(pins.check(server, definitions, false).0)
    }

    fn accept(&self, server: &str, definition: &str) -> Result<bool, PinError> {
        let mut pins = lock(&self.0);
        Ok(pins.accept(server, definition))
    }
}
