//! Pins in memory.

use std::sync::Mutex;

use super::pin_set::PinSet;
use super::{Fingerprint, PinFuture, PinStatus, PinStore};
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
    fn check<'a>(
        &'a self,
        server: &'a str,
        definitions: &'a [(String, Fingerprint)],
    ) -> PinFuture<'a, Vec<PinStatus>> {
        Box::pin(async move { Ok(lock(&self.0).check(server, definitions, false).0) })
    }

    fn accept<'a>(&'a self, server: &'a str, definition: &'a str) -> PinFuture<'a, bool> {
        Box::pin(async move { Ok(lock(&self.0).accept(server, definition)) })
    }

    fn drifted<'a>(&'a self, server: &'a str) -> PinFuture<'a, Vec<(String, Vec<String>)>> {
        Box::pin(async move { Ok(lock(&self.0).drifted(server)) })
    }
}
