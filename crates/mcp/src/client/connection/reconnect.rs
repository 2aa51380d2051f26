//! One attachment for as long as it lasts: connect, list, listen, connect again.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright_core::Registry;

use crate::client::catalogue::Catalogue;
use crate::client::catalogue::listing::{Listing, list_all};
use crate::client::connection::process::ProcessDiagnostics;
use crate::client::connection::shared_connection::{
    ConnectionState, LiveConnection, SharedConnection,
};
use crate::client::connection::{Connection, RemotePeer};
use crate::client::error::AttachError;
use crate::client::setup::validated_server::{TransportConfig, ValidatedServer};
use crate::import::error_chain;

/// How long to wait before the second try to connect again, and at most.
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// A connection that lasted this long was a good one.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// How often a server may make us list its tools.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

/// How long a person may take to authorize us.
const AUTHORIZATION_TIMEOUT: Duration = Duration::from_secs(300);

/// All there is of one attachment.
pub(crate) struct Attachment {
    pub(crate) config: ValidatedServer,
    pub(crate) registry: Registry,
    pub(crate) link: Arc<SharedConnection>,
    catalogue: Mutex<Catalogue>,
    /// Told when the server's lists have changed.
    list_changed: Arc<Notify>,
}

impl Attachment {
    pub(crate) fn new(plan: ValidatedServer, registry: &Registry) -> Arc<Self> {
        Arc::new(Self {
            link: SharedConnection::new(Arc::clone(&plan.name)),
            config: plan,
            registry: registry.clone(),
            catalogue: Mutex::default(),
            list_changed: Arc::default(),
        })
    }

    pub(crate) fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        self.catalogue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects, lists everything and shows it.
    pub(crate) async fn connect(&self) -> Result<Connection, AttachError> {
        let mut after = self.config.limits.connect_timeout;
        if let TransportConfig::Http { wire, .. } = &self.config.target
            && wire.token_source.is_some()
        {
            after += AUTHORIZATION_TIMEOUT;
        }
        let mut aside = ProcessDiagnostics::default();
        let work = async {
            let connection = Connection::open(&self.config, &self.list_changed, &mut aside).await?;
            let listing = list_all(&self.config, &connection.remote, &self.link).await?;
            Ok::<_, AttachError>((connection, listing))
        };
        let done = tokio::time::timeout(after, work).await;
        let (connection, listing) = match done {
            Ok(done) => done?,
            Err(_) => {
                return Err(AttachError::TimedOut {
                    server: self.config.name.to_string(),
                    after,
                    message: aside.summary(),
                });
            }
        };
        self.sync_registry(listing)?;
        self.link
            .set(ConnectionState::Connected(Arc::new(LiveConnection {
                peer: connection.remote.peer.clone(),
                handler_state: Arc::clone(&connection.remote.handler_state),
                revision: connection.remote.info.protocol_version.to_string(),
                implementation: connection.remote.implementation(),
            })));
        Ok(connection)
    }

    pub(crate) fn sync_registry(&self, listing: Listing) -> Result<(), AttachError> {
        let mut catalogue = self.catalogue();
        let shown = catalogue.sync(&self.config, &self.link, &self.registry, listing);
        drop(catalogue);
        let hidden = shown.map_err(|source| AttachError::Pins {
            server: self.config.name.to_string(),
            source,
        })?;
        for listed in &hidden {
            let why = listed.hidden.as_deref().unwrap_or_default();
            tracing::warn!(server = &*self.config.name, "{why}");
            if let Some(hears) = &self.config.on_hidden {
                hears(listed);
            }
        }
        Ok(())
    }

    /// Lists again; what cannot be shown leaves everything as it was, with a note.
    ///
    /// `Err` says why the server cannot even be asked.
    async fn refresh_listing(&self, met: &RemotePeer) -> Result<(), String> {
        let listed = tokio::time::timeout(
            self.config.limits.connect_timeout,
            list_all(&self.config, met, &self.link),
        );
        let shown = match listed.await {
            Ok(listed) => listed.and_then(|listing| self.sync_registry(listing)),
            Err(_) => Err(AttachError::TimedOut {
                server: self.config.name.to_string(),
                after: self.config.limits.connect_timeout,
                message: String::new(),
            }),
        };
        match shown {
            Ok(()) => {}
            Err(error @ (AttachError::Connect { .. } | AttachError::TimedOut { .. })) => {
                return Err(error_chain(&error));
            }
            Err(error) => {
                let note = format!("its changed lists were not read: {}", error_chain(&error));
                self.catalogue().add_note(note);
            }
        }
        self.link.notify_subscribers();
        Ok(())
    }

