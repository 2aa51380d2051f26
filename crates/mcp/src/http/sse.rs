//! Steps in, server-sent events out.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures::stream::{self, Stream as Events, StreamExt as _};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::server::{McpServer, ReplayBuffer, ResponseStream, Revision, Session, StreamItem};

/// A comment: clients skip it, and those in between see that somebody is there.
const KEEP_ALIVE: &[u8] = b":\n\n";

/// Streams a request that nobody can come back to: when the stream is closed, it is cancelled.
pub(super) fn stream_request(
    server: &McpServer,
    first: Option<String>,
    running: ResponseStream,
    permit: OwnedSemaphorePermit,
) -> Response {
    let first = stream::iter(first.map(|message| encode_event(None, message.as_bytes())));
    let rest = item_events(running, permit, server.0.limits.keep_alive_interval, true);
    event_stream_response(first.chain(rest))
}

/// Streams changes, and no response at the end: nobody has asked for one.
pub(super) fn stream_notifications(
    server: &McpServer,
    running: ResponseStream,
    permit: OwnedSemaphorePermit,
) -> Response {
    let open = stream::once(async { Bytes::from_static(KEEP_ALIVE) });
    let rest = item_events(running, permit, server.0.limits.keep_alive_interval, false);
    event_stream_response(open.chain(rest))
}

/// Streams a request that goes on by itself, so that a client whose connection broke can come back to it.
pub(super) fn stream_resumable(
    server: &McpServer,
    session: &Session,
    first: Option<String>,
    mut running: ResponseStream,
    permit: OwnedSemaphorePermit,
) -> Response {
    let stream = session.replay_buffers.create(running.scoped_tools());
    let into = Arc::clone(&stream);
    if let Some(first) = first {
        into.push(&first);
    }
    let request = permit;
    tokio::spawn(async move {
        loop {
            match running.next().await {
                StreamItem::Message(message) => into.push(&message),
                StreamItem::Response(reply) => {
                    into.push(&String::from_utf8_lossy(&reply.body));
                    break;
                }
                StreamItem::Cancelled => break,
            }
        }
        into.end();
        drop(request);
    });
    let primed = session.revision >= Revision::V2025_11_25;
    match server.stream_permit() {
        Ok(permit) => stream_replay(server, stream, 0, primed, permit),
        Err(refusal) => refusal,
    }
}

/// Streams what was kept of a request, from a place on.
pub(super) fn stream_replay(
    server: &McpServer,
    stream: Arc<ReplayBuffer>,
    place: usize,
    primed: bool,
    permit: OwnedSemaphorePermit,
) -> Response {
    let silence = server.0.limits.keep_alive_interval;
    // An event without a message: whoever loses the connection now knows where to go on.
    let opening = primed.then(|| {
        let id = stream.event_id(0);
        Bytes::from(format!("id: {id}\nretry: 1000\ndata: \n\n"))
    });
    let events = stream::unfold(
        (stream, place, permit),
        move |(stream, place, permit)| async move {
            match timeout(silence, stream.next_from(place)).await {
                Ok(Some((place, message))) => {
                    let id = stream.event_id(place + 1);
                    let event = encode_event(Some(&id), message.as_bytes());
                    Some((event, (stream, place + 1, permit)))
                }
                Ok(None) => None,
                Err(_) => Some((Bytes::from_static(KEEP_ALIVE), (stream, place, permit))),
            }
        },
    );
    event_stream_response(stream::iter(opening).chain(events))
}

fn item_events(
    running: ResponseStream,
    permit: OwnedSemaphorePermit,
    silence: Duration,
    answers: bool,
) -> impl Events<Item = Bytes> + Send + 'static {
    let state = Some((running, permit));
    stream::unfold(state, move |state| async move {
        let (mut running, permit) = state?;
        match timeout(silence, running.next()).await {
            Ok(StreamItem::Message(message)) => Some((
                encode_event(None, message.as_bytes()),
                Some((running, permit)),
            )),
            Ok(StreamItem::Response(reply)) if answers => {
                Some((encode_event(None, &reply.body), None))
            }
            Ok(StreamItem::Response(_) | StreamItem::Cancelled) => None,
            Err(_) => Some((Bytes::from_static(KEEP_ALIVE), Some((running, permit)))),
        }
    })
}

/// Writes one event; a line break in JSON is only ever white space.
fn encode_event(id: Option<&str>, message: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(message.len() + 32);
    if let Some(id) = id {
        event.extend_from_slice(b"id: ");
        event.extend_from_slice(id.as_bytes());
        event.push(b'\n');
    }
    event.extend_from_slice(b"data: ");
    event.extend(message.iter().map(|byte| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    }));
    event.extend_from_slice(b"\n\n");
    event.into()
}

fn event_stream_response(events: impl Events<Item = Bytes> + Send + 'static) -> Response {
    let body = Body::from_stream(events.map(Ok::<_, std::convert::Infallible>));
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
