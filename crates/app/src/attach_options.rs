//! How MCP servers are attached.

use std::sync::Arc;
use std::time::Duration;

use toolwright_core::SharedState;

/// Whether a program ends after one task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum ProgramLifetime {
    /// One task: each server is tried once.
    OneShot,
    /// Runs until it is stopped: failed connections are retried, and hidden tools return once their change is accepted.
    #[default]
    LongRunning,
}

/// Receives the names of the servers that are connecting, and for how long.
pub(crate) type ConnectingFn = dyn Fn(&[String], Duration) + Send + Sync;

/// Where the pins of attached servers are stored.
#[derive(Clone, Default)]
pub(crate) enum PinLocation {
    /// In a file of the project directory: for one node.
    #[default]
    File,
    /// In the store of this URL, which is opened when the first server is attached.
    Store(String),
    /// In the shared state of a store that is open.
    SharedState(Arc<dyn SharedState>),
}

/// How servers are attached.
#[derive(Clone, Default)]
pub(crate) struct AttachOptions {
    /// Where the pins of their definitions are.
    pub pins: PinLocation,
    /// Where the credentials for servers are; `None` for the store of the settings, which is opened when one is needed.
    pub shared_state: Option<Arc<dyn SharedState>>,
    /// Whether people use the program, each with their own login to servers with `oauth = "personal"`; else the operator does.
    pub serves_people: bool,
    /// Whether failed connections are retried.
    pub lifetime: ProgramLifetime,
    /// Answers the questions that servers ask during a call; `None` declines them.
    pub elicitor: Option<Arc<dyn toolwright_mcp::ElicitHandler>>,
    /// The command that accepts a changed tool, without its name, for warnings: `shop mcp accept`.
    pub accept_command: String,
    /// The command that logs in to a server, without its name, for errors: `shop mcp login`.
    pub login_command: String,
    /// Called repeatedly while servers connect, with their names and how long that has taken, and at the end without names.
    pub on_connecting: Option<Arc<ConnectingFn>>,
}

/// The message for an unknown tool or prompt.
pub(crate) fn unknown_name_message(kind: &str, name: &str, nearest: Option<&str>) -> String {
    let hint = match nearest {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("`{kind}s list` shows all there are"),
    };
    format!("there is no {kind} `{name}`; {hint}")
}
