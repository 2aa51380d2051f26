//! Responses with server-sent events, for the streams of all protocols.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures::stream::{self, Stream, StreamExt as _};
use serde::Serialize;
use tokio::time::timeout;

use crate::auth::request_context::RequestContext;
use crate::endpoint::EndpointRuntime;

/// Events that are available at once are written together, up to this size in bytes.
const MAX_WRITE_BYTES: usize = 16 << 10;

/// Enough for most events.
const EVENT_BYTES: usize = 256;

/// What surrounds the data of a server-sent event.
pub(crate) const DATA_START: &[u8] = b"data: ";
pub(crate) const DATA_END: &[u8] = b"\n\n";

/// Appends the data of a server-sent event, and ends the event.
pub(crate) fn write_data(out: &mut Vec<u8>, data: &impl Serialize) {
    out.extend_from_slice(DATA_START);
    // Events always serialize; if not, an empty one is better than a panic that ends the turn.
    let _ = serde_json::to_writer(&mut *out, data);
    out.extend_from_slice(DATA_END);
}

/// The server-sent events of one response, which are encoded into the bytes to write.
pub(crate) trait FrameSource: Send + 'static {
    /// Waits for the next event, and appends its frames; returns false after the last one. A call that is dropped must lose no
    /// event.
    fn write_next(&mut self, out: &mut Vec<u8>) -> impl Future<Output = bool> + Send;

    /// Appends the frames of the next event if it is available; otherwise returns false.
    fn write_available(&mut self, out: &mut Vec<u8>) -> bool;
}

/// Streams events until the source ends, no event came for `idle_timeout`, the credential is no longer valid, or `ended`
/// resolves: the access to the conversation.
pub(crate) fn stream_response<const N: usize>(
    source: impl FrameSource,
    endpoint: &EndpointRuntime,
    idle_timeout: Option<Duration>,
    context: RequestContext,
    ended: impl Future<Output = ()> + Send + 'static,
    headers: [(HeaderName, HeaderValue); N],
) -> Response {
    let heartbeat = endpoint.heartbeat;
    let credential = context.clone();
    let state = (source, context, Duration::ZERO);
    let frames = stream::unfold(state, move |state| async move {
        let (mut source, context, idle_for) = state;
        if idle_timeout.is_some_and(|max| idle_for >= max) {
            return None;
        }
        match timeout(heartbeat, next_frames(&mut source)).await {
            Ok(frames) => Some((frames?, (source, context, Duration::ZERO))),
            // The revocation of a token is not signalled, so it is polled.
            Err(_) if context.is_revoked().await => None,
            Err(_) => {
                let comment = Bytes::from_static(b": still here\n\n");
                Some((comment, (source, context, idle_for + heartbeat)))
            }
        }
    });
    let ended = async move {
        tokio::select! {
            () = credential.wait_expired() => {}
            () = ended => {}
        }
    };
    sse_response(frames.take_until(Box::pin(ended)), headers)
}

/// Waits for an event, and returns it with those that are available already, as one write.
async fn next_frames(source: &mut impl FrameSource) -> Option<Bytes> {
    let mut frames = Vec::with_capacity(EVENT_BYTES);
    if !source.write_next(&mut frames).await {
        return None;
    }
    while frames.len() < MAX_WRITE_BYTES && source.write_available(&mut frames) {}
    Some(frames.into())
}

/// An event stream response that proxies neither buffer nor cache.
pub(crate) fn sse_response<const N: usize>(
    frames: impl Stream<Item = Bytes> + Send + 'static,
    more: [(HeaderName, HeaderValue); N],
) -> Response {
    let body = Body::from_stream(frames.map(Ok::<_, Infallible>));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, more, body).into_response()
}
