//! Connects to a server: transport, handshake, authorization.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::error::AttachError;
use crate::client::connection::error_map::describe_handshake_error;
use crate::client::connection::handler::{HandlerState, McpClientHandler};
use crate::client::connection::http::Challenge;
use crate::client::connection::process::{ProcessDiagnostics, ServerProcess};
use crate::client::oauth::AuthorizationFailure;
use crate::client::setup::validated_server::{ServerCommand, TransportConfig, ValidatedServer};
use crate::import::sanitize;

pub(crate) mod error_map;
pub(crate) mod handler;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod reconnect;
pub(crate) mod shared_connection;

const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The number of authorizations after which connecting fails.
const MAX_AUTHORIZATIONS: usize = 3;

/// A connection after the handshake.
pub(super) struct Connection {
    pub(super) remote: Arc<RemotePeer>,
    diagnostics: ProcessDiagnostics,
    cancel: CancellationToken,
    /// Completes when the connection is closed; shared, since it is awaited more than once.
    ended: Shared<BoxFuture<'static, ()>>,
    process: Option<ServerProcess>,
}

/// The server at the other end of a connection.
pub(crate) struct RemotePeer {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) handler_state: Arc<HandlerState>,
    pub(crate) info: Arc<ServerPeerInfo>,
}

impl RemotePeer {
    /// Returns the name and version that the server reports.
    pub(super) fn implementation(&self) -> Option<String> {
        let info = self.info.server_info.as_ref()?;
        Some(sanitize(&format!("{} {}", info.name, info.version), 200))
    }

    pub(super) fn revision(&self) -> String {
        self.info.protocol_version.to_string()
    }

    /// Returns true if the negotiated revision has no sessions.
    pub(super) fn is_stateless(&self) -> bool {
        !self.info.protocol_version.has_initialize()
    }
}

impl Connection {
    /// Connects; the caller sets the timeout. `diagnostics` receives those of the process as soon as it is started.
    pub(super) async fn open(
        config: &ValidatedServer,
        list_changed: &Arc<Notify>,
        diagnostics: &mut ProcessDiagnostics,
    ) -> Result<Self, AttachError> {
        let lifecycle = lifecycle_mode(config);
        let (url, wire) = match &config.target {
            TransportConfig::Http { url, wire } => (url, wire),
            TransportConfig::Process(program) => {
                let opened =
                    Self::open_process(config, program, lifecycle, list_changed, diagnostics);
                return match opened.await {
                    // Some older servers exit on `server/discover`: those are started again with `initialize`.
                    Err(AttachError::Connect { .. }) if config.revision.is_none() => {
                        let legacy = ClientLifecycleMode::Initialize;
                        Self::open_process(config, program, legacy, list_changed, diagnostics).await
                    }
                    result => result,
                };
            }
        };
        for _ in 0..MAX_AUTHORIZATIONS {
            let mut http = StreamableHttpClientTransportConfig::with_uri(Arc::clone(url));
            http.retry_config = Arc::new(sse_retry_policy());
            let transport = StreamableHttpClientTransport::with_client(wire.clone(), http);
            let handshake = Self::handshake(config, transport, lifecycle.clone(), list_changed);
            match (handshake.await, &wire.token_source) {
                (Ok(connection), _) => return connection,
                (Err(error), Some(tokens)) if error.auth_challenge().is_some() => {
                    let challenge = error.auth_challenge().unwrap_or_default();
                    let challenge = Challenge::from_header(challenge);
                    let authorized = async {
                        let token = tokens.token().await?;
                        tokens.respond_to_challenge(&challenge, token.as_deref()).await
                    };
                    authorized
                        .await
                        .map_err(|failure| authorization_error(&config.name, failure))?;
                }
                (Err(error), _) => return Err(connect_error(config, &error, "")),
            }
        }
        let message = "it was given, and refused again and again".to_owned();
        Err(unauthorized_error(config, message))
    }

