//! The loop of a WebSocket connection, for all protocols.

use std::time::Duration;

use axum::extract::ws::{self, Utf8Bytes, WebSocket, WebSocketUpgrade};
use tokio::time::sleep;

use crate::auth::request_context::RequestContext;
use crate::endpoint::EndpointRuntime;
use crate::http::error_response::ErrorResponse;
use crate::http::limits::ServerLimits;

/// The number of pings without any frame from the client after which the connection is closed.
const MAX_UNANSWERED_PINGS: u32 = 3;

/// A protocol over a WebSocket.
pub(crate) trait SocketProtocol: Send {
    /// Waits for the next frame to send; `None` closes the connection. A call that is dropped must lose no frame.
    fn next_frame(&mut self) -> impl Future<Output = Option<Utf8Bytes>> + Send;

    /// Handles a frame of the client; returns the frame to send back at once.
    fn on_frame(
        &mut self,
        text: &str,
        context: &RequestContext,
    ) -> impl Future<Output = Option<Utf8Bytes>> + Send;

    /// The frame that reports an error of the connection.
    fn error_frame(error: &ErrorResponse) -> Utf8Bytes;
}

/// Limits the size of the messages of a connection.
pub(crate) fn with_limits(upgrade: WebSocketUpgrade, limits: &ServerLimits) -> WebSocketUpgrade {
    let max = limits.max_socket_message_bytes;
    upgrade.max_message_size(max).max_frame_size(max)
}

/// Runs a connection until one side closes it, no frame came for `idle_timeout`, or the credential is no longer valid.
pub(crate) async fn run_connection<P: SocketProtocol>(
    mut socket: WebSocket,
    protocol: &mut P,
    endpoint: &EndpointRuntime,
    mut context: RequestContext,
    idle_timeout: Option<Duration>,
) {
    let mut idle_for = Duration::ZERO;
    let mut unanswered_pings = 0;
    let mut unauthorized = false;
    while idle_timeout.is_none_or(|max| idle_for < max) {
        let frame = tokio::select! {
            frame = protocol.next_frame() => {
                idle_for = Duration::ZERO;
                frame.map(ws::Message::Text)
            }
            message = socket.recv() => match message.inspect(|_| unanswered_pings = 0) {
                Some(Ok(ws::Message::Text(text))) => {
                    idle_for = Duration::ZERO;
                    // Each frame runs with the scopes that the credential has now.
                    let reply = match context.reauthenticate().await {
                        Ok(renewed) => {
                            context = renewed;
                            protocol.on_frame(&text, &context).await
                        }
                        Err(error) => {
                            unauthorized = !error.is_transient();
                            Some(P::error_frame(&error))
                        }
                    };
                    let Some(reply) = reply else { continue };
                    Some(ws::Message::Text(reply))
                }
                Some(Ok(ws::Message::Close(_)) | Err(_)) | None => None,
                Some(Ok(_)) => continue,
            },
            () = context.wait_expired() => None,
            () = sleep(endpoint.heartbeat) => {
                idle_for += endpoint.heartbeat;
                unanswered_pings += 1;
                // The revocation of a token is not signalled, so it is polled.
                let closed = unanswered_pings > MAX_UNANSWERED_PINGS
                    || context.is_revoked().await;
                (!closed).then(|| ws::Message::Ping("".into()))
            }
        };
        let Some(frame) = frame else { break };
        if socket.send(frame).await.is_err() || unauthorized {
            break;
        }
    }
}
