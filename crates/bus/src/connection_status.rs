//! Whether a connection works, for readiness probes, the log, and the start of a program.

use std::time::Duration;

use tokio::sync::watch;

/// How long opening a bus waits for the outcome of the first attempt to connect.
const FIRST_ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);

/// The state of one connection of a bus.
pub(crate) struct ConnectionStatus {
    /// Names the server, without a password.
    label: String,
    state: watch::Sender<ConnectionState>,
}

#[derive(Clone, PartialEq)]
enum ConnectionState {
    /// The first attempt has no outcome yet.
    Connecting,
    Connected,
    Failed(String),
}

impl ConnectionStatus {
    pub(crate) fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), state: watch::Sender::new(ConnectionState::Connecting) }
    }

    pub(crate) fn label(&self) -> &str {
        &self.label
    }

    pub(crate) fn set_connected(&self) {
        let before = self.state.send_replace(ConnectionState::Connected);
        if let ConnectionState::Failed(_) = before {
            tracing::info!("the bus works again: {}", self.label);
        }
    }

    /// Sets the error; logs it if there was none.
    pub(crate) fn set_error(&self, error: String) {
        let before = self.state.send_replace(ConnectionState::Failed(error.clone()));
        if !matches!(before, ConnectionState::Failed(_)) {
            tracing::warn!("the bus does not work: {error}");
        }
    }

    pub(crate) fn error(&self) -> Option<String> {
        match &*self.state.borrow() {
            ConnectionState::Connecting => Some(format!("{} is not connected yet", self.label)),
            ConnectionState::Connected => None,
            ConnectionState::Failed(error) => Some(error.clone()),
        }
    }

    /// Waits for the outcome of the first attempt to connect, for a few seconds at most.
    pub(crate) async fn wait_for_first_attempt(&self) {
        let mut state = self.state.subscribe();
        let attempted = state.wait_for(|state| *state != ConnectionState::Connecting);
        // Without an outcome the bus stays as it is: not connected yet.
        let _ = tokio::time::timeout(FIRST_ATTEMPT_TIMEOUT, attempted).await;
    }
}
