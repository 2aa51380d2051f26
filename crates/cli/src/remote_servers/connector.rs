//! The connection state of each server, and the retries.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use toolwright_core::{Backoff, Registry};
use toolwright_mcp::{AttachError, AttachedServer, PinStore, RemoteServer};

use super::{CommandLifetime, TerminalElicitor, describe_attach_error, hidden_warning};
use crate::runtime::lock;
use crate::terminal::output;

/// The delay before the first retry; it doubles up to the maximum.
const INITIAL_BACKOFF: Duration = Duration::from_secs(2);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// How often the pin file is checked for changes that another process has accepted.
const PIN_RECHECK_INTERVAL: Duration = Duration::from_secs(2);

pub(super) enum ConnectionState {
    /// The first attempt has not ended.
    Connecting,
    Attached(AttachedServer),
    /// The last attempt failed, with this message.
    Failed(String),
    /// Not connected, because the command does not need it.
    Skipped,
}

/// Connects the servers of a command; they are in the order of the settings.
pub(super) struct ServerConnector {
    registry: Registry,
    pins: Arc<dyn PinStore>,
    elicitor: Option<Arc<TerminalElicitor>>,
    servers: Mutex<Vec<(String, ConnectionState)>>,
    state_changes: watch::Sender<()>,
    warning_handler: Mutex<Arc<WarningHandler>>,
}

/// Shows a warning about a server while the command runs.
pub(super) type WarningHandler = dyn Fn(&str) + Send + Sync;

impl ServerConnector {
    pub(super) fn new(
        registry: Registry,
        pins: Arc<dyn PinStore>,
        elicitor: Option<Arc<TerminalElicitor>>,
    ) -> Self {
        Self {
            registry,
            pins,
            elicitor,
            servers: Mutex::default(),
            state_changes: watch::Sender::new(()),
            warning_handler: Mutex::new(Arc::new(|warning| {
                output::print_stderr(&format!("warning: {warning}\n"));
            })),
        }
    }

    pub(super) fn set_warning_handler(&self, handler: Arc<WarningHandler>) {
        *lock(&self.warning_handler) = handler;
    }

    fn emit_warning(&self, warning: &str) {
        let handler = Arc::clone(&lock(&self.warning_handler));
        handler(warning);
    }

    /// Warnings about failed connections and hidden tools.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.map_states(|name, state| match state {
            ConnectionState::Skipped => Vec::new(),
            ConnectionState::Connecting => vec![format!("server `{name}` is still connecting")],
            ConnectionState::Failed(message) => vec![message.clone()],
            ConnectionState::Attached(server) => {
                server.status().items.iter().filter_map(hidden_warning).collect()
            }
        });
        warnings.concat()
    }

    pub(super) fn elicitor(&self) -> Option<&TerminalElicitor> {
        self.elicitor.as_deref()
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Adds a server and returns its index; `None` if the name is already known.
    pub(super) fn add_connecting(&self, server: &RemoteServer) -> Option<usize> {
        let mut servers = self.servers();
        let name = server.name().trim();
        if servers.iter().any(|(known, _)| known == name) {
            return None;
        }
        servers.push((name.to_owned(), ConnectionState::Connecting));
        Some(servers.len() - 1)
    }

    pub(super) fn set_state(&self, index: usize, state: ConnectionState) {
        if let Some((_, current)) = self.servers().get_mut(index) {
            *current = state;
        }
        self.state_changes.send_replace(());
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.map_states(|name, _| name.to_owned())
    }

    pub(super) fn map_states<T>(&self, mut map: impl FnMut(&str, &ConnectionState) -> T) -> Vec<T> {
        let servers = self.servers();
        servers.iter().map(|(name, state)| map(name, state)).collect()
    }

    /// The servers whose first attempt has not ended.
    pub(super) fn connecting_names(&self) -> Vec<String> {
        let connecting = self.map_states(|name, state| match state {
            ConnectionState::Connecting => Some(name.to_owned()),
            _ => None,
        });
        connecting.into_iter().flatten().collect()
    }

    /// Notifies of every state change.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.state_changes.subscribe()
    }

    /// Removes all servers, and returns the attached ones.
    pub(super) fn take_attached(&self) -> Vec<AttachedServer> {
        let servers = std::mem::take(&mut *self.servers());
        let attached = servers.into_iter().filter_map(|(_, state)| match state {
            ConnectionState::Attached(server) => Some(server),
            _ => None,
        });
        attached.collect()
    }

    /// Attaches a server. A long-running command retries transient errors with backoff.
    pub(super) async fn attach_with_retry(
        self: Arc<Self>,
        index: usize,
        server: RemoteServer,
        lifetime: CommandLifetime,
    ) {
        let connector = Arc::downgrade(&self);
        let server = server.pins(Arc::clone(&self.pins));
        let mut server = server.on_hidden(move |item| {
            if let (Some(connector), Some(warning)) = (connector.upgrade(), hidden_warning(item)) {
                connector.emit_warning(&warning);
            }
        });
        if let Some(elicitor) = &self.elicitor {
            server = server.elicit(Arc::clone(elicitor) as _);
        }
        for delay in Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF) {
            match server.clone().attach(&self.registry).await {
                Ok(attached) => return self.set_state(index, ConnectionState::Attached(attached)),
                Err(error) => {
                    self.set_state(index, ConnectionState::Failed(describe_attach_error(&error)));
                    if lifetime == CommandLifetime::OneShot || !is_transient(&error) {
                        return;
                    }
                }
            }
            tokio::time::sleep(delay).await;
        }
    }

    /// Shows hidden tools again once another process has accepted their change; runs until it is aborted.
    pub(super) async fn recheck_hidden(&self) {
        loop {
            tokio::time::sleep(PIN_RECHECK_INTERVAL).await;
            self.map_states(|_, state| {
                let ConnectionState::Attached(server) = state else {
                    return;
                };
                let status = server.status();
                if status.items.iter().any(|item| item.hidden.is_some()) {
                    // If the pins cannot be read, the tools stay hidden.
                    let _ = server.recheck_pins();
                }
            });
        }
    }

    fn servers(&self) -> MutexGuard<'_, Vec<(String, ConnectionState)>> {
        lock(&self.servers)
    }
}

/// Returns true if a retry may succeed without a change of the settings.
fn is_transient(error: &AttachError) -> bool {
    matches!(error, AttachError::Connect { .. } | AttachError::TimedOut { .. })
}
