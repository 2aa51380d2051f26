//! Accepts TCP connections and serves HTTP/1 on them.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use futures::FutureExt as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::strict_lines::StrictLines;

/// The delay after `accept` failed.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Accepts connections until `shutdown` completes, and spawns a task that serves each; returns the tasks that still run.
pub async fn accept_connections<C: Future<Output = ()> + Send + 'static>(
    listener: &TcpListener,
    max_connections: usize,
    shutdown: impl Future<Output = ()>,
    serve: impl Fn(TcpStream, SocketAddr) -> C,
) -> TaskTracker {
    let permits = super::semaphore(max_connections);
    let tasks = TaskTracker::new();
    let mut shutdown = pin!(shutdown);
    loop {
        let accept = async {
            // Without a permit, the next connection waits in the queue of the operating system.
            let permit = Arc::clone(&permits).acquire_owned().await;
            (listener.accept().await, permit)
        };
        let (accepted, permit) = tokio::select! {
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
        // An async block around it would have room for it twice.
        tasks.spawn(serve(stream, peer).map(move |()| drop(permit)));
    }
    tasks.close();
    tasks
}

/// Serves HTTP/1 on a connection until it is closed, or its last request is answered after `shutdown` is cancelled.
///
/// Requests have the address of the peer as their [`ConnectInfo`]. One with a line that ends with a bare line feed is answered
/// with a 400.
pub async fn serve_http1<F: Future<Output = Response> + Send>(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: SocketAddr,
    header_timeout: Duration,
    shutdown: CancellationToken,
    respond: impl Fn(Request<Incoming>) -> F + Send,
) {
    let service = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        respond(request).map(Ok::<_, Infallible>)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(header_timeout);
    let connection =
        http.serve_connection(TokioIo::new(StrictLines::new(stream)), service).with_upgrades();
    let mut connection = pin!(connection);
    // The error of a broken connection concerns its client only.
    tokio::select! {
        // First, so that a request which has already arrived is read, and answered.
        biased;
        _ = &mut connection => {}
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
