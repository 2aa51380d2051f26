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
use crate::event::{Event, Notice};
use crate::guest::Guest;
use crate::reader::{Line, Reader};
use crate::ui::Translator;

/// Reads a turn in the words of a protocol.
pub(crate) struct Told<T> {
    reader: Reader,
    translator: T,
    waiting: VecDeque<Value>,
    over: bool,
}

impl<T: Translator> Told<T> {
    pub(crate) fn new(reader: Reader, mut translator: T) -> Self {
        Self {
            waiting: translator.open().into(),
            reader,
            translator,
            over: false,
        }
    }

    /// The next part; nothing after the last one.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(part) = self.waiting.pop_front() {
                return Some(part);
            }
            if self.over {
                return None;
            }
            let event = match self.reader.next().await {
                Some(Line::Event(event)) => event,
                Some(Line::Goodbye) => {
                    let reason = "the server ends".to_owned();
                    self.hear(&Notice::Goodbye { reason }.into());
                    continue;
                }
                // Nobody can tell a turn from its middle in a protocol that has no word for that.
                Some(Line::Snapshot(_)) | None => {
                    let kind = "gone".to_owned();
                    let message = "the rest cannot be told here: read the conversation".to_owned();
                    self.hear(&Notice::Error { kind, message }.into());
                    continue;
                }
            };
            self.hear(&event.event);
        }
    }

    fn hear(&mut self, event: &Event) {
        self.over = event.is_last();
        self.waiting.extend(self.translator.hear(event));
    }

    /// Writes a part, and what else is there already: one write in place of many. Tells whether that is all.
    fn frames(&mut self, part: Option<Value>) -> (String, bool) {
        let mut frames = String::new();
        let mut next = Some(part);
        while let Some(part) = next {
            // Writing to a `String` cannot fail.
            let Some(part) = part else {
                let seal = self.translator.seal();
                let _ = seal.map(|seal| write!(frames, "data: {seal}\n\n"));
                return (frames, true);
            };
            let _ = write!(frames, "data: {part}\n\n");
            let has_room = frames.len() < sse::MOST;
            next = has_room.then(|| self.next().now_or_never()).flatten();
        }
        (frames, false)
    }
}

/// Streams a turn as server-sent events, for as long as the credential of the request is good.
pub(crate) fn stream<T: Translator, const N: usize>(
    told: Told<T>,
    guest: Guest,
    silence: Duration,
    headers: [(HeaderName, HeaderValue); N],
) -> Response {
    let frames = stream::unfold(Some(told), move |told| async move {
        let mut told = told?;
        match timeout(silence, told.next()).await {
            Err(_) => Some((Bytes::from_static(b": still here\n\n"), Some(told))),
            Ok(part) => {
                let (frames, over) = told.frames(part);
                (!frames.is_empty()).then(|| (frames.into(), (!over).then_some(told)))
            }
        }
    });
    let ended = async move { guest.ended().await };
    sse::response(frames.take_until(ended), headers)
}
