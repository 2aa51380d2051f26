//! Random choices: the bytes of a test case, shared by all that choose.

use std::sync::{Arc, Mutex};

/// Fewer and smaller bytes make a simpler case; when they are used up, every roll is zero.
#[derive(Clone)]
pub(super) struct RandomChoices(Arc<Mutex<std::vec::IntoIter<u8>>>);

impl RandomChoices {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(bytes.into_iter())))
    }

    pub(super) fn byte(&self) -> u8 {
        self.0.lock().unwrap().next().unwrap_or_default()
    }

    /// A number below `sides`.
    pub(super) fn below(&self, sides: u8) -> u8 {
        self.byte() % sides
    }
}
