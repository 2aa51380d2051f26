//! Accepts connections and serves HTTP/1 on them until shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;
use toolwright_mcp::__internal::{accept_connections, serve_http1};
use tower::ServiceExt as _;

use crate::http::write_timeout::WriteTimeoutStream;
use crate::server::Server;

/// How long interrupted turns may take to release their leases, so that another process can resume them at once.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// end, and event streams end with a `goodbye` event. A turn that does not end in time is resumed, and messages that wait
    /// are answered, by the next process that serves the same store.
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
        let serve = |stream, peer| self.serve_connection(stream, peer);
        let max_connections = self.state.limits.max_connections;
        let accept = accept_connections(listener, max_connections, shutdown, serve);
        let sweep = async {
            self.attend_unattended().await;
            std::future::pending::<()>().await
        };
        let open = tokio::select! {
            open = accept => open,
            () = sweep => return Ok(()),
        };
        self.shut_down(&open).await;
        Ok(())
    }

    fn serve_connection(
        &self,
        stream: TcpStream,
        peer: SocketAddr,
    ) -> impl Future<Output = ()> + Send + use<> {
        let state = Arc::clone(&self.state);
        let stream = WriteTimeoutStream::new(stream, state.limits.write_timeout);
        let router = self.router();
        let respond = move |request| router.clone().oneshot(request).map(|Ok(response)| response);
        state.metrics.open_connections.inc();
        async move {
            let (limits, shutdown) = (&state.limits, state.shutdown.clone());
            serve_http1(stream, peer, limits.read_timeout, shutdown, respond).await;
            state.metrics.open_connections.dec();
        }
    }

    /// Waits for running turns, then closes streams and connections.
    async fn shut_down(&self, open: &TaskTracker) {
        let grace = self.state.limits.shutdown_grace;
        self.state.draining.cancel();
        self.state.running_turns.close();
        let _ = timeout(grace, self.state.running_turns.wait()).await;
        self.state.shutdown.cancel();
        let _ = timeout(RELEASE_TIMEOUT, self.state.running_turns.wait()).await;
        self.state.mcp.shut_down();
        // Connections that are still open then are dropped.
        let _ = timeout(grace, open.wait()).await;
    }
}
