//! Serves MCP on a TCP address.

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::connections::{accept_connections, serve_http1};
use super::responses;
use crate::server::{McpServeError, McpServer};

const MCP_PATH: &str = "/mcp";

/// A server that is bound to an address; [`run`](BoundMcpServer::run) accepts connections.
#[derive(Debug)]
pub struct BoundMcpServer {
    server: McpServer,
    listener: TcpListener,
    addr: SocketAddr,
}

impl McpServer {
    /// Binds to an address and serves at `/mcp` until [`shut_down`](McpServer::shut_down).
    ///
    /// # Errors
    ///
    /// As [`bind`](McpServer::bind).
    pub async fn serve(&self, addr: SocketAddr) -> Result<(), McpServeError> {
        self.bind(addr).await?.run(pending()).await
    }

    /// Binds to an address; port 0 is any free port.
    ///
    /// # Errors
    ///
    /// When the address is in use, or is reachable from other machines and neither a token nor OAuth is set.
    pub async fn bind(&self, addr: SocketAddr) -> Result<BoundMcpServer, McpServeError> {
        if !addr.ip().is_loopback() && self.0.auth.allows_anonymous() {
            return Err(McpServeError::Unauthenticated { addr });
        }
        let io = |source| McpServeError::Io { action: "listen on the address", source };
        let listener = TcpListener::bind(addr).await.map_err(io)?;
        let addr = listener.local_addr().map_err(io)?;
        Ok(BoundMcpServer { server: self.clone(), listener, addr })
    }
}

impl BoundMcpServer {
    /// Returns the bound address.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the URL for clients.
    pub fn url(&self) -> String {
        format!("http://{}{MCP_PATH}", self.addr)
    }

    /// Serves until `shutdown` completes, then waits for the requests in flight, up to the limit `shutdown_grace`.
    ///
    /// # Errors
    ///
    /// None yet: connections that fail are dropped.
    pub async fn run(self, shutdown: impl Future<Output = ()>) -> Result<(), McpServeError> {
        let Self { server, listener, .. } = self;
        let limits = &server.0.limits;
        // Connections are closed too if this future is dropped.
        let closing = server.0.shutdown.child_token();
        let _close_on_drop = closing.clone().drop_guard();
        let shutdown = async {
            tokio::select! {
                () = shutdown => {}
                () = closing.cancelled() => {}
            }
        };
        let serve = |stream, peer| {
            let service = connection_service(server.clone(), peer);
            serve_http1(stream, service, limits.read_timeout, closing.clone())
        };
        let open = accept_connections(listener, limits.max_connections, shutdown, serve).await;
        server.shut_down();
        let _ = timeout(limits.shutdown_grace, open.wait()).await;
        Ok(())
    }
}

fn connection_service(
    server: McpServer,
    peer: SocketAddr,
) -> impl hyper::service::Service<
    Request<Incoming>,
    Response = axum::response::Response,
    Error = Infallible,
    Future: Send,
> {
    service_fn(move |mut request: Request<Incoming>| {
        let server = server.clone();
        request.extensions_mut().insert(ConnectInfo(peer));
        async move {
            if request.uri().path() != MCP_PATH {
                let metadata =
                    server.metadata_response(request.method(), request.headers(), request.uri());
                if let Some(response) = metadata {
                    return Ok(response);
                }
                let message = format!("the server answers at {MCP_PATH}");
                return Ok(responses::rpc_error(StatusCode::NOT_FOUND, -32600, message));
            }
            Ok(server.handle(request).await)
        }
    })
}
