//! Accepts connections and serves HTTP/1 on them until shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::{BoxError, Router};
use futures::future::BoxFuture;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use toolwright_bus::NODE_PROTOCOL;
use toolwright_core::SharedStateError;
use toolwright_mcp::__internal::{accept_connections, serve_http1};
use toolwright_mcp::McpServer;
use tower::ServiceExt as _;

use crate::auth::middleware::{Access, Guard, protect};
use crate::endpoint::server_state::ServerState;
use crate::http;
use crate::http::error_response::ErrorResponse;
use crate::http::mount::MCP_PATH;
use crate::http::write_timeout::WriteTimeoutStream;
use crate::server::Server;

/// How long interrupted turns may take to release their leases, so that another process can resume them at once.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a node that drains waits for the next check of its balancer, which sends its requests elsewhere from then on.
const DRAIN_NOTICE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a node goes on after that check: requests that the balancer sent before are still on their way.
const DRAIN_SETTLE_TIME: Duration = Duration::from_millis(200);

/// Why [`Server::serve`] failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The address is reachable from other machines, and the server requires no credential.
    #[error("{addr} is open to other machines: set a token, or listen on 127.0.0.1")]
    NotLoopback {
        /// The address of the listener.
        addr: SocketAddr,
    },
    /// The address of the listener is not known.
    #[error("the address cannot be listened on: {0}")]
    Io(#[from] std::io::Error),
    /// A node that serves from the same store has another number of the [protocol between nodes](NODE_PROTOCOL).
    #[error(
        "node `{node}` ({version}) serves from this store with protocol {protocol} between nodes, and this node ({own_version}) has protocol {NODE_PROTOCOL}: stop the nodes of the other version, and start this one again; a node that has crashed counts for 30 seconds"
    )]
    OtherProtocol {
        /// The name of the other node.
        node: String,
        /// The name and the version of its program.
        version: String,
        /// Its number.
        protocol: u32,
        /// The name and the version of this program.
        own_version: String,
    },
    /// The nodes that serve from the same store are not known.
    #[error("the nodes that serve from this store cannot be listed")]
    Nodes(#[source] SharedStateError),
}

