//! The tokio runtime of a command, work that Ctrl-C cancels, and mutexes without poisoning.

use std::convert::Infallible;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::Runtime;
use toolwright_core::{CallScope, CancellationToken};

use crate::cli::cli_error::CliError;
use crate::cli::terminal::tool_output::print_event;

/// The runtime that tools and models run on.
pub(crate) fn build_runtime() -> Result<Runtime, CliError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    Ok(builder.enable_all().build()?)
}

/// Runs `work` to its end; Ctrl-C cancels its scope.
pub(crate) fn run_until_ctrl_c<T>(runtime: &Runtime, work: impl AsyncFnOnce(&CallScope) -> T) -> T {
    runtime.block_on(async {
        let interrupted = CancellationToken::new();
        let scope = CallScope::new().cancel_on(interrupted.clone()).on_event(print_event);
        let watch = async {
            // If no signal handler can be installed, Ctrl-C ends the process.
            if tokio::signal::ctrl_c().await.is_ok() {
                interrupted.cancel();
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            output = work(&scope) => output,
            never = watch => match never {},
        }
    })
}

/// Locks a mutex, even if a thread panicked while it held the lock.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
