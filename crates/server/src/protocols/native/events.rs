//! The events of the native protocol as JSON, and as a stream of server-sent events.

use std::io::Write as _;

use axum::extract::ws::Utf8Bytes;
use serde::Serialize;
use toolwright_conversation::logged_event::LoggedEvent;
use toolwright_conversation::{ConversationEvent, EndpointEvent};
use toolwright_core::__internal::unix_millis_now;

use crate::conversation::presence::Presence;
use crate::conversation::room::ConversationSnapshot;
use crate::conversation::subscriber::{Delivery, Subscriber};
use crate::protocols::sse::{FrameSource, write_data};

/// The events of a conversation, for a client that is present while it reads them.
pub(crate) struct EventFrames {
    subscriber: Subscriber,
    #[expect(dead_code, reason = "dropped when the client disconnects")]
    presence: Presence,
    started: bool,
}

impl EventFrames {
    pub(crate) fn new(subscriber: Subscriber, presence: Presence) -> Self {
        Self { subscriber, presence, started: false }
    }
}

impl FrameSource for EventFrames {
    async fn write_next(&mut self, out: &mut Vec<u8>) -> bool {
        if !std::mem::replace(&mut self.started, true) {
            // Browsers reconnect by themselves, after this many milliseconds.
            out.extend_from_slice(b"retry: 1000\n\n");
            return true;
        }
        match self.subscriber.next().await {
            None => return false,
            Some(Delivery::Event(event)) => write_event(&event, out),
            Some(Delivery::Snapshot(snapshot)) => {
                let json = snapshot_json(&snapshot);
                out.extend_from_slice(format!("id: {}\ndata: {json}\n\n", snapshot.seq).as_bytes());
            }
            // No id: a client that reconnects continues after the last event that has one.
            Some(Delivery::Shutdown) => {
                out.extend_from_slice(format!("data: {}\n\n", shutdown_json()).as_bytes());
            }
        }
        true
    }

    fn write_available(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(event) = self.subscriber.next_available() else {
            return false;
        };
        write_event(&event, out);
        true
    }
}

/// Appends an event as a server-sent event, with its number as the id.
fn write_event(event: &LoggedEvent, out: &mut Vec<u8>) {
    if let Some(seq) = event.seq {
        // Writing to memory does not fail.
        let _ = writeln!(out, "id: {seq}");
    }
    write_data(out, event);
}

/// A delivery as a frame of a WebSocket.
pub(crate) fn delivery_json(delivery: &Delivery) -> Utf8Bytes {
    match delivery {
        // JSON is valid UTF-8.
        Delivery::Event(event) => Utf8Bytes::try_from(event.json()).unwrap_or_default(),
        Delivery::Snapshot(snapshot) => snapshot_json(snapshot).into(),
        Delivery::Shutdown => shutdown_json().into(),
    }
}

/// A snapshot as the JSON of an event.
fn snapshot_json(snapshot: &ConversationSnapshot) -> String {
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
        event: Tagged { r#type: "snapshot", snapshot },
    };
    serde_json::to_string(&wire).unwrap_or_default()
}

/// The JSON of the last event before the server shuts down.
fn shutdown_json() -> String {
    let event = ConversationEvent::from(EndpointEvent::shutdown());
    serde_json::json!({ "at": unix_millis_now(), "event": event }).to_string()
}
