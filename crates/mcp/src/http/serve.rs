//! Serves MCP on a TCP address.

use std::convert::Infallible;
use std::future::pending;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::{responses, semaphore};
use crate::server::{McpServeError, McpServer};

const MCP_PATH: &str = "/mcp";
/// The pause after a connection could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

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
        let connections = semaphore(server.0.limits.max_connections);
        let graceful = GracefulShutdown::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(server.0.limits.read_timeout);
        let mut shutdown = pin!(shutdown);
        loop {
            let accept = async {
                // Without a permit, the next connection waits in the queue of the operating system.
                let permit = Arc::clone(&connections).acquire_owned().await;
                (listener.accept().await, permit)
            };
            let (accepted, permit) = tokio::select! {
                accepted = accept => accepted,
                () = &mut shutdown => break,
                () = server.0.shutdown.cancelled() => break,
            };
            let Ok((stream, peer)) = accepted else {
                // Most likely too many files are open: some will be closed.
                sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            };
            let service = connection_service(server.clone(), peer);
            let connection = http.serve_connection(configure_stream(stream), service);
            let connection = graceful.watch(connection);
            tokio::spawn(async move {
                // The error of a broken connection concerns its client only.
                let _ = connection.await;
                drop(permit);
            });
        }
        drop(listener);
        server.shut_down();
        // Connections that are still open after this are closed.
        let _ = timeout(server.0.limits.shutdown_grace, graceful.shutdown()).await;
        Ok(())
    }
}

fn configure_stream(stream: TcpStream) -> TokioIo<TcpStream> {
    // Responses are small and should not wait for more data; without this they are only slower.
    let _ = stream.set_nodelay(true);
    TokioIo::new(stream)
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
