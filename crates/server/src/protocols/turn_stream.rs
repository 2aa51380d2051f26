//! Streams one turn in a client protocol, until it ends or pauses.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;
use tokio::time::timeout;

use super::sse;
use crate::auth::request_context::RequestContext;
use crate::conversation::event::{ConversationEvent, EndpointEvent};
use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::protocols::EventEncoder;

/// The messages of a turn in a client protocol.
pub(crate) struct ProtocolStream<T> {
    subscriber: Subscriber,
    encoder: T,
    pending_parts: VecDeque<Value>,
    finished: bool,
}

impl<T: EventEncoder> ProtocolStream<T> {
    pub(crate) fn new(subscriber: Subscriber, mut encoder: T) -> Self {
        Self {
            pending_parts: encoder.start().into(),
            subscriber,
            encoder,
            finished: false,
        }
    }

    /// The next message; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(part) = self.pending_parts.pop_front() {
                return Some(part);
            }
            if self.finished {
                return None;
            }
            let event = match self.subscriber.next().await {
                Some(Delivery::Event(event)) => event,
                Some(Delivery::Shutdown) => {
                    let reason = "the server ends".to_owned();
                    self.on_event(&EndpointEvent::Shutdown { reason }.into());
                    continue;
                }
                // These protocols cannot continue a turn in the middle from a snapshot.
                Some(Delivery::Snapshot(_)) | None => {
                    let kind = "gone".to_owned();
                    let message = "the rest of the turn is gone: read the conversation".to_owned();
                    self.on_event(&EndpointEvent::Error { kind, message }.into());
                    continue;
                }
            };
            self.on_event(&event.event);
        }
    }

    fn on_event(&mut self, event: &ConversationEvent) {
        self.finished = event.ends_or_pauses_turn();
        self.pending_parts.extend(self.encoder.on_event(event));
    }

    /// Encodes a message and those that are available already, as one write. Returns true if the stream ends with them.
    fn drain_frames(&mut self, part: Option<Value>) -> (String, bool) {
        let mut frames = String::new();
        let mut next = Some(part);
        while let Some(part) = next {
            // Writing to a `String` cannot fail.
            let Some(part) = part else {
                let terminator = self.encoder.terminator();
                let _ = terminator.map(|terminator| write!(frames, "data: {terminator}\n\n"));
                return (frames, true);
            };
            let _ = write!(frames, "data: {part}\n\n");
            let has_room = frames.len() < sse::MAX_WRITE_BYTES;
            next = has_room.then(|| self.next().now_or_never()).flatten();
        }
        (frames, false)
    }
}

/// Streams a turn as server-sent events, for as long as the credential of the request is valid.
pub(crate) fn stream_response<T: EventEncoder, const N: usize>(
    stream: ProtocolStream<T>,
    context: RequestContext,
    heartbeat: Duration,
    headers: [(HeaderName, HeaderValue); N],
) -> Response {
    let frames = stream::unfold(Some(stream), move |stream| async move {
        let mut stream = stream?;
        match timeout(heartbeat, stream.next()).await {
            Err(_) => Some((Bytes::from_static(b": still here\n\n"), Some(stream))),
            Ok(part) => {
                let (frames, ended) = stream.drain_frames(part);
                (!frames.is_empty()).then(|| (frames.into(), (!ended).then_some(stream)))
            }
        }
    });
    let ended = async move { context.wait_expired().await };
    sse::sse_response(frames.take_until(ended), headers)
}
