//! Accepts connections and serves HTTP/1 on them until shutdown.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use crate::http::write_timeout::WriteTimeoutStream;
use crate::server::Server;

/// The delay after `accept` failed.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

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
}

impl Server {
    /// Serves until `shutdown` completes. Then running turns have [`shutdown_grace`](crate::ServerLimits::shutdown_grace) to
    /// end, and event streams end with a `goodbye` event. A turn that does not end in time resumes when its conversation is
    /// next opened.
    ///
    /// # Errors
    ///
    /// When the address is not a loopback address and the server requires no credential.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ListenError> {
        let addr = listener.local_addr()?;
        if !addr.ip().is_loopback() && self.state.auth.allows_anonymous() {
            return Err(ListenError::NotLoopback { addr });
        }
        let limits = &self.state.limits;
        let max = limits.max_connections.clamp(1, Semaphore::MAX_PERMITS);
        let connections = Arc::new(Semaphore::new(max));
        let open = TaskTracker::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(limits.read_timeout);
        let mut shutdown = pin!(shutdown);
        loop {
            let accept = async {
                // Further connections stay in the listener's backlog until one closes.
                let room = Arc::clone(&connections).acquire_owned().await;
                (listener.accept().await, room)
            };
            let (accepted, room) = tokio::select! {
                accepted = accept => accepted,
                () = &mut shutdown => break,
            };
            let Ok((stream, peer)) = accepted else {
                // Too many open files, most likely: wait until some are closed.
                sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            };
            // Latency matters more than packet count; without it responses are only slower.
            let _ = stream.set_nodelay(true);
            let stream = TokioIo::new(WriteTimeoutStream::new(stream, limits.write_timeout));
            let connection = http.serve_connection(stream, self.connection_service(peer));
            let connection = connection.with_upgrades();
            let state = Arc::clone(&self.state);
            state.metrics.open_connections.inc();
            open.spawn(async move {
                let mut connection = pin!(connection);
                // A broken connection concerns only its client.
                tokio::select! {
                    _ = &mut connection => {}
                    () = state.shutdown.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
                state.metrics.open_connections.dec();
                drop(room);
            });
        }
        drop(listener);
        open.close();
        self.shut_down(&open).await;
        Ok(())
    }

    /// Waits for running turns, then closes streams and connections.
    async fn shut_down(&self, open: &TaskTracker) {
        let grace = self.state.limits.shutdown_grace;
        self.state.running_turns.close();
        let _ = timeout(grace, self.state.running_turns.wait()).await;
        self.state.shutdown.cancel();
        self.state.mcp.shut_down();
        // Connections that are still open then are dropped.
        let _ = timeout(grace, open.wait()).await;
    }

    fn connection_service(
        &self,
        peer: SocketAddr,
    ) -> impl hyper::service::Service<
        Request<Incoming>,
        Response = axum::response::Response,
        Error = Infallible,
        Future: Send,
    > + Send
    + use<> {
        let router = self.router();
        service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            router.clone().oneshot(request)
        })
    }
}
