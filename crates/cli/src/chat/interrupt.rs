//! Ctrl-C: the first ends the turn, the next one the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Runtime;
use toolwright_core::CancellationToken;

/// The exit code of a program that Ctrl-C ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// What Ctrl-C ends next.
#[derive(Clone)]
pub(crate) struct Interrupts(Arc<Mutex<CancellationToken>>);

impl Interrupts {
    /// Watches for Ctrl-C for as long as the runtime lives.
    pub(crate) fn watch(runtime: &Runtime) -> Self {
        let interrupts = Self(Arc::default());
        interrupts.current().cancel();
        let watched = interrupts.clone();
        runtime.spawn(async move {
            // Without a signal handler, Ctrl-C ends the process: that is fine too.
            while tokio::signal::ctrl_c().await.is_ok() {
                if !watched.cancel() {
                    std::process::exit(INTERRUPTED.into());
                }
            }
        });
        interrupts
    }

    /// Begins a turn; the token is cancelled when Ctrl-C ends it.
    pub(crate) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.current() = token.clone();
        token
    }

    /// Ends the turn; from then on Ctrl-C ends the program.
    pub(crate) fn end(&self) {
        self.cancel();
    }

    /// Cancels the turn, if one runs that is not cancelled yet.
    pub(crate) fn cancel(&self) -> bool {
        let current = self.current();
        let runs = !current.is_cancelled();
        current.cancel();
        runs
    }

    fn current(&self) -> MutexGuard<'_, CancellationToken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ends_the_turn_and_the_next_the_program() {
        let interrupts = Interrupts(Arc::default());
        let turn = interrupts.begin();
        assert!(interrupts.cancel() && turn.is_cancelled());
        assert!(!interrupts.cancel());
        assert!(!interrupts.begin().is_cancelled());
        interrupts.end();
        assert!(!interrupts.cancel(), "no turn runs any more");
    }
}
