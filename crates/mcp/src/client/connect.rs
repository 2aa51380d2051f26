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

use super::child::{Aside, Server};
use super::error::AttachError;
use super::handler::{Ears, Handler};
use super::http::Challenge;
use super::plan::{Plan, Program, Target};
use super::trouble::handshake;
use crate::import::clean;

/// How long closing may take.
const CLOSING: Duration = Duration::from_secs(5);

/// How often we may be authorized before a connection is given up.
const LOGINS: usize = 3;

/// A connection that has shaken hands.
pub(super) struct Connection {
    pub(super) met: Met,
    aside: Aside,
    cancel: CancellationToken,
    /// Done when the server has gone, and asked about more than once.
    ended: Shared<BoxFuture<'static, ()>>,
    server: Option<Server>,
}

/// The other side of a connection.
pub(super) struct Met {
    pub(super) peer: Peer<RoleClient>,
    pub(super) ears: Arc<Ears>,
    pub(super) info: Arc<ServerPeerInfo>,
}

impl Met {
    /// Returns what the server calls itself.
    pub(super) fn implementation(&self) -> Option<String> {
        let info = self.info.server_info.as_ref()?;
        Some(clean(&format!("{} {}", info.name, info.version), 200))
    }

    /// Tells whether the server keeps no sessions: each request stands for itself.
    pub(super) fn is_stateless(&self) -> bool {
        !self.info.protocol_version.has_initialize()
    }
}

type Running = RunningService<RoleClient, Handler>;

impl Connection {
    /// Opens a connection, however long that takes: who calls sets the time.
    pub(super) async fn open(
        plan: &Plan,
        news: &Arc<Notify>,
        aside: &mut Aside,
    ) -> Result<Self, AttachError> {
        match &plan.target {
            Target::Program(program) => {
                match Self::start(plan, program, lifecycle(plan), news, aside).await {
                    // Some older servers leave when they are asked for their revisions: they are asked in the older way.
                    Err(AttachError::Connect { .. }) if plan.revision.is_none() => {
                        let older = ClientLifecycleMode::Initialize;
                        Self::start(plan, program, older, news, aside).await
                    }
                    started => started,
                }
            }
            Target::Http { url, wire } => {
                for _ in 0..LOGINS {
                    let mut config = StreamableHttpClientTransportConfig::with_uri(Arc::clone(url))
                        .max_sse_event_size(plan.limits.message_bytes);
                    config.retry_config = Arc::new(retries());
                    let transport =
                        StreamableHttpClientTransport::with_client(wire.clone(), config);
                    let ears = ears(plan, news);
                    let cancel = CancellationToken::new();
                    let shaken = serve_client_with_lifecycle_and_ct(
                        Handler(Arc::clone(&ears)),
                        transport,
                        lifecycle(plan),
                        cancel.clone(),
                    );
                    match (shaken.await, &wire.login) {
                        (Ok(running), _) => {
                            return Self::of(plan, running, ears, cancel, Aside::default(), None);
                        }
                        (Err(error), Some(login)) if error.auth_challenge().is_some() => {
                            let challenge = error.auth_challenge().unwrap_or_default();
                            let challenge = Challenge::told(challenge);
                            let token = login.token().await;
                            let answered = login.answer(&challenge, token.as_deref()).await;
                            answered.map_err(|message| unauthorized(plan, message))?;
                        }
                        (Err(error), _) => return Err(failed(plan, &error, "")),
                    }
                }
                let message = "it was given, and refused again and again".to_owned();
                Err(unauthorized(plan, message))
            }
        }
    }

    async fn start(
        plan: &Plan,
        program: &Program,
        lifecycle: ClientLifecycleMode,
        news: &Arc<Notify>,
        told: &mut Aside,
    ) -> Result<Self, AttachError> {
        let most = plan.limits.message_bytes;
        let started = Server::start(program, most).map_err(|source| AttachError::Start {
            server: plan.name.to_string(),
            program: program.path.to_string_lossy().into_owned(),
            source,
        })?;
        let (server, listening, stdin, aside) = started;
        *told = aside.clone();
        let transport = AsyncRwTransport::new_client(listening, stdin).with_max_line_length(most);
        let ears = ears(plan, news);
        let cancel = CancellationToken::new();
        let shaken = serve_client_with_lifecycle_and_ct(
            Handler(Arc::clone(&ears)),
            transport,
            lifecycle,
            cancel.clone(),
        );
        match shaken.await {
            Ok(running) => Self::of(plan, running, ears, cancel, aside, Some(server)),
            Err(error) => {
                // What it has to say for itself comes with its end.
                server.end_heard().await;
                if aside.is_itself() {
                    return Err(AttachError::Itself {
                        server: plan.name.to_string(),
                    });
                }
                let trouble = aside.trouble().map(|trouble| format!("; {trouble}"));
                let told = format!("{}{}", trouble.unwrap_or_default(), aside.told());
                Err(failed(plan, &error, &told))
            }
        }
    }

    fn of(
        plan: &Plan,
        running: Running,
        ears: Arc<Ears>,
        cancel: CancellationToken,
        aside: Aside,
        server: Option<Server>,
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
            met: Met { peer, ears, info },
            aside,
            cancel,
            ended,
            server,
        })
    }

    /// Waits until the server has gone, and tells why as far as it is known.
    pub(super) async fn ended(&mut self) -> String {
        self.ended.clone().await;
        let why = self.aside.trouble();
        let why = why.unwrap_or_else(|| "it closed the connection".to_owned());
        format!("{why}{}", self.aside.told())
    }

    /// Says good-bye, within bounds.
    pub(super) async fn close(self) {
        let closing = async {
            self.cancel.cancel();
            self.ended.await;
            if let Some(server) = self.server {
                server.end().await;
            }
        };
        let _ = tokio::time::timeout(CLOSING, closing).await;
    }
}

fn ears(plan: &Plan, news: &Arc<Notify>) -> Arc<Ears> {
    let newest = ProtocolVersion::LATEST_WITH_INITIALIZE;
    let revision = plan.revision.clone().unwrap_or(newest);
    Ears::new(
        Arc::clone(&plan.name),
        plan.elicit.clone(),
        Arc::clone(news),
        revision,
    )
}

/// The newest revision that both know, unless one was asked for.
fn lifecycle(plan: &Plan) -> ClientLifecycleMode {
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
fn retries() -> ExponentialBackoff {
    let mut retries = ExponentialBackoff::default();
    retries.max_times = Some(4);
    retries.base_duration = Duration::from_millis(250);
    retries.max_delay = Some(Duration::from_secs(5));
    retries
}

fn failed(plan: &Plan, error: &ClientInitializeError, told: &str) -> AttachError {
    if error.is_authorization_required() || error.auth_challenge().is_some() {
        return unauthorized(plan, handshake(error));
    }
    AttachError::Connect {
        server: plan.name.to_string(),
        message: format!("{}{told}", handshake(error)),
    }
}

fn unauthorized(plan: &Plan, message: String) -> AttachError {
    AttachError::Unauthorized {
        server: plan.name.to_string(),
        message,
    }
}
