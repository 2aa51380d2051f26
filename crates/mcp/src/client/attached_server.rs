//! An attached server: its status, accepting changed definitions, and detaching it.

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

/// A server that is attached to a registry until this is dropped.
///
/// Dropping it removes its tools and prompts from the registry and closes the connection in the background.
#[must_use = "dropping it removes its tools from the registry"]
pub struct AttachedServer {
    attachment: Arc<Attachment>,
    shutdown: CancellationToken,
    task: Option<JoinHandle<()>>,
    _prefix: PrefixReservation,
}

/// The status of an attached server.
///
/// It serializes to an object, with the latency in milliseconds.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AttachmentStatus {
    /// Its name.
    pub server: String,
    /// The prefix of its tools' names.
    pub prefix: String,
    /// Whether it is connected.
    pub is_connected: bool,
    /// Why it is not connected.
    #[serde(rename = "trouble")]
    pub error: Option<String>,
    /// The name and version that it reports.
    pub implementation: Option<String>,
    /// The negotiated revision of MCP.
    pub revision: Option<String>,
    /// The time of its last response.
    #[serde(rename = "latencyMs", serialize_with = "millis")]
    pub latency: Option<Duration>,
    /// Its tools and prompts.
    pub items: Vec<RemoteItem>,
    /// Definitions that were left out, repaired or hidden, and why.
    pub notes: Vec<String>,
}

fn millis<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64() * 1000.0).serialize(serializer)
}

impl AttachedServer {
    pub(super) async fn new(
        config: ValidatedServer,
        registry: &Registry,
    ) -> Result<Self, AttachError> {
        let prefix = PrefixReservation::reserve(registry, &config.prefix, &config.name)?;
        let attachment = Attachment::new(config, registry);
        let connection = attachment.connect().await.inspect_err(|_| attachment.close())?;
        let shutdown = CancellationToken::new();
        let task =
            tokio::spawn(keep_connected(Arc::clone(&attachment), connection, shutdown.clone()));
        Ok(Self { attachment, shutdown, task: Some(task), _prefix: prefix })
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &str {
        &self.attachment.config.name
    }

    /// Returns the current status.
    pub fn status(&self) -> AttachmentStatus {
        let attachment = &self.attachment;
        let (remote, error) = match attachment.link.state() {
            ConnectionState::Connected(remote) => (Some(remote), None),
            ConnectionState::Disconnected(reason) => (None, Some(reason.to_string())),
            ConnectionState::Detached => (None, Some("it was detached".to_owned())),
        };
        let catalogue = attachment.catalogue();
        AttachmentStatus {
            server: attachment.config.name.to_string(),
            prefix: attachment.config.prefix.clone(),
            is_connected: remote.is_some(),
            error,
            implementation: remote.as_ref().and_then(|remote| remote.implementation()),
            revision: remote.as_ref().map(|remote| remote.revision()),
            latency: attachment.link.latency(),
            items: catalogue.items().cloned().collect(),
            notes: catalogue.notes.clone(),
        }
    }

    /// Returns the definitions of its tools as the server sent them last, including those that are left out or hidden.
    pub fn raw_definitions(&self) -> Vec<Value> {
        self.attachment.catalogue().listing.tools.clone()
    }

    /// Waits until `condition` is true for the status, and returns it.
    ///
    /// # Cancellation
    ///
    /// Dropping the future changes nothing.
    pub async fn wait_for_status(
        &self,
        mut condition: impl FnMut(&AttachmentStatus) -> bool,
    ) -> AttachmentStatus {
        let mut changes = self.attachment.link.subscribe();
        loop {
            let status = self.status();
            // The error cannot happen: `self` owns the sender.
            if condition(&status) || changes.changed().await.is_err() {
                return status;
            }
        }
    }

    /// Accepts the change of a tool or prompt since it was pinned, and adds it to the registry again.
    ///
    /// `name` is the one in the registry or the server's.
    ///
    /// # Errors
    ///
    /// When no tool or prompt of that name is hidden, or the pins cannot be written.
    pub fn accept_change(
        &self,
        name: &str,
    ) -> impl Future<Output = Result<(), AttachError>> + Send + use<> {
        let (attachment, name) = (Arc::clone(&self.attachment), name.to_owned());
        async move {
            let server = || attachment.config.name.to_string();
            let hidden: Vec<String> = attachment
                .catalogue()
                .items()
                .filter(|item| item.hidden.is_some())
                .filter(|item| item.name == name || item.remote_name == name)
                .map(|item| pin_name(&item.remote_name, item.is_prompt))
                .collect();
            if hidden.is_empty() {
                return Err(AttachError::NotChanged { server: server(), name });
            }
            for definition in hidden {
                let pins = &attachment.config.pins;
                let accepted = pins.accept(&attachment.config.name, &definition).await;
                accepted.map_err(|source| AttachError::Pins { server: server(), source })?;
            }
            attachment.recheck_pins().await
        }
    }

    /// Compares the last listed definitions with the pins again: another process may have accepted a change.
    ///
    /// # Errors
    ///
    /// When the pins cannot be read or written.
    pub fn recheck_pins(&self) -> impl Future<Output = Result<(), AttachError>> + Send + use<> {
        let attachment = Arc::clone(&self.attachment);
        async move { attachment.recheck_pins().await }
    }

    /// Removes the server's tools and prompts from the registry, and closes the connection.
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
        f.debug_struct("AttachedServer")
            .field("server", &self.attachment.config.name)
            .finish_non_exhaustive()
    }
}
