//! Commands that a program adds to its command line.

use std::error::Error;

use futures::future::BoxFuture;

use crate::running_app::RunningApp;

/// The future of a command.
pub(crate) type CommandFuture = BoxFuture<'static, Result<(), Box<dyn Error + Send + Sync>>>;

/// A command that the program adds to the command line.
pub(crate) struct AppCommand {
    /// The name on the command line.
    pub name: String,
    /// The line in `--help`.
    pub about: String,
    /// Runs the command with the arguments after its name.
    pub run: Box<dyn FnOnce(Vec<String>, RunningApp) -> CommandFuture + Send>,
}
