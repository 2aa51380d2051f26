//! One turn in, the stream of a UI protocol out: until the turn is over, or waits.

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

/// Reads a turn in the words of a protocol.
pub(crate) struct ProtocolStream<T> {
    subscriber: Subscriber,
    encoder: T,
    pending_parts: VecDeque<Value>,
    finished: bool,
}

impl<T: EventEncoder> ProtocolStream<T> {
    pub(crate) fn new(reader: Subscriber, mut translator: T) -> Self {
        Self {
            pending_parts: translator.start().into(),
            subscriber: reader,
            encoder: translator,
            finished: false,
        }
    }

    /// The next part; nothing after the last one.
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
                // Nobody can tell a turn from its middle in a protocol that has no word for that.
                Some(Delivery::Snapshot(_)) | None => {
                    let kind = "gone".to_owned();
                    let message = "the rest cannot be told here: read the conversation".to_owned();
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

    /// Writes a part, and what else is there already: one write in place of many. Tells whether that is all.
    fn drain_frames(&mut self, part: Option<Value>) -> (String, bool) {
        let mut frames = String::new();
        let mut next = Some(part);
        while let Some(part) = next {
            // Writing to a `String` cannot fail.
            let Some(part) = part else {
                let seal = self.encoder.terminator();
                let _ = seal.map(|seal| write!(frames, "data: {seal}\n\n"));
                return (frames, true);
            };
            let _ = write!(frames, "data: {part}\n\n");
            let has_room = frames.len() < sse::MAX_WRITE_BYTES;
            next = has_room.then(|| self.next().now_or_never()).flatten();
        }
        (frames, false)
    }
}

/// Streams a turn as server-sent events, for as long as the credential of the request is good.
pub(crate) fn stream_response<T: EventEncoder, const N: usize>(
    told: ProtocolStream<T>,
    guest: RequestContext,
    silence: Duration,
    headers: [(HeaderName, HeaderValue); N],
) -> Response {
    let frames = stream::unfold(Some(told), move |told| async move {
        let mut told = told?;
        match timeout(silence, told.next()).await {
            Err(_) => Some((Bytes::from_static(b": still here\n\n"), Some(told))),
            Ok(part) => {
                let (frames, over) = told.drain_frames(part);
                (!frames.is_empty()).then(|| (frames.into(), (!over).then_some(told)))
            }
        }
    });
    let ended = async move { guest.wait_expired().await };
    sse::sse_response(frames.take_until(ended), headers)
}
