//! A plan in, a connection that has shaken hands out.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};
use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerPeerInfo};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, Peer, RunningService,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::error::AttachError;
use crate::client::connection::error_map::describe_handshake_error;
use crate::client::connection::handler::{HandlerState, McpClientHandler};
use crate::client::connection::http::Challenge;
use crate::client::connection::process::{ProcessDiagnostics, ServerProcess};
use crate::client::setup::validated_server::{ServerCommand, TransportConfig, ValidatedServer};
use crate::import::sanitize;

pub(crate) mod error_map;
pub(crate) mod handler;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod reconnect;
pub(crate) mod shared_connection;

/// How long closing may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// How often we may be authorized before a connection is given up.
const MAX_AUTHORIZATIONS: usize = 3;

/// A connection that has shaken hands.
pub(super) struct Connection {
    pub(super) remote: RemotePeer,
    diagnostics: ProcessDiagnostics,
    cancel: CancellationToken,
    /// Done when the server has gone, and asked about more than once.
    ended: Shared<BoxFuture<'static, ()>>,
    process: Option<ServerProcess>,
}

/// The other side of a connection.
pub(super) struct RemotePeer {
    pub(super) peer: Peer<RoleClient>,
    pub(super) handler_state: Arc<HandlerState>,
    pub(super) info: Arc<ServerPeerInfo>,
}

impl RemotePeer {
    /// Returns what the server calls itself.
    pub(super) fn implementation(&self) -> Option<String> {
        let info = self.info.server_info.as_ref()?;
        Some(sanitize(&format!("{} {}", info.name, info.version), 200))
    }

    /// Tells whether the server keeps no sessions: each request stands for itself.
    pub(super) fn is_stateless(&self) -> bool {
        !self.info.protocol_version.has_initialize()
    }
}

type ClientService = RunningService<RoleClient, McpClientHandler>;