    async fn open_process(
        config: &ValidatedServer,
        program: &ServerCommand,
        lifecycle: ClientLifecycleMode,
        list_changed: &Arc<Notify>,
        reported: &mut ProcessDiagnostics,
    ) -> Result<Self, AttachError> {
        let max_bytes = config.limits.max_message_bytes;
        let started =
            ServerProcess::spawn(program, &config.secrets, max_bytes).map_err(|source| {
                AttachError::Start {
                    server: config.name.to_string(),
                    program: program.path.to_string_lossy().into_owned(),
                    source,
                }
            })?;
        let (process, stdout, stdin, diagnostics) = started;
        *reported = diagnostics.clone();
        let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(max_bytes);
        match Self::handshake(config, transport, lifecycle, list_changed).await {
            Ok(connection) => Ok(Self { diagnostics, process: Some(process), ..connection? }),
            Err(error) => {
                // The reason is on stderr, which is complete when the process has ended.
                process.stop_and_drain_stderr().await;
                if diagnostics.reports_self_attach() {
                    return Err(AttachError::AttachesItself { server: config.name.to_string() });
                }
                let read_error = diagnostics.read_error().map(|error| format!("; {error}"));
                let details =
                    format!("{}{}", read_error.unwrap_or_default(), diagnostics.summary());
                Err(connect_error(config, &error, &details))
            }
        }
    }

    /// Makes the connection of a transport; the inner error is that of a server which does not report its revision.
    async fn handshake<T, E, A>(
        config: &ValidatedServer,
        transport: T,
        lifecycle: ClientLifecycleMode,
        list_changed: &Arc<Notify>,
    ) -> Result<Result<Self, AttachError>, ClientInitializeError>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let handler_state = HandlerState::new(config, list_changed);
        let cancel = CancellationToken::new();
        let service = serve_client_with_lifecycle_and_ct(
            McpClientHandler(Arc::clone(&handler_state)),
            transport,
            lifecycle,
            cancel.clone(),
        )
        .await?;
        let peer = service.peer().clone();
        let Some(info) = peer.peer_info() else {
            return Ok(Err(AttachError::Connect {
                server: config.name.to_string(),
                message: "it does not say which revision it speaks".to_owned(),
            }));
        };
        Ok(Ok(Self {
            remote: Arc::new(RemotePeer { peer, handler_state, info }),
            diagnostics: ProcessDiagnostics::default(),
            cancel,
            ended: service.waiting().map(drop).boxed().shared(),
            process: None,
        }))
    }

    /// Waits until the connection is closed, and returns the reason as far as it is known.
    pub(super) async fn wait_closed(&mut self) -> String {
        self.ended.clone().await;
        let reason = self.diagnostics.read_error();
        let reason = reason.unwrap_or_else(|| "it closed the connection".to_owned());
        format!("{reason}{}", self.diagnostics.summary())
    }

    /// Closes the connection and stops the process, within a timeout.
    pub(super) async fn close(self) {
        let closing = async {
            self.cancel.cancel();
            self.ended.await;
            if let Some(process) = self.process {
                process.stop().await;
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, closing).await;
    }
}

/// The handshake of the configured revision, or of the newest one that both sides know.
fn lifecycle_mode(config: &ValidatedServer) -> ClientLifecycleMode {
    match &config.revision {
        Some(revision) if revision.has_initialize() => ClientLifecycleMode::Initialize,
        Some(revision) => {
            ClientLifecycleMode::Discover { preferred_versions: vec![revision.clone()] }
        }
        None => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}

/// A broken stream is resumed four times at most.
fn sse_retry_policy() -> ExponentialBackoff {
    let mut retries = ExponentialBackoff::default();
    retries.max_times = Some(4);
    retries.base_duration = Duration::from_millis(250);
    retries.max_delay = Some(Duration::from_secs(5));
    retries
}

fn connect_error(
    config: &ValidatedServer,
    error: &ClientInitializeError,
    details: &str,
) -> AttachError {
    let reason = describe_handshake_error(error, &config.secrets);
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return unauthorized_error(config, reason);
    }
    let address = config.address().map(|address| format!("{address}: ")).unwrap_or_default();
    AttachError::Connect {
        server: config.name.to_string(),
        message: format!("{address}{reason}{details}"),
    }
}

pub(crate) fn authorization_error(server: &str, failure: AuthorizationFailure) -> AttachError {
    let server = server.to_owned();
    match failure {
        AuthorizationFailure::LoginRequired(message) => {
            AttachError::LoginRequired { server, message }
        }
        AuthorizationFailure::Untrusted(message) => {
            AttachError::UntrustedIssuer { server, message }
        }
        AuthorizationFailure::Failed(message) => AttachError::Unauthorized { server, message },
    }
}

fn unauthorized_error(config: &ValidatedServer, message: String) -> AttachError {
    AttachError::Unauthorized { server: config.name.to_string(), message }
}
