//! Server-sent events: the native event stream, and the response that all protocols use.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use futures::FutureExt as _;
use futures::stream::{self, Stream, StreamExt as _};
use serde::Serialize;
use tokio::time::timeout;

use crate::auth::request_context::RequestContext;
use crate::conversation::event::{ConversationEvent, EndpointEvent, unix_millis_now};
use crate::conversation::presence::Presence;
use crate::conversation::room::ConversationSnapshot;
use crate::conversation::subscriber::{Delivery, Subscriber};

/// Events that are available at once are written together, up to this size in bytes.
pub(crate) const MAX_WRITE_BYTES: usize = 16 << 10;

/// Streams the events of a conversation until the client disconnects or its credential is no longer valid.
pub(crate) fn event_stream_response(
    subscriber: Subscriber,
    presence: Presence,
    context: RequestContext,
) -> Response {
    let (heartbeat, idle) = (
        subscriber.room.endpoint.heartbeat,
        subscriber.room.endpoint.idle_timeout,
    );
    let credential = context.clone();
    let state = (subscriber, presence, credential, Duration::ZERO, false);
    let frames = stream::unfold(state, move |state| async move {
        let (mut subscriber, presence, credential, idle_for, ended) = state;
        if ended || idle.is_some_and(|idle| idle_for >= idle) {
            return None;
        }
        match timeout(heartbeat, subscriber.next()).await {
            Err(_) => {
                // The revocation of a token is not signalled, so it is polled.
                if credential
                    .is_revoked(&subscriber.room.endpoint.server)
                    .await
                {
                    return None;
                }
                let comment = Bytes::from_static(b": still here\n\n");
                Some((
                    comment,
                    (
                        subscriber,
                        presence,
                        credential,
                        idle_for + heartbeat,
                        false,
                    ),
                ))
            }
            Ok(None) => None,
            Ok(Some(delivery)) => {
                let (frames, ended) = drain_frames(&mut subscriber, delivery);
                Some((
                    frames,
                    (subscriber, presence, credential, Duration::ZERO, ended),
                ))
            }
        }
    });
    // Browsers reconnect by themselves, after this many milliseconds.
    let begin = stream::once(async { Bytes::from_static(b"retry: 1000\n\n") });
    let ended = async move { context.wait_expired().await };
    sse_response(begin.chain(frames).take_until(ended), [])
}

/// Encodes a delivery and those that are available already, as one write. Returns true if the stream ends with them.
fn drain_frames(subscriber: &mut Subscriber, delivery: Delivery) -> (Bytes, bool) {
    let mut delivery = delivery;
    let mut frames = BytesMut::new();
    loop {
        let frame = encode_frame(&delivery);
        if matches!(delivery, Delivery::Shutdown) {
            frames.extend_from_slice(&frame);
            return (frames.freeze(), true);
        }
        let next = match frames.len() + frame.len() < MAX_WRITE_BYTES {
            true => subscriber.next().now_or_never().flatten(),
            false => None,
        };
        let Some(next) = next else {
            // Mostly there is one frame, which needs no copy.
            return match frames.is_empty() {
                true => (frame, false),
                false => {
                    frames.extend_from_slice(&frame);
                    (frames.freeze(), false)
                }
            };
        };
        frames.extend_from_slice(&frame);
        delivery = next;
    }
}

/// Encodes a delivery as a server-sent event.
fn encode_frame(delivery: &Delivery) -> Bytes {
    match delivery {
        Delivery::Event(event) => event.sse_frame().clone(),
        Delivery::Snapshot(snapshot) => {
            let json = snapshot_json(snapshot);
            format!("id: {}\ndata: {json}\n\n", snapshot.seq).into()
        }
        // No id: a client that reconnects continues after the last event that has one.
        Delivery::Shutdown => format!("data: {}\n\n", shutdown_json()).into(),
    }
}

/// A snapshot as the JSON of an event.
pub(crate) fn snapshot_json(snapshot: &ConversationSnapshot) -> String {
    #[derive(Serialize)]
    struct Wire<'a> {
        seq: u64,
        at: u64,
        event: Tagged<'a>,
    }
    #[derive(Serialize)]
    struct Tagged<'a> {
        r#type: &'static str,
        #[serde(flatten)]
        snapshot: &'a ConversationSnapshot,
    }
    let wire = Wire {
        seq: snapshot.seq,
        at: unix_millis_now(),
        event: Tagged {
            r#type: "snapshot",
            snapshot,
        },
    };
    serde_json::to_string(&wire).unwrap_or_default()
}

/// The JSON of the last event before the server shuts down.
pub(crate) fn shutdown_json() -> String {
    let reason = "the server ends".to_owned();
    let event = ConversationEvent::from(EndpointEvent::Shutdown { reason });
    serde_json::json!({ "at": unix_millis_now(), "event": event }).to_string()
}

/// An event stream response that proxies neither buffer nor cache.
pub(crate) fn sse_response<const N: usize>(
    frames: impl Stream<Item = Bytes> + Send + 'static,
    more: [(HeaderName, HeaderValue); N],
) -> Response {
    let body = Body::from_stream(frames.map(Ok::<_, Infallible>));
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, more, body).into_response()
}
