//! The client of the servers, and the state of its connection.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::connection::State;
use async_nats::rustls::crypto::ring;
use async_nats::rustls::pki_types::CertificateDer;
use async_nats::rustls::pki_types::pem::PemObject as _;
use async_nats::rustls::{ClientConfig, RootCertStore};
use async_nats::{Client, ConnectOptions, Event, Request};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use toolwright_core::Backoff;

use super::address::{Address, Credential};
use crate::bus::BusError;
use crate::channel_key::ChannelKey;

/// How often a silent connection is checked; it counts as lost after the third unanswered check.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// How long the server may take to answer a request.
const ROUND_TRIP_TIMEOUT: Duration = Duration::from_secs(2);

/// The commands that the client queues: few, because they are sent late rather than dropped when the server is away.
const CLIENT_CAPACITY: usize = 512;

/// The events of the client that wait to be read; the supervisor notices what is left out by itself.
const MAX_EVENTS: usize = 256;

/// The client, and the state of its connection; cheap to clone.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) client: Client,
    prefix: Arc<str>,
    state: watch::Receiver<LinkState>,
}

/// The state of the connection, as the supervisor has checked it.
#[derive(Clone, Copy, PartialEq, Default)]
pub(super) struct LinkState {
    pub(super) is_connected: bool,
    /// The number of the newest connection on which the server has confirmed all subscriptions.
    pub(super) generation: u64,
    /// Rises whenever all subscriptions have to receive a gap.
    pub(super) gaps: u64,
}

impl Link {
    /// Starts to connect. The sender of the state is for the supervisor.
    pub(super) async fn open(
        address: Address,
    ) -> Result<(Self, mpsc::Receiver<Event>, watch::Sender<LinkState>), BusError> {
        let (events, received_events) = mpsc::channel(MAX_EVENTS);
        let prefix = address.prefix;
        let mut options = ConnectOptions::new()
            .name("toolwright")
            .no_echo()
            .retry_on_initial_connect()
            .tls_client_config(tls_config(address.ca_file.as_deref())?)
            .ping_interval(PING_INTERVAL)
            .client_capacity(CLIENT_CAPACITY)
            .custom_inbox_prefix(format!("{prefix}.inbox"))
            .reconnect_delay_callback(reconnect_delay)
            .event_callback(move |event| {
                let _ = events.try_send(event);
                std::future::ready(())
            });
        options = match address.credential {
            Credential::None => options,
            Credential::Token(token) => options.token(token),
            Credential::Password { user, password } => options.user_and_password(user, password),
        };
        let client = options.connect(address.servers).await.map_err(|error| {
            BusError::new("the client of NATS cannot be started").with_source(error)
        })?;
        let (sender, state) = watch::channel(LinkState::default());
        Ok((Self { client, prefix: prefix.into(), state }, received_events, sender))
    }

    pub(super) fn state(&self) -> watch::Receiver<LinkState> {
        self.state.clone()
    }

    pub(super) fn is_connected(&self) -> bool {
        self.state.borrow().is_connected
    }

    /// The number of connections so far; the client counts one before it reads anything from it.
    pub(super) fn connections(&self) -> u64 {
        self.client.statistics().connects.load(Ordering::Relaxed)
    }

    /// Returns true if the client has a connection, which the supervisor may not have checked yet.
    pub(super) fn has_connection(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    /// The subject of a channel.
    pub(super) fn subject(&self, key: ChannelKey) -> String {
        format!("{}.{key}", self.prefix)
    }

    /// The subject of gaps of all channels.
    pub(super) fn gap_subject(&self) -> String {
        format!("{}.all", self.prefix)
    }

    /// Waits until the server has processed everything that was sent before; false if it does not answer in time.
    pub(super) async fn round_trip(&self) -> bool {
        // No one subscribes to this subject, so the server itself answers that there are no responders. The timeout is around
        // the whole: that of the client's own request does not include the wait for a place in its queue, which is full
        // while there is no connection.
        let request = self.client.send_request(format!("{}.sync", self.prefix), Request::new());
        match timeout(ROUND_TRIP_TIMEOUT, request).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => error.kind() == RequestErrorKind::NoResponders,
            Err(_) => false,
        }
    }
}

/// Verifies certificates of servers with those of a file, or else of the system.
fn tls_config(ca_file: Option<&Path>) -> Result<ClientConfig, BusError> {
    let mut roots = RootCertStore::empty();
    match ca_file {
        None => {
            // Certificates that cannot be read are left out: a connection over TLS fails then, and one without does not.
            let system = rustls_native_certs::load_native_certs();
            let _ = roots.add_parsable_certificates(system.certs);
        }
        Some(file) => {
            let unreadable = |error: Box<dyn std::error::Error + Send + Sync>| {
                let file = file.display();
                BusError::new(format!("the certificates in `{file}` cannot be read"))
                    .with_source(error)
            };
            let certificates = CertificateDer::pem_file_iter(file);
            for certificate in certificates.map_err(|error| unreadable(error.into()))? {
                let certificate = certificate.map_err(|error| unreadable(error.into()))?;
                roots.add(certificate).map_err(|error| unreadable(error.into()))?;
            }
            if roots.is_empty() {
                return Err(unreadable("there is none".into()));
            }
        }
    }
    // The provider is named, because a program may link several.
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| BusError::new("TLS cannot be set up").with_source(error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// The delay before an attempt to connect, of all those since the last success.
fn reconnect_delay(attempts: usize) -> Duration {
    if attempts <= 1 {
        return Duration::ZERO;
    }
    let backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(4)).jitter(0.5..1.5);
    backoff.take(16).nth((attempts - 2).min(15)).unwrap_or_default()
}
