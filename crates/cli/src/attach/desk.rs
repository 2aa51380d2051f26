//! One server at a time: tried, held, and tried again where that helps.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use toolwright_core::Registry;
use toolwright_mcp::{AttachError, AttachedServer, PinStore, RemoteServer};

use super::{Person, Stay, hidden, told};
use crate::print;

/// How long to wait before a server is tried for the second time, and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How often to look whether somebody has accepted what is hidden.
const RECHECK: Duration = Duration::from_secs(2);

/// How far a server is.
pub(super) enum State {
    /// It is tried for the first time.
    Connecting,
    Attached(AttachedServer),
    /// It could not be attached, and this is why.
    Failed(String),
    /// Nobody needed it.
    Left,
}

/// All servers of a command, in the order of the settings.
pub(super) struct Desk {
    registry: Registry,
    pins: Arc<dyn PinStore>,
    person: Option<Arc<Person>>,
    servers: Mutex<Vec<(String, State)>>,
    changed: watch::Sender<()>,
    report: Mutex<Arc<Report>>,
}

/// Shows a warning about a server while the command runs.
pub(super) type Report = dyn Fn(&str) + Send + Sync;

impl Desk {
    pub(super) fn new(
        registry: Registry,
        pins: Arc<dyn PinStore>,
        person: Option<Arc<Person>>,
    ) -> Self {
        Self {
            registry,
            pins,
            person,
            servers: Mutex::default(),
            changed: watch::Sender::new(()),
            report: Mutex::new(Arc::new(|warning| {
                print::aside(&format!("warning: {warning}\n"));
            })),
        }
    }

    /// Shows later warnings in this way.
    pub(super) fn report_with(&self, report: Arc<Report>) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    fn report(&self, warning: &str) {
        let report = Arc::clone(&self.report.lock().unwrap_or_else(PoisonError::into_inner));
        report(warning);
    }

    /// What is wrong with the servers, in words for a person.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warnings = self.each(|name, state| match state {
            State::Left => Vec::new(),
            State::Connecting => vec![format!("server `{name}` is still connecting")],
            State::Failed(why) => vec![why.clone()],
            State::Attached(server) => server.status().items.iter().filter_map(hidden).collect(),
        });
        warnings.concat()
    }

    pub(super) fn person(&self) -> Option<&Person> {
        self.person.as_deref()
    }

    pub(super) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Makes a place for a server, unless one of its name has one.
    pub(super) fn begin(&self, wanted: &RemoteServer) -> Option<usize> {
        let mut servers = self.servers();
        let name = wanted.name().trim();
        if servers.iter().any(|(known, _)| known == name) {
            return None;
        }
        servers.push((name.to_owned(), State::Connecting));
        Some(servers.len() - 1)
    }

    pub(super) fn set(&self, place: usize, state: State) {
        if let Some((_, held)) = self.servers().get_mut(place) {
            *held = state;
        }
        self.changed.send_replace(());
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.each(|name, _| name.to_owned())
    }

    pub(super) fn each<T>(&self, mut look: impl FnMut(&str, &State) -> T) -> Vec<T> {
        let servers = self.servers();
        servers
            .iter()
            .map(|(name, state)| look(name, state))
            .collect()
    }

    /// Those that have not been tried to the end.
    pub(super) fn connecting(&self) -> Vec<String> {
        let connecting = self.each(|name, state| match state {
            State::Connecting => Some(name.to_owned()),
            _ => None,
        });
        connecting.into_iter().flatten().collect()
    }

    /// Told whenever something has become of a server.
    pub(super) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Takes all that are attached.
    pub(super) fn take(&self) -> Vec<AttachedServer> {
        let servers = std::mem::take(&mut *self.servers());
        let attached = servers.into_iter().filter_map(|(_, state)| match state {
            State::Attached(server) => Some(server),
            _ => None,
        });
        attached.collect()
    }

    /// Attaches a server; while that cannot be, and the command stays, tries again.
    pub(super) async fn keep(self: Arc<Self>, place: usize, wanted: RemoteServer, stay: Stay) {
        let mut pause = FIRST_PAUSE;
        let desk = Arc::downgrade(&self);
        let wanted = wanted.pins(Arc::clone(&self.pins));
        let mut wanted = wanted.on_hidden(move |listed| {
            if let (Some(desk), Some(warning)) = (desk.upgrade(), hidden(listed)) {
                desk.report(&warning);
            }
        });
        if let Some(person) = &self.person {
            wanted = wanted.elicit(Arc::clone(person) as _);
        }
        loop {
            match wanted.clone().attach(&self.registry).await {
                Ok(server) => return self.set(place, State::Attached(server)),
                Err(error) => {
                    self.set(place, State::Failed(told(&error)));
                    if stay == Stay::Short || !may_pass(&error) {
                        return;
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// Shows what is hidden again once somebody has accepted it, in another process.
    pub(super) async fn recheck(&self) {
        loop {
            tokio::time::sleep(RECHECK).await;
            self.each(|_, state| {
                let State::Attached(server) = state else {
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

    fn servers(&self) -> MutexGuard<'_, Vec<(String, State)>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the next try may go better although nobody changes a setting.
fn may_pass(error: &AttachError) -> bool {
    matches!(
        error,
        AttachError::Connect { .. } | AttachError::TimedOut { .. }
    )
}
