//! Ctrl-C: cancels the running turn; without one, ends the program.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio::runtime::Runtime;
use toolwright_core::CancellationToken;

use crate::cli::runtime::lock;

/// The exit code after Ctrl-C, as shells have it.
pub(crate) const EXIT_INTERRUPTED: u8 = 130;

/// The token of the running turn; it is cancelled if no turn is running.
#[derive(Clone)]
pub(crate) struct InterruptHandler(Arc<Mutex<CancellationToken>>);

impl InterruptHandler {
    /// Watches for Ctrl-C for as long as the runtime lives.
    pub(crate) fn install(runtime: &Runtime) -> Self {
        let interrupts = Self(Arc::default());
        interrupts.current_token().cancel();
        let watched = interrupts.clone();
        runtime.spawn(async move {
            // If no signal handler can be installed, Ctrl-C ends the process.
            while tokio::signal::ctrl_c().await.is_ok() {
                if !watched.cancel_turn() {
                    std::process::exit(EXIT_INTERRUPTED.into());
                }
            }
        });
        interrupts
    }

    /// Starts a turn; Ctrl-C cancels the returned token.
    pub(crate) fn begin_turn(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.current_token() = token.clone();
        token
    }

    /// Ends the turn; the next Ctrl-C ends the program.
    pub(crate) fn end_turn(&self) {
        self.cancel_turn();
    }

    /// Cancels the running turn; returns false if there is none.
    pub(crate) fn cancel_turn(&self) -> bool {
        let current = self.current_token();
        let was_running = !current.is_cancelled();
        current.cancel();
        was_running
    }

    fn current_token(&self) -> MutexGuard<'_, CancellationToken> {
        lock(&self.0)
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
