//! Encodes one turn in a client protocol, until it ends or pauses.

use std::collections::VecDeque;

use bytes::Bytes;
use serde_json::Value;
use tokio_util::sync::DropGuard;

use crate::conversation::event::{ConversationEvent, EndpointEvent};
use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::protocols::EventEncoder;
use crate::protocols::sse::FrameSource;

/// The messages of a turn in a client protocol.
pub(crate) struct ProtocolStream<T> {
    subscriber: Subscriber,
    encoder: T,
    pending_parts: VecDeque<Value>,
    finished: bool,
    /// True once the encoder's terminator was sent.
    terminated: bool,
    cancel_on_drop: Option<DropGuard>,
}

impl<T: EventEncoder> ProtocolStream<T> {
    pub(crate) fn new(subscriber: Subscriber, mut encoder: T) -> Self {
        Self {
            pending_parts: encoder.start().into(),
            subscriber,
            encoder,
            finished: false,
            terminated: false,
            cancel_on_drop: None,
        }
    }

    /// Cancels the turn when the stream is dropped: for turns that no client can reconnect to.
    pub(crate) fn cancel_on_drop(mut self, guard: DropGuard) -> Self {
        self.cancel_on_drop = Some(guard);
        self
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
            match self.subscriber.next().await {
                Some(Delivery::Event(event)) => self.on_event(&event.event),
                Some(Delivery::Shutdown) => self.on_event(&EndpointEvent::shutdown().into()),
                // These protocols cannot continue a turn in the middle from a snapshot.
                Some(Delivery::Snapshot(_)) | None => {
                    let kind = "gone".to_owned();
                    let message = "the rest of the turn is gone: read the conversation".to_owned();
                    self.on_event(&EndpointEvent::Error { kind, message }.into());
                }
            }
        }
    }

    fn on_event(&mut self, event: &ConversationEvent) {
        self.finished = event.ends_or_pauses_turn();
        self.pending_parts.extend(self.encoder.on_event(event));
    }
}

impl<T: EventEncoder> FrameSource for ProtocolStream<T> {
    async fn next_frame(&mut self) -> Option<Bytes> {
        if let Some(part) = self.next().await {
            return Some(format!("data: {part}\n\n").into());
        }
        let first = !std::mem::replace(&mut self.terminated, true);
        let terminator = self.encoder.terminator().filter(|_| first)?;
        Some(format!("data: {terminator}\n\n").into())
    }
}