impl Connection {
    /// Opens a connection, however long that takes: who calls sets the time.
    pub(super) async fn open(
        plan: &ValidatedServer,
        news: &Arc<Notify>,
        aside: &mut ProcessDiagnostics,
    ) -> Result<Self, AttachError> {
        match &plan.target {
            TransportConfig::Process(program) => {
                match Self::open_process(plan, program, lifecycle_mode(plan), news, aside).await {
                    // Some older servers leave when they are asked for their revisions: they are asked in the older way.
                    Err(AttachError::Connect { .. }) if plan.revision.is_none() => {
                        let older = ClientLifecycleMode::Initialize;
                        Self::open_process(plan, program, older, news, aside).await
                    }
                    started => started,
                }
            }
            TransportConfig::Http { url, wire } => {
                for _ in 0..MAX_AUTHORIZATIONS {
                    let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(url))
                        .max_sse_event_size(plan.limits.max_message_bytes);
                    config.retry_config = Arc::new(sse_retry_policy());
                    let transport =
                        StreamableHttpClientTransport::with_client(wire.clone(), config);
                    let ears = handler_state(plan, news);
                    let cancel = CancellationToken::new();
                    let shaken = serve_client_with_lifecycle_and_ct(
                        McpClientHandler(Arc::clone(&ears)),
                        transport,
                        lifecycle_mode(plan),
                        cancel.clone(),
                    );
                    match (shaken.await, &wire.token_source) {
                        (Ok(running), _) => {
                            return Self::from_service(
                                plan,
                                running,
                                ears,
                                cancel,
                                ProcessDiagnostics::default(),
                                None,
                            );
                        }
                        (Err(error), Some(login)) if error.auth_challenge().is_some() => {
                            let challenge = error.auth_challenge().unwrap_or_default();
                            let challenge = Challenge::from_header(challenge);
                            let token = login.token().await;
                            let answered = login
                                .respond_to_challenge(&challenge, token.as_deref())
                                .await;
                            answered.map_err(|message| unauthorized_error(plan, message))?;
                        }
                        (Err(error), _) => return Err(connect_error(plan, &error, "")),
                    }
                }
                let message = "it was given, and refused again and again".to_owned();
                Err(unauthorized_error(plan, message))
            }
        }
    }

    async fn open_process(
        plan: &ValidatedServer,
        program: &ServerCommand,
        lifecycle: ClientLifecycleMode,
        news: &Arc<Notify>,
        told: &mut ProcessDiagnostics,
    ) -> Result<Self, AttachError> {
        let most = plan.limits.max_message_bytes;
        let started = ServerProcess::spawn(program, most).map_err(|source| AttachError::Start {
            server: plan.name.to_string(),
            program: program.path.to_string_lossy().into_owned(),
            source,
        })?;
        let (server, listening, stdin, aside) = started;
        *told = aside.clone();
        let transport = AsyncRwTransport::new_client(listening, stdin).with_max_line_length(most);
        let ears = handler_state(plan, news);
        let cancel = CancellationToken::new();
        let shaken = serve_client_with_lifecycle_and_ct(
            McpClientHandler(Arc::clone(&ears)),
            transport,
            lifecycle,
            cancel.clone(),
        );
        match shaken.await {
            Ok(running) => Self::from_service(plan, running, ears, cancel, aside, Some(server)),
            Err(error) => {
                // What it has to say for itself comes with its end.
                server.stop_and_drain_stderr().await;
                if aside.reports_self_attach() {
                    return Err(AttachError::AttachesItself {
                        server: plan.name.to_string(),
                    });
                }
                let trouble = aside.read_error().map(|trouble| format!("; {trouble}"));
                let told = format!("{}{}", trouble.unwrap_or_default(), aside.summary());
                Err(connect_error(plan, &error, &told))
            }
        }
    }

    fn from_service(
        plan: &ValidatedServer,
        running: ClientService,
        ears: Arc<HandlerState>,
        cancel: CancellationToken,
        aside: ProcessDiagnostics,
        server: Option<ServerProcess>,
    ) -> Result<Self, AttachError> {
        let peer = running.peer().clone();
        let info = peer.peer_info().ok_or_else(|| AttachError::Connect {
            server: plan.name.to_string(),
            message: "it does not say which revision it speaks".to_owned(),
        })?;
        let ended = async move {
            let _ = running.waiting().await;
        };
        let ended = ended.boxed().shared();
        Ok(Self {
            remote: RemotePeer {
                peer,
                handler_state: ears,
                info,
            },
            diagnostics: aside,
            cancel,
            ended,
            process: server,
        })
    }

    /// Waits until the server has gone, and tells why as far as it is known.
    pub(super) async fn ended(&mut self) -> String {
        self.ended.clone().await;
        let why = self.diagnostics.read_error();
        let why = why.unwrap_or_else(|| "it closed the connection".to_owned());
        format!("{why}{}", self.diagnostics.summary())
    }

    /// Says good-bye, within bounds.
    pub(super) async fn close(self) {
        let closing = async {
            self.cancel.cancel();
            self.ended.await;
            if let Some(server) = self.process {
                server.stop().await;
            }
        };
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, closing).await;
    }
}

fn handler_state(plan: &ValidatedServer, news: &Arc<Notify>) -> Arc<HandlerState> {
    let newest = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let revision = plan.revision.clone().unwrap_or(newest);
    HandlerState::new(
        Arc::clone(&plan.name),
        plan.elicit.clone(),
        Arc::clone(news),
        revision,
    )
}

/// The newest revision that both know, unless one was asked for.
fn lifecycle_mode(plan: &ValidatedServer) -> ClientLifecycleMode {
    match &plan.revision {
        Some(revision) if revision.has_initialize() => ClientLifecycleMode::Initialize,
        Some(revision) => ClientLifecycleMode::Discover {
            preferred_versions: vec![revision.clone()],
        },
        None => ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::LATEST],
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}

/// A stream that broke is resumed a few times, not for ever.
fn sse_retry_policy() -> ExponentialBackoff {
    let mut retries = ExponentialBackoff::default();
    retries.max_times = Some(4);
    retries.base_duration = Duration::from_millis(250);
    retries.max_delay = Some(Duration::from_secs(5));
    retries
}

fn connect_error(plan: &ValidatedServer, error: &ClientInitializeError, told: &str) -> AttachError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return unauthorized_error(plan, describe_handshake_error(error));
    }
    AttachError::Connect {
        server: plan.name.to_string(),
        message: format!("{}{told}", describe_handshake_error(error)),
    }
}

fn unauthorized_error(plan: &ValidatedServer, message: String) -> AttachError {
    AttachError::Unauthorized {
        server: plan.name.to_string(),
        message,
    }
}
