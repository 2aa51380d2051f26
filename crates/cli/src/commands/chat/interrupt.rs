//! Ctrl-C: the first ends the turn, the next one the program.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Runtime;
use toolwright_core::CancellationToken;

/// The exit code of a program that Ctrl-C ended.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// What Ctrl-C ends next.
#[derive(Clone)]
pub(crate) struct InterruptHandler(Arc<Mutex<CancellationToken>>);

impl InterruptHandler {
    /// Watches for Ctrl-C for as long as the runtime lives.
    pub(crate) fn install(runtime: &Runtime) -> Self {
        let interrupts = Self(Arc::default());
        interrupts.current_token().cancel();
        let watched = interrupts.clone();
        runtime.spawn(async move {
            // Without a signal handler, Ctrl-C ends the process: that is fine too.
            while tokio::signal::ctrl_c().await.is_ok() {
                if !watched.cancel_turn() {
                    std::process::exit(EXIT_INTERRUPTED.into());
                }
            }
        });
        interrupts
    }

    /// Begins a turn; the token is cancelled when Ctrl-C ends it.
    pub(crate) fn begin_turn(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.current_token() = token.clone();
        token
    }

    /// Ends the turn; from then on Ctrl-C ends the program.
    pub(crate) fn end_turn(&self) {
        self.cancel_turn();
    }

    /// Cancels the turn, if one runs that is not cancelled yet.
    pub(crate) fn cancel_turn(&self) -> bool {
        let current = self.current_token();
        let runs = !current.is_cancelled();
        current.cancel();
        runs
    }

    fn current_token(&self) -> MutexGuard<'_, CancellationToken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_ends_the_turn_and_the_next_the_program() {
        let interrupts = InterruptHandler(Arc::default());
        let turn = interrupts.begin_turn();
        assert!(interrupts.cancel_turn() && turn.is_cancelled());
        assert!(!interrupts.cancel_turn());
        assert!(!interrupts.begin_turn().is_cancelled());
        interrupts.end_turn();
        assert!(!interrupts.cancel_turn(), "no turn runs any more");
    }
}
