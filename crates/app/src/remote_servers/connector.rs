//! The connection state of each server, and the retries.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::watch;
use toolwright_core::{Backoff, Registry};
use toolwright_mcp::{
    AttachError, AttachedServer, CredentialStore, PinError, PinStore, RemoteItem, RemoteServer,
};

use super::project_credentials::ProjectCredentials;
use super::{describe_attach_error, lock};
use crate::attach_options::{AttachOptions, ProgramLifetime};

/// The delay before the first retry; it doubles up to the maximum.
const INITIAL_BACKOFF: Duration = Duration::from_secs(2);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// How often the pins are checked for changes that another process has accepted.
const PIN_RECHECK_INTERVAL: Duration = Duration::from_secs(2);

/// How often the store is checked for a login by another process.
const LOGIN_RECHECK_INTERVAL: Duration = Duration::from_secs(2);

pub(super) enum ConnectionState {
    /// The first attempt has not ended.
    Connecting,
    Attached(AttachedServer),
    /// The last attempt failed, with this message.
    Failed(String),
    /// Not connected, because it is not needed.
    Skipped,
}

/// Connects the servers of a program; they are in the order of the settings.
pub(super) struct ServerConnector {
    registry: Registry,
    pins: Arc<dyn PinStore>,
    credentials: Arc<ProjectCredentials>,
    options: AttachOptions,
    servers: Mutex<Vec<(String, ConnectionState)>>,
    state_changes: watch::Sender<()>,
    warning_handler: Mutex<Arc<WarningHandler>>,
}

/// Shows a warning about a server while the program runs.
pub(super) type WarningHandler = dyn Fn(&str) + Send + Sync;

impl ServerConnector {
    pub(super) fn new(
        registry: Registry,
        pins: Arc<dyn PinStore>,
        credentials: Arc<ProjectCredentials>,
        options: AttachOptions,
    ) -> Self {
        Self {
            registry,
            pins,
            credentials,
            options,
            servers: Mutex::default(),
            state_changes: watch::Sender::new(()),
            warning_handler: Mutex::new(Arc::new(|warning| tracing::warn!("{warning}"))),
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
                let items = server.status().items;
                items.iter().filter_map(|item| self.hidden_warning(item)).collect()
            }
        });
        warnings.concat()
    }

    /// The reason why a tool or prompt is hidden, and the command that accepts it; `None` if it is not hidden.
    fn hidden_warning(&self, item: &RemoteItem) -> Option<String> {
        let reason = item.hidden.as_deref()?;
        Some(format!("{reason} with `{} {}`", self.options.accept_command, item.name))
    }

    pub(super) fn pins(&self) -> &dyn PinStore {
        &*self.pins
    }

    pub(super) fn credentials(&self) -> &Arc<ProjectCredentials> {
        &self.credentials
    }

    /// Sets where the credentials of a server are stored and its issuer is pinned, and the command that logs in to it. Each person's own login is the
    /// operator's here.
    pub(super) fn with_credentials(&self, server: RemoteServer) -> RemoteServer {
        let hint = format!("run `{} {}`", self.options.login_command, server.name());
        let server = match server.is_personal() {
            true => server.person(None),
            false => server,
        };
        let server = server.credentials(Arc::clone(&self.credentials) as Arc<dyn CredentialStore>);
        // Of all people, because the client and its secret are the same for all.
        let server = server.issuer_pins(Arc::clone(&self.pins));
        let server = match &self.options.shared_state {
            Some(state) if self.options.serves_people => server.resume_calls(Arc::clone(state)),
            _ => server,
        };
        server.map_oauth(|oauth| oauth.login_hint(hint))
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

    /// Attaches a server. A long-running program retries transient errors with backoff.
    pub(super) async fn attach_with_retry(
        self: Arc<Self>,
        index: usize,
        server: RemoteServer,
        lifetime: ProgramLifetime,
    ) {
        let connector = Arc::downgrade(&self);
        let server = self.with_credentials(server).pins(Arc::clone(&self.pins));
        let mut server = server.on_hidden(move |item| {
            if let Some(connector) = connector.upgrade()
                && let Some(warning) = connector.hidden_warning(item)
            {
                connector.emit_warning(&warning);
            }
        });
        if let Some(elicitor) = &self.options.elicitor {
            server = server.elicit(Arc::clone(elicitor));
        }
        for delay in Backoff::new(INITIAL_BACKOFF, MAX_BACKOFF) {
            match server.clone().attach(&self.registry).await {
                Ok(attached) => return self.set_state(index, ConnectionState::Attached(attached)),
                Err(error) => {
                    self.set_state(index, ConnectionState::Failed(describe_attach_error(&error)));
                    if lifetime == ProgramLifetime::OneShot || !is_transient(&error) {
                        return;
                    }
                    if matches!(error, AttachError::LoginRequired { .. }) {
                        wait_for_login(&server).await;
                        continue;
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
            let rechecks = self.map_states(|_, state| match state {
                ConnectionState::Attached(server) => {
                    let mut items = server.status().items.into_iter();
                    items.any(|item| item.hidden.is_some()).then(|| server.recheck_pins())
                }
                _ => None,
            });
            for recheck in rechecks.into_iter().flatten() {
                // If the pins cannot be read, the tools stay hidden.
                let _ = recheck.await;
            }
        }
    }

    fn servers(&self) -> MutexGuard<'_, Vec<(String, ConnectionState)>> {
        lock(&self.servers)
    }
}

/// Waits until there is a credential that may be good: another process or node may log in.
async fn wait_for_login(server: &RemoteServer) {
    let before =
        server.credential().await.ok().flatten().map(|credential| credential.received_at());
    loop {
        tokio::time::sleep(LOGIN_RECHECK_INTERVAL).await;
        // If it cannot be read now, it may be later.
        let credential = server.credential().await.ok().flatten();
        if credential.is_some_and(|credential| Some(credential.received_at()) != before) {
            return;
        }
    }
}

/// Returns true if a retry may succeed without a change of the settings.
fn is_transient(error: &AttachError) -> bool {
    matches!(
        error,
        AttachError::Connect { .. }
            | AttachError::LoginRequired { .. }
            // A person may accept it meanwhile.
            | AttachError::UntrustedIssuer { .. }
            | AttachError::TimedOut { .. }
            | AttachError::Pins { source: PinError::Unreachable(_), .. }
    )
}