impl Server {
    /// Serves until `shutdown` completes. Then running turns have [`shutdown_grace`](crate::ServerLimits::shutdown_grace) to
    /// end, and event streams end with a `goodbye` event. Meanwhile connections are accepted, and `/readyz` responds with 404:
    /// balancers send no further requests, and do not take the node for a dead one. A turn that does not end in time is resumed, and messages that wait
    /// are answered, by the next process that serves the same store.
    ///
    /// # Errors
    ///
    /// When the address is not a loopback address and the server requires no credential, or a node of another version serves
    /// that this one cannot work with.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ListenError> {
        let addr = listener.local_addr()?;
        if !addr.ip().is_loopback() && self.state.auth.allows_anonymous() {
            return Err(ListenError::NotLoopback { addr });
        }
        let node = self.register_node(Some(addr)).await?;
        let router =
            http::not_found_router(&self.state).merge(self.router()).merge(self.well_known());
        let serve = |stream, peer| self.serve_connection(router.clone(), stream, peer);
        let max_connections = self.state.limits.max_connections;
        let drain = async {
            shutdown.await;
            self.shutdown().await;
        };
        let accept = accept_connections(&listener, max_connections, drain, serve);
        let sweep = async {
            if !self.state.background_work.swap(true, Ordering::Relaxed) {
                self.attend_unattended().await;
            }
            std::future::pending::<()>().await
        };
        let serve = async {
            let open = tokio::select! {
                open = accept => open,
                () = sweep => return,
            };
            // Connections that are still open then are dropped.
            let finish = async {
                let _ = timeout(self.state.limits.shutdown_grace, open.wait()).await;
            };
            // Those that are accepted from now on are not waited for.
            accept_connections(&listener, max_connections, finish, serve).await;
        };
        tokio::join!(serve, self.keep_registered(node));
        Ok(())
    }

    /// Serves a connection until it is closed.
    ///
    /// Boxed, so that the code that answers requests is compiled with this crate. That of a bare future is compiled with the
    /// program that polls it, and optimised as little as that is.
    fn serve_connection(
        &self,
        router: Router,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> BoxFuture<'static, ()> {
        let state = Arc::clone(&self.state);
        let stream = WriteTimeoutStream::new(stream, state.limits.write_timeout);
        let routes = Arc::new(ConnectionRoutes::new(&state, router));
        let respond = move |request| Arc::clone(&routes).respond(request);
        state.metrics.open_connections.inc();
        Box::pin(async move {
            let (limits, mut shutdown) = (&state.limits, state.shutdown.clone());
            if shutdown.is_cancelled() {
                // Its first request is answered, too, and is its last.
                shutdown = CancellationToken::new();
            }
            serve_http1(stream, peer, limits.read_timeout, shutdown, respond).await;
            state.metrics.open_connections.dec();
        })
    }

    /// Gives running turns [`shutdown_grace`](crate::ServerLimits::shutdown_grace) to end, then ends event streams with a
    /// `goodbye` event; [`serve`](Self::serve) does this by itself.
    pub async fn shutdown(&self) {
        self.state.draining.cancel();
        self.state.running_turns.close();
        let noticed = async {
            if self.state.is_checked.load(Ordering::Relaxed) {
                let noticed = self.state.drain_noticed.notified();
                let _ = timeout(DRAIN_NOTICE_TIMEOUT, noticed).await;
                sleep(DRAIN_SETTLE_TIME).await;
            }
        };
        let turns = async { tokio::join!(noticed, self.state.running_turns.wait()) };
        let _ = timeout(self.state.limits.shutdown_grace, turns).await;
        self.state.shutdown.cancel();
        let _ = timeout(RELEASE_TIMEOUT, self.state.running_turns.wait()).await;
        if let Some(bus) = &self.state.bus {
            // What other nodes go on with.
            let _ = timeout(RELEASE_TIMEOUT, bus.flush()).await;
        }
        self.state.mcp.iter().for_each(McpServer::shut_down);
    }
}

/// What responds to the requests of a connection.
struct ConnectionRoutes {
    state: Arc<ServerState>,
    router: Router,
    /// What protects the MCP server; `None` if it is not mounted.
    mcp_guard: Option<Guard>,
}

impl ConnectionRoutes {
    fn new(state: &Arc<ServerState>, router: Router) -> Self {
        let mcp_guard = state
            .mcp
            .as_ref()
            .map(|mcp| Guard { access: Access::Mcp, ..Guard::new(state, mcp.authenticator()) });
        Self { state: Arc::clone(state), router, mcp_guard }
    }

    /// Responds to a request. Its connection is closed if the server drains, so that the client's next request goes elsewhere.
    async fn respond<B>(self: Arc<Self>, request: Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        let state = &self.state;
        if !state.draining.is_cancelled() {
            return self.route(request).await;
        }
        let path = request.uri().path();
        let is_check = path.ends_with("/readyz") || path.ends_with("/healthz");
        let mut response = match state.shutdown.is_cancelled() && !is_check {
            // There is no time left to do it.
            true => ErrorResponse::ending().into_response(),
            false => self.route(request).await,
        };
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    /// Hands a request to the MCP server or, for other paths, to the router. The router has a route to the MCP server, too, for
    /// programs that nest it; its layers would take longer than a short call.
    async fn route<B>(&self, request: Request<B>) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        if let (Some(mcp), Some(guard)) = (&self.state.mcp, &self.mcp_guard)
            && request.uri().path() == MCP_PATH
        {
            // Boxed: a connection has room for this future as long as it is open, and most connections never need it.
            return Box::pin(protect(guard, request, |request| mcp.handle(request))).await;
        }
        let Ok(response) = self.router.clone().oneshot(request.map(Body::new)).await;
        response
    }
}
