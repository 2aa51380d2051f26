//! Response streams in, server-sent events out.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, header};
use axum::response::{IntoResponse as _, Response};
use futures::stream::{self, Stream as Events, StreamExt as _};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::server::{
    McpServer, RemoteItem, RemoteStream, ReplayBuffer, ResponseStream, Revision, StreamItem,
};

/// A comment, which clients ignore; proxies see that the connection is in use.
pub(super) const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// Streams a response by way of a replay buffer: the request continues when the connection breaks, and the client can resume.
pub(super) fn stream_resumable(
    server: &McpServer,
    buffer: Arc<ReplayBuffer>,
    revision: Revision,
    first: Option<String>,
    mut responses: ResponseStream,
    permit: OwnedSemaphorePermit,
) -> Result<Response, Response> {
    let writer = Arc::clone(&buffer);
    if let Some(first) = first {
        writer.push(&first);
    }
    tokio::spawn(async move {
        loop {
            match responses.next().await {
                StreamItem::Message(message) => writer.push(&message),
                StreamItem::Response(response) => {
                    writer.push(&String::from_utf8_lossy(&response.body));
                    break;
                }
                StreamItem::Cancelled => break,
            }
        }
        writer.end();
        drop(permit);
    });
    let primed = revision >= Revision::V2025_11_25;
    Ok(stream_replay(server, buffer, 0, primed, server.stream_permit()?))
}

/// Streams a replay buffer from an index on; `primed` sends an empty event first.
pub(super) fn stream_replay(
    server: &McpServer,
    buffer: Arc<ReplayBuffer>,
    index: usize,
    primed: bool,
    permit: OwnedSemaphorePermit,
) -> Response {
    let interval = server.0.limits.keep_alive_interval;
    // An event without a message gives the client an id to resume from before the first message.
    let opening = primed.then(|| {
        let id = buffer.event_id(0);
        Bytes::from(format!("id: {id}\nretry: 1000\ndata: \n\n"))
    });
    let events =
        stream::unfold((buffer, index, permit), move |(buffer, index, permit)| async move {
            match timeout(interval, buffer.next_from(index)).await {
                Ok(Some((index, message))) => {
                    let id = buffer.event_id(index + 1);
                    let event = encode_event(Some(&id), message.as_bytes());
                    Some((event, (buffer, index + 1, permit)))
                }
                Ok(None) => None,
                Err(_) => Some((KEEP_ALIVE, (buffer, index, permit))),
            }
        });
    event_stream_response(stream::iter(opening).chain(events))
}

/// Streams a replay buffer of another node.
pub(super) fn stream_remote(stream: RemoteStream, permit: OwnedSemaphorePermit) -> Response {
    let events = stream::unfold((stream, permit), |(mut stream, permit)| async move {
        let event = match stream.next().await? {
            RemoteItem::Message(id, message) => encode_event(Some(&id), message.as_bytes()),
            RemoteItem::Response(response) => encode_event(None, &response.body),
            RemoteItem::Idle => KEEP_ALIVE,
        };
        Some((event, (stream, permit)))
    });
    event_stream_response(events)
}

/// Streams messages and, if `with_response`, the response; when the connection is closed, the request is cancelled.
pub(super) fn stream_items(
    server: &McpServer,
    first: Option<Bytes>,
    responses: ResponseStream,
    permit: OwnedSemaphorePermit,
    with_response: bool,
) -> Response {
    let interval = server.0.limits.keep_alive_interval;
    let state = Some((responses, permit));
    let events = stream::unfold(state, move |state| async move {
        let (mut responses, permit) = state?;
        match timeout(interval, responses.next()).await {
            Ok(StreamItem::Message(message)) => {
                Some((encode_event(None, message.as_bytes()), Some((responses, permit))))
            }
            Ok(StreamItem::Response(response)) if with_response => {
                Some((encode_event(None, &response.body), None))
            }
            Ok(StreamItem::Response(_) | StreamItem::Cancelled) => None,
            Err(_) => Some((KEEP_ALIVE, Some((responses, permit)))),
        }
    });
    event_stream_response(stream::iter(first).chain(events))
}

/// Encodes one event. Line breaks become blanks: in JSON they are only white space.
pub(super) fn encode_event(id: Option<&str>, message: &[u8]) -> Bytes {
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
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, body).into_response()
}
