//! Keeps a server attached: connects, lists its tools, follows changes, reconnects.

use std::iter;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolwright_core::{Backoff, Registry};

use crate::client::catalogue::listing::{Listing, list_all};
use crate::client::catalogue::remote_call::question::question_tool;
use crate::client::catalogue::{Catalogue, ParsedListing};
use crate::client::connection::process::ProcessDiagnostics;
use crate::client::connection::shared_connection::{ConnectionState, SharedConnection};
use crate::client::connection::{Connection, RemotePeer};
use crate::client::error::AttachError;
use crate::client::setup::validated_server::{TransportConfig, ValidatedServer};
use crate::import::error_chain;
use crate::lock::lock;
use crate::pin::PinError;

/// The backoff before the second attempt to reconnect, and its maximum.
const MIN_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(60);

/// After a connection of this length, the backoff starts from the beginning.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// Notifications of changed lists in between lead to one listing.
const MIN_LIST_INTERVAL: Duration = Duration::from_secs(1);

/// The time that a user has to authorize the client; added to the connect timeout.
const AUTHORIZATION_TIMEOUT: Duration = Duration::from_secs(300);

/// One server that is attached to a registry.
pub(crate) struct Attachment {
    pub(crate) config: ValidatedServer,
    pub(crate) registry: Registry,
    pub(crate) link: Arc<SharedConnection>,
    catalogue: Mutex<Catalogue>,
    /// Locked while a listing is compared with its pins, so that listings are applied in order.
    syncing: tokio::sync::Mutex<()>,
    /// Notified when the server's lists have changed.
    list_changed: Arc<Notify>,
}

impl Attachment {
    pub(crate) fn new(config: ValidatedServer, registry: &Registry) -> Arc<Self> {
        Arc::new(Self {
            link: SharedConnection::new(Arc::clone(&config.name)),
            config,
            registry: registry.clone(),
            catalogue: Mutex::default(),
            syncing: tokio::sync::Mutex::default(),
            list_changed: Arc::default(),
        })
    }

    pub(crate) fn catalogue(&self) -> MutexGuard<'_, Catalogue> {
        lock(&self.catalogue)
    }

    /// Connects, lists the tools and prompts, and adds them to the registry.
    pub(crate) async fn connect(&self) -> Result<Connection, AttachError> {
        let mut timeout = self.config.limits.connect_timeout;
        if let TransportConfig::Http { wire, .. } = &self.config.target
            && wire.token_source.as_ref().is_some_and(|tokens| tokens.is_interactive())
        {
            timeout += AUTHORIZATION_TIMEOUT;
        }
        let mut diagnostics = ProcessDiagnostics::default();
        let connect = async {
            let connection =
                Connection::open(&self.config, &self.list_changed, &mut diagnostics).await?;
            let listing = list_all(&self.config, &connection.remote, &self.link).await?;
            Ok::<_, AttachError>((connection, listing))
        };
        let (connection, listing) = match tokio::time::timeout(timeout, connect).await {
            Ok(connected) => connected?,
            Err(_) => {
                return Err(AttachError::TimedOut {
                    server: self.config.name.to_string(),
                    after: timeout,
                    message: match self.config.address() {
                        Some(address) => format!(" at {address}"),
                        None => diagnostics.summary(),
                    },
                });
            }
        };
        self.register_question_tool()?;
        self.sync_registry(Some(listing)).await?;
        let remote = Arc::clone(&connection.remote);
        self.link.set(ConnectionState::Connected(remote));
        Ok(connection)
    }

    /// Adds the tool that asks the person of a turn, before the tools of the server, which must not take its name.
    fn register_question_tool(&self) -> Result<(), AttachError> {
        let name = self.config.question_tool_name();
        if self.config.call_states.is_none() || self.registry.get(name.as_str()).is_some() {
            return Ok(());
        }
        let invalid = |error: &(dyn std::error::Error + 'static)| AttachError::InvalidOptions {
            server: self.config.name.to_string(),
            message: error_chain(error),
        };
        let tool = question_tool(&self.config, name.as_str()).map_err(|error| invalid(&error))?;
        self.registry.add(tool).map_err(|error| invalid(&error))?;
        Ok(())
    }

    /// Compares a listing with the pins, by default the last one, and updates the registry.
    pub(crate) async fn sync_registry(&self, listing: Option<Listing>) -> Result<(), AttachError> {
        let _syncing = self.syncing.lock().await;
        let listing = listing.unwrap_or_else(|| self.catalogue().listing.clone());
        let parsed = ParsedListing::parse(listing);
        let checked = self.config.pins.check(&self.config.name, &parsed.fingerprints()).await;
        let statuses = checked
            .map_err(|source| AttachError::Pins { server: self.config.name.to_string(), source })?;
        let hidden =
            self.catalogue().sync(&self.config, &self.link, &self.registry, parsed, statuses);
        for item in &hidden {
            let reason = item.hidden.as_deref().unwrap_or_default();
            tracing::warn!(server = &*self.config.name, "{reason}");
            if let Some(on_hidden) = &self.config.on_hidden {
                on_hidden(item);
            }
        }
        Ok(())
    }

    /// Compares the last listing with the pins again.
    pub(crate) async fn recheck_pins(&self) -> Result<(), AttachError> {
        self.sync_registry(None).await?;
        self.link.notify_subscribers();
        Ok(())
    }

    /// Lists again. An invalid listing leaves the registry as it was, with a note; the error is that of a broken connection.
    async fn refresh_listing(&self, remote: &RemotePeer) -> Result<(), String> {
        let listing = tokio::time::timeout(
            self.config.limits.connect_timeout,
            list_all(&self.config, remote, &self.link),
        );
        let synced = match listing.await {
            Ok(Ok(listing)) => self.sync_registry(Some(listing)).await,
            Ok(Err(error)) => Err(error),
            Err(_) => Err(AttachError::TimedOut {
                server: self.config.name.to_string(),
                after: self.config.limits.connect_timeout,
                message: String::new(),
            }),
        };
        match synced {
            Ok(()) => {}
            Err(error @ (AttachError::Connect { .. } | AttachError::TimedOut { .. })) => {
                return Err(error_chain(&error));
            }
            Err(error) => {
                if matches!(error, AttachError::Pins { source: PinError::Unreachable(_), .. }) {
                    self.list_changed.notify_one();
                }
                let note = format!("its changed lists were not read: {}", error_chain(&error));
                self.catalogue().add_note(note);
            }
        }
        self.link.notify_subscribers();
        Ok(())
    }

    /// Removes everything from the registry, for good.
    pub(crate) fn close(&self) {
        self.catalogue().close(&self.registry);
        if self.config.call_states.is_some() {
            self.registry.remove(self.config.question_tool_name().as_str());
        }
        self.link.set(ConnectionState::Detached);
    }
}

