//! A server that is attached: how it is, what it has, and how to let it go.

use std::sync::Arc;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolwright_core::Registry;

use super::catalogue::{RemoteItem, pin_name};
use super::error::AttachError;
use crate::client::connection::reconnect::{Attachment, keep_connected};
use crate::client::connection::shared_connection::ConnectionState;
use crate::client::setup::prefixes::PrefixReservation;
use crate::client::setup::validated_server::ValidatedServer;

/// A server that is attached to a registry, for as long as this is kept.
///
/// Dropped, it takes its tools and prompts out of the registry and closes the connection in the background.
#[must_use = "dropped, it takes its tools out of the registry"]
pub struct AttachedServer {
    attachment: Arc<Attachment>,
    shutdown: CancellationToken,
    task: Option<JoinHandle<()>>,
    _prefix: PrefixReservation,
}

/// How an attached server is.
///
/// It serialises to an object, with the latency in milliseconds.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AttachmentStatus {
    /// The name it is called here.
    pub server: String,
    /// What the names of its tools begin with.
    pub prefix: String,
    /// Whether it is connected.
    pub is_connected: bool,
    /// Why it is not, in words.
    #[serde(rename = "trouble")]
    pub error: Option<String>,
    /// What it calls itself.
    pub implementation: Option<String>,
    /// The revision of MCP that is spoken.
    pub revision: Option<String>,
    /// How long it took to answer last.
    #[serde(rename = "latencyMs", serialize_with = "millis")]
    pub latency: Option<Duration>,
    /// Its tools and prompts.
    pub items: Vec<RemoteItem>,
    /// What was left out, changed or hidden, and why.
    pub notes: Vec<String>,
}

fn millis<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64() * 1000.0)
        .serialize(serializer)
}

impl AttachedServer {
    pub(super) async fn new(
        plan: ValidatedServer,
        registry: &Registry,
    ) -> Result<Self, AttachError> {
        let claim = PrefixReservation::reserve(registry, &plan.prefix, &plan.name)?;
        let shared = Attachment::new(plan, registry);
        let connection = shared.connect().await?;
        let end = CancellationToken::new();
        let task = tokio::spawn(keep_connected(Arc::clone(&shared), connection, end.clone()));
        Ok(Self {
            attachment: shared,
            shutdown: end,
            task: Some(task),
            _prefix: claim,
        })
    }

    /// Returns the name that the server is called here.
    pub fn name(&self) -> &str {
        &self.attachment.config.name
    }

    /// Tells how the server is, and what it has.
    pub fn status(&self) -> AttachmentStatus {
        let shared = &self.attachment;
        let (live, trouble) = match shared.link.state() {
            ConnectionState::Connected(live) => (Some(live), None),
            ConnectionState::Disconnected(why) => (None, Some(why.to_string())),
            ConnectionState::Detached => (None, Some("it was detached".to_owned())),
        };
        let catalogue = shared.catalogue();
        AttachmentStatus {
            server: shared.config.name.to_string(),
            prefix: shared.config.prefix.clone(),
            is_connected: live.is_some(),
            error: trouble,
            implementation: live.as_ref().and_then(|live| live.implementation.clone()),
            revision: live.as_ref().map(|live| live.revision.clone()),
            latency: shared.link.latency(),
            items: catalogue.items().cloned().collect(),
            notes: catalogue.notes.clone(),
        }
    }

    /// Returns its tools as the server itself wrote them when it listed them last, what is left out or hidden included.
    pub fn raw_definitions(&self) -> Vec<Value> {
        self.attachment.catalogue().listing.tools.clone()
    }

    /// Waits until the status fits, and returns it.
    ///
    /// # Cancellation
    ///
    /// Dropped, it has changed nothing.
    pub async fn wait_for_status(
        &self,
        mut fits: impl FnMut(&AttachmentStatus) -> bool,
    ) -> AttachmentStatus {
        let mut changes = self.attachment.link.subscribe();
        loop {
            let status = self.status();
            // Without a sender there are no more changes; but we hold it.
            if fits(&status) || changes.changed().await.is_err() {
                return status;
            }
        }
    }

    /// Accepts what a tool or prompt has become since it was pinned, and shows it again.
    ///
    /// It goes by the name it has here, or by the one its server gives it.
    ///
    /// # Errors
    ///
    /// When nothing of that name is hidden, or the pins cannot be written.
    pub fn accept_change(&self, name: &str) -> Result<(), AttachError> {
        let shared = &self.attachment;
        let server = || shared.config.name.to_string();
        let (hidden, listing) = {
            let catalogue = shared.catalogue();
            let hidden: Vec<String> = catalogue
                .items()
                .filter(|listed| listed.hidden.is_some())
                .filter(|listed| listed.name == name || listed.remote_name == name)
                .map(|listed| pin_name(&listed.remote_name, listed.is_prompt))
                .collect();
            (hidden, catalogue.listing.clone())
        };
        if hidden.is_empty() {
            return Err(AttachError::NotChanged {
                server: server(),
                name: name.to_owned(),
            });
        }
        for definition in hidden {
            let accepted = shared.config.pins.accept(&shared.config.name, &definition);
            accepted.map_err(|source| AttachError::Pins {
                server: server(),
                source,
            })?;
        }
        shared.sync_registry(listing)?;
        shared.link.notify_subscribers();
        Ok(())
    }

    /// Compares what was listed last with the pins again: somebody else may have accepted something.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written.
    pub fn recheck_pins(&self) -> Result<(), AttachError> {
        let listing = self.attachment.catalogue().listing.clone();
        self.attachment.sync_registry(listing)?;
        self.attachment.link.notify_subscribers();
        Ok(())
    }

    /// Takes the server's tools and prompts out of the registry, and closes the connection.
    pub async fn detach(mut self) {
        self.attachment.close();
        self.shutdown.cancel();
        if let Some(task) = self.task.take() {
            let _ = task.await;
        }
    }
}

impl Drop for AttachedServer {
    fn drop(&mut self) {
        self.attachment.close();
        self.shutdown.cancel();
    }
}

impl std::fmt::Debug for AttachedServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Attached")
            .field("server", &self.attachment.config.name)
            .finish_non_exhaustive()
    }
}
