//! Serves MCP on a TCP address.

use std::future::pending;
use std::net::SocketAddr;

use axum::http::{Request, StatusCode};
use axum::response::Response;
use futures::future::BoxFuture;
use hyper::body::Incoming;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

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

    /// Serves a connection until it is closed, or its last request is answered after `closing` is cancelled.
    ///
    /// Boxed, so that the code that answers requests is compiled with this crate. That of a bare future is compiled with the
    /// program that polls it, and optimised as little as that is.
    fn serve_connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
        closing: CancellationToken,
    ) -> BoxFuture<'static, ()> {
        let server = self.clone();
        let respond = move |request| server.clone().respond(request);
        Box::pin(serve_http1(stream, peer, self.0.limits.read_timeout, closing, respond))
    }

    /// Responds at `/mcp`, and with the metadata of the protected resource.
    async fn respond(self, request: Request<Incoming>) -> Response {
        if request.uri().path() == MCP_PATH {
            return self.handle(request).await;
        }
        let metadata = self.metadata_response(&request.into_parts().0);
        metadata.unwrap_or_else(|| {
            let message = format!("the server answers at {MCP_PATH}");
            responses::rpc_error(StatusCode::NOT_FOUND, -32600, message)
        })
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
        let serve = |stream, peer| server.serve_connection(stream, peer, closing.clone());
        let open = accept_connections(&listener, limits.max_connections, shutdown, serve).await;
        server.shut_down();
        let _ = timeout(limits.shutdown_grace, open.wait()).await;
        Ok(())
    }
}
