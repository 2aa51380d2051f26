//! One server at a time: tried, held, and tried again where that helps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use toolwright_core::Registry;
use toolwright_mcp::{AttachError, AttachedServer, PinStore, RemoteServer};

use super::{CommandLifetime, TerminalElicitor, describe_attach_error, hidden_warning};
use crate::terminal::output;

/// How long to wait before a server is tried for the second time, and at most.
const INITIAL_BACKOFF: Duration = Duration::from_secs(2);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// How often to look whether somebody has accepted what is hidden.
const PIN_RECHECK_INTERVAL: Duration = Duration::from_secs(2);

/// How far a server is.
pub(super) enum ConnectionState {
    /// It is tried for the first time.
    Connecting,
    Attached(AttachedServer),
    /// It could not be attached, and this is why.
    Failed(String),
    /// Nobody needed it.
    Skipped,
}

/// All servers of a command, in the order of the settings.
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
        person: Option<Arc<TerminalElicitor>>,
    ) -> Self {
        Self {
            registry,
            pins,
            elicitor: person,
            servers: Mutex::default(),
            state_changes: watch::Sender::new(()),
            warning_handler: Mutex::new(Arc::new(|warning| {
                output::print_stderr(&format!("warning: {warning}\n"));
            })),
        }
    }

    /// Shows later warnings in this way.
    pub(super) fn set_warning_handler(&self, report: Arc<WarningHandler>) {
        *self
            .warning_handler
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = report;
    }

    fn emit_warning(&self, warning: &str) {
        let report = Arc::clone(
            &self
                .warning_handler
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        report(warning);
    }

    /// What is wrong with the servers, in words for a person.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.map_states(|name, state| match state {
            ConnectionState::Skipped => Vec::new(),
            ConnectionState::Connecting => vec![format!("server `{name}` is still connecting")],
            ConnectionState::Failed(why) => vec![why.clone()],
            ConnectionState::Attached(server) => server
                .status()
                .items
                .iter()
                .filter_map(hidden_warning)
                .collect(),
        });
        warnings.concat()
    }

    pub(super) fn elicitor(&self) -> Option<&TerminalElicitor> {
        self.elicitor.as_deref()
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Makes a place for a server, unless one of its name has one.
    pub(super) fn add_connecting(&self, wanted: &RemoteServer) -> Option<usize> {
        let mut servers = self.servers();
        let name = wanted.name().trim();
        if servers.iter().any(|(known, _)| known == name) {
            return None;
        }
        servers.push((name.to_owned(), ConnectionState::Connecting));
        Some(servers.len() - 1)
    }

    pub(super) fn set_state(&self, place: usize, state: ConnectionState) {
        if let Some((_, held)) = self.servers().get_mut(place) {
            *held = state;
        }
        self.state_changes.send_replace(());
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.map_states(|name, _| name.to_owned())
    }

    pub(super) fn map_states<T>(
        &self,
        mut look: impl FnMut(&str, &ConnectionState) -> T,
    ) -> Vec<T> {
        let servers = self.servers();
        servers
            .iter()
            .map(|(name, state)| look(name, state))
            .collect()
    }

    /// Those that have not been tried to the end.
    pub(super) fn connecting_names(&self) -> Vec<String> {
        let connecting = self.map_states(|name, state| match state {
            ConnectionState::Connecting => Some(name.to_owned()),
            _ => None,
        });
        connecting.into_iter().flatten().collect()
    }

    /// Told whenever something has become of a server.
    pub(super) fn subscribe(&self) -> watch::Receiver<()> {
        self.state_changes.subscribe()
    }

    /// Takes all that are attached.
    pub(super) fn take_attached(&self) -> Vec<AttachedServer> {
        let servers = std::mem::take(&mut *self.servers());
        let attached = servers.into_iter().filter_map(|(_, state)| match state {
            ConnectionState::Attached(server) => Some(server),
            _ => None,
        });
        attached.collect()
    }

    /// Attaches a server; while that cannot be, and the command stays, tries again.
    pub(super) async fn attach_with_retry(
        self: Arc<Self>,
        place: usize,
        wanted: RemoteServer,
        stay: CommandLifetime,
    ) {
        let mut pause = INITIAL_BACKOFF;
        let desk = Arc::downgrade(&self);
        let wanted = wanted.pins(Arc::clone(&self.pins));
        let mut wanted = wanted.on_hidden(move |listed| {
            if let (Some(desk), Some(warning)) = (desk.upgrade(), hidden_warning(listed)) {
                desk.emit_warning(&warning);
            }
        });
        if let Some(person) = &self.elicitor {
            wanted = wanted.elicit(Arc::clone(person) as _);
        }
        loop {
            match wanted.clone().attach(&self.registry).await {
                Ok(server) => return self.set_state(place, ConnectionState::Attached(server)),
                Err(error) => {
                    self.set_state(
                        place,
                        ConnectionState::Failed(describe_attach_error(&error)),
                    );
                    if stay == CommandLifetime::OneShot || !is_transient(&error) {
                        return;
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(MAX_BACKOFF);
        }
    }

    /// Shows what is hidden again once somebody has accepted it, in another process.
    pub(super) async fn recheck_hidden(&self) {
        loop {
            tokio::time::sleep(PIN_RECHECK_INTERVAL).await;
            self.map_states(|_, state| {
                let ConnectionState::Attached(server) = state else {
                    return;
                };
                let status = server.status();
                if status.items.iter().any(|listed| listed.hidden.is_some()) {
                    // Pins that cannot be read leave it hidden.
                    let _ = server.recheck_pins();
                }
            });
        }
    }

    fn servers(&self) -> MutexGuard<'_, Vec<(String, ConnectionState)>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the next try may go better although nobody changes a setting.
fn is_transient(error: &AttachError) -> bool {
    matches!(
        error,
        AttachError::Connect { .. } | AttachError::TimedOut { .. }
    )
}
