//! The tokio runtime of a command, and work that Ctrl-C cancels.

use std::convert::Infallible;

use tokio::runtime::Runtime;
use toolwright_core::{CallScope, CancellationToken};

use crate::cli_error::CliError;
use crate::terminal::tool_output::print_event;

/// What tools and models run on.
pub(crate) fn build_runtime() -> Result<Runtime, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.map_err(|error| CliError::from_error(&error))
}

/// Waits for `work`, which Ctrl-C cancels.
pub(crate) fn run_until_ctrl_c<T>(runtime: &Runtime, work: impl AsyncFnOnce(&CallScope) -> T) -> T {
    runtime.block_on(async {
        let interrupted = CancellationToken::new();
        let scope = CallScope::new()
            .cancel_on(interrupted.clone())
            .on_event(print_event);
        let watch = async {
            // Without a signal handler, Ctrl-C ends the process: that is fine too.
            if tokio::signal::ctrl_c().await.is_ok() {
                interrupted.cancel();
            }
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            done = work(&scope) => done,
            never = watch => match never {},
        }
    })
}
