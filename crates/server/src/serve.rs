//! A listener in, answers out, until somebody says that it is enough.

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

use crate::server::Server;
use crate::write_timeout::WriteTimeoutStream;

/// How long to wait when no connection can be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Why a server cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// Other machines could reach it, and everybody would be let in.
    #[error("{addr} is open to other machines: set a token, or listen on 127.0.0.1")]
    NotLoopback {
        /// The address.
        addr: SocketAddr,
    },
    /// The listener has no address.
    #[error("the address cannot be listened on: {0}")]
    Io(#[from] std::io::Error),
}

impl Server {
    /// Answers until `shutdown` is done; then turns that run may come to their end, for a while, and streams end with a last
    /// event. What does not end in time goes on when the conversation is next asked for.
    ///
    /// # Errors
    ///
    /// When the address is open to other machines and everybody would be let in.
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
        let most = limits.max_connections.clamp(1, Semaphore::MAX_PERMITS);
        let connections = Arc::new(Semaphore::new(most));
        let open = TaskTracker::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.read_timeout);
        let mut shutdown = pin!(shutdown);
        loop {
            let accept = async {
                // The next connection waits in the system's queue until there is room for it.
                let room = Arc::clone(&connections).acquire_owned().await;
                (listener.accept().await, room)
            };
            let (accepted, room) = tokio::select! {
                accepted = accept => accepted,
                () = &mut shutdown => break,
            };
            let Ok((stream, peer)) = accepted else {
                // Too many open files, most likely: it helps to wait until some are closed.
                sleep(ACCEPT_RETRY_DELAY).await;
                continue;
            };
            // Answers are small and wanted at once; if the system cannot do this, they are only slower.
            let _ = stream.set_nodelay(true);
            let stream = TokioIo::new(WriteTimeoutStream::new(stream, limits.write_timeout));
            let connection = http.serve_connection(stream, self.connection_service(peer));
            let connection = connection.with_upgrades();
            let app = Arc::clone(&self.state);
            app.metrics.open_connections.increment();
            open.spawn(async move {
                let mut connection = pin!(connection);
                // A connection that breaks is the client's business.
                tokio::select! {
                    _ = &mut connection => {}
                    () = app.shutdown.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        let _ = connection.await;
                    }
                }
                app.metrics.open_connections.decrement();
                drop(room);
            });
        }
        drop(listener);
        open.close();
        self.shut_down(&open).await;
        Ok(())
    }

    /// Lets what is under way come to its end.
    async fn shut_down(&self, open: &TaskTracker) {
        let grace = self.state.limits.shutdown_grace;
        self.state.running_turns.close();
        let _ = timeout(grace, self.state.running_turns.wait()).await;
        self.state.shutdown.cancel();
        self.state.mcp.shut_down();
        // Whatever has not ended by then is cut off.
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
