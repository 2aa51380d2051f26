//! Encodes one turn in a client protocol, until it ends or pauses.

use std::collections::VecDeque;

use tokio_util::sync::DropGuard;
use toolwright_conversation::EndpointEvent;
use toolwright_conversation::logged_event::EventBody;

use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::protocols::sse::FrameSource;
use crate::protocols::{EventEncoder, Messages};

/// The messages of a turn in a client protocol.
pub(crate) struct ProtocolStream<T> {
    subscriber: Subscriber,
    encoder: T,
    /// The messages that were not taken yet.
    messages: Messages,
    /// The same as JSON, for a client that takes one at a time.
    pending_json: VecDeque<String>,
    finished: bool,
    /// True once the encoder's terminator was sent.
    terminated: bool,
    cancel_on_drop: Option<DropGuard>,
}

impl<T: EventEncoder> ProtocolStream<T> {
    pub(crate) fn new(subscriber: Subscriber, mut encoder: T) -> Self {
        let mut messages = Messages::default();
        encoder.start(&mut messages);
        Self {
            subscriber,
            encoder,
            messages,
            pending_json: VecDeque::new(),
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

    /// The JSON of the next message; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(json) = self.pending_json.pop_front() {
                return Some(json);
            }
            if !self.wait_for_messages().await {
                return None;
            }
            self.pending_json.extend(self.messages.take_json());
        }
    }

    /// Waits until there are messages; returns false after the last ones.
    async fn wait_for_messages(&mut self) -> bool {
        while self.messages.is_empty() {
            if self.finished {
                return false;
            }
            match self.subscriber.next().await {
                Some(Delivery::Event(event)) => self.on_event(&event.body),
                Some(Delivery::Shutdown) => self.on_endpoint_event(EndpointEvent::shutdown()),
                Some(Delivery::Snapshot(snapshot)) => {
                    self.finished = self.encoder.on_snapshot(&snapshot, &mut self.messages);
                }
                None => self.on_endpoint_event(EndpointEvent::turn_lost()),
            }
        }
        true
    }

    fn on_endpoint_event(&mut self, event: EndpointEvent) {
        self.finished = true;
        self.encoder.on_endpoint_event(&event, &mut self.messages);
    }

    fn on_event(&mut self, event: &EventBody) {
        self.finished = event.ends_or_pauses_turn();
        self.encoder.on_event(event, &mut self.messages);
    }
}

impl<T: EventEncoder> FrameSource for ProtocolStream<T> {
    async fn write_next(&mut self, out: &mut Vec<u8>) -> bool {
        if self.wait_for_messages().await {
            self.messages.move_frames(out);
            return true;
        }
        let first = !std::mem::replace(&mut self.terminated, true);
        let terminator = self.encoder.terminator().filter(|_| first);
        if let Some(terminator) = terminator {
            out.extend_from_slice(format!("data: {terminator}\n\n").as_bytes());
        }
        terminator.is_some()
    }

    fn write_available(&mut self, out: &mut Vec<u8>) -> bool {
        while !self.finished
            && let Some(event) = self.subscriber.next_available()
        {
            self.on_event(&event.body);
            if !self.messages.is_empty() {
                self.messages.move_frames(out);
                return true;
            }
        }
        false
    }
}