/// Serves connections, each after the other, until `shutdown`.
pub(crate) async fn keep_connected(
    attachment: Arc<Attachment>,
    mut connection: Connection,
    shutdown: CancellationToken,
) {
    // The first attempt is made at once.
    let reconnect_delays = || iter::once(Duration::ZERO).chain(backoff());
    let mut delays = reconnect_delays();
    loop {
        let connected_at = Instant::now();
        let subscription = ListChangeSubscription::subscribe(&attachment, &connection.remote);
        let reason = serve_connection(&attachment, &mut connection, &shutdown).await;
        drop(subscription);
        let Some(reason) = reason else {
            return connection.close().await;
        };
        attachment.link.set(ConnectionState::Disconnected(reason.into()));
        connection.close().await;
        if connected_at.elapsed() >= STABLE_AFTER {
            delays = reconnect_delays();
        }
        connection = loop {
            let delay = delays.next().unwrap_or_default();
            let reconnect = async {
                tokio::time::sleep(delay).await;
                attachment.connect().await
            };
            tokio::select! {
                () = shutdown.cancelled() => return,
                connected = reconnect => match connected {
                    Ok(connection) => break connection,
                    Err(error) => attachment.link.set(ConnectionState::Disconnected(error_chain(&error).into())),
                },
            }
        };
    }
}

/// Serves a connection; returns why it ended, or `None` on `shutdown`.
async fn serve_connection(
    attachment: &Attachment,
    connection: &mut Connection,
    shutdown: &CancellationToken,
) -> Option<String> {
    let mut not_before = Instant::now();
    loop {
        let changed = async {
            tokio::time::sleep_until(not_before).await;
            attachment.list_changed.notified().await;
        };
        tokio::select! {
            () = shutdown.cancelled() => return None,
            reason = connection.wait_closed() => return Some(reason),
            reason = attachment.link.wait_broken() => return Some(reason),
            () = changed => {}
        }
        not_before = Instant::now() + MIN_LIST_INTERVAL;
        tokio::select! {
            () = shutdown.cancelled() => return None,
            refreshed = attachment.refresh_listing(&connection.remote) => if let Err(reason) = refreshed {
                return Some(reason);
            }
        }
    }
}

fn backoff() -> Backoff {
    Backoff::new(MIN_BACKOFF, MAX_BACKOFF).jitter(0.5..1.5)
}

/// Subscribes to changes of the lists, in revisions without sessions.
struct ListChangeSubscription(Option<AbortHandle>);

impl ListChangeSubscription {
    fn subscribe(attachment: &Attachment, remote: &RemotePeer) -> Self {
        let capabilities = &remote.info.capabilities;
        let tools = capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
        let prompts = capabilities.prompts.as_ref().and_then(|prompts| prompts.list_changed);
        let (tools, prompts) = (tools == Some(true), prompts == Some(true));
        if !remote.is_stateless() || !(tools || prompts) {
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
        let (peer, list_changed) = (remote.peer.clone(), Arc::clone(&attachment.list_changed));
        let task = tokio::spawn(async move {
            let mut backoff = backoff();
            loop {
                if let Ok(mut notifications) = peer.listen(filter.clone()).await {
                    while let Ok(Some(_)) = notifications.next().await {
                        backoff.reset();
                        list_changed.notify_one();
                    }
                    // Changes may be missed until the next subscription.
                    list_changed.notify_one();
                }
                tokio::time::sleep(backoff.next().unwrap_or_default()).await;
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