    /// Takes everything out of the registry, for good.
    pub(crate) fn close(&self) {
        self.catalogue().close(&self.registry);
        self.link.set(ConnectionState::Detached);
    }
}

/// Keeps the connection until it is told to end.
pub(crate) async fn keep_connected(
    shared: Arc<Attachment>,
    mut connection: Connection,
    end: CancellationToken,
) {
    let mut tries = 0;
    loop {
        let since = Instant::now();
        let listening = ListChangeSubscription::subscribe(&shared, &connection.remote);
        let why = serve_connection(&shared, &mut connection, &end).await;
        drop(listening);
        let Some(why) = why else {
            return connection.close().await;
        };
        shared.link.set(ConnectionState::Disconnected(why.into()));
        connection.close().await;
        if since.elapsed() >= STABLE_AFTER {
            tries = 0;
        }
        connection = loop {
            let pause = backoff(tries);
            tries += 1;
            let again = async {
                tokio::time::sleep(pause).await;
                shared.connect().await
            };
            tokio::select! {
                () = end.cancelled() => return,
                connected = again => match connected {
                    Ok(connection) => break connection,
                    Err(error) => shared.link.set(ConnectionState::Disconnected(error_chain(&error).into())),
                },
            }
        };
    }
}

/// Serves a connection; returns why it ended, or `None` if it was told to.
async fn serve_connection(
    shared: &Attachment,
    connection: &mut Connection,
    end: &CancellationToken,
) -> Option<String> {
    let mut quiet = Instant::now();
    loop {
        let news = async {
            tokio::time::sleep_until(quiet).await;
            shared.list_changed.notified().await;
        };
        tokio::select! {
            () = end.cancelled() => return None,
            why = connection.ended() => return Some(why),
            why = shared.link.wait_broken() => return Some(why),
            () = news => {}
        }
        quiet = Instant::now() + MIN_LIST_INTERVAL;
        tokio::select! {
            () = end.cancelled() => return None,
            listed = shared.refresh_listing(&connection.remote) => if let Err(why) = listed {
                return Some(why);
            }
        }
    }
}

/// How long to wait before the next try: longer each time, and never the same for two.
fn backoff(tries: u32) -> Duration {
    if tries == 0 {
        return Duration::ZERO;
    }
    let whole = MIN_BACKOFF.saturating_mul(2_u32.saturating_pow(tries - 1));
    let whole = whole.min(MAX_BACKOFF);
    // Hashes of nothing differ by their random keys.
    let chance = RandomState::new().build_hasher().finish() % 1000;
    whole.mul_f64(0.5 + chance as f64 / 1000.0)
}

/// Hears of changes where there is no session to hear of them in.
struct ListChangeSubscription(Option<AbortHandle>);

impl ListChangeSubscription {
    fn subscribe(shared: &Attachment, met: &RemotePeer) -> Self {
        let offers = &met.info.capabilities;
        let tools = offers.tools.as_ref().and_then(|tools| tools.list_changed);
        let prompts = offers
            .prompts
            .as_ref()
            .and_then(|prompts| prompts.list_changed);
        let (tools, prompts) = (tools == Some(true), prompts == Some(true));
        if !met.is_stateless() || !(tools || prompts) {
            return Self(None);
        }
        let mut filter = SubscriptionFilter::builder();
        if tools {
            filter = filter.tools_list_changed();
        }
        if prompts {
            filter = filter.prompts_list_changed();
        }
        let filter = filter.build();
        let (peer, news) = (met.peer.clone(), Arc::clone(&shared.list_changed));
        let task = tokio::spawn(async move {
            let mut tries = 1;
            loop {
                if let Ok(mut heard) = peer.listen(filter.clone()).await {
                    while let Ok(Some(_)) = heard.next().await {
                        tries = 1;
                        news.notify_one();
                    }
                    // What changed meanwhile was not heard.
                    news.notify_one();
                }
                tokio::time::sleep(backoff(tries)).await;
                tries += 1;
            }
        });
        Self(Some(task.abort_handle()))
    }
}

impl Drop for ListChangeSubscription {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit_and_differ() {
        assert_eq!(backoff(0), Duration::ZERO);
        for tries in [1, 2, 8, 1000] {
            let whole = MIN_BACKOFF
                .saturating_mul(2_u32.saturating_pow(tries - 1))
                .min(MAX_BACKOFF);
            let pause = backoff(tries);
            assert!(
                pause >= whole / 2 && pause <= whole * 2,
                "{tries}: {pause:?}"
            );
        }
        let pauses: std::collections::HashSet<Duration> = (0..50).map(|_| backoff(5)).collect();
        assert!(pauses.len() > 1);
    }
}
