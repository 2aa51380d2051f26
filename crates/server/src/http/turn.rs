//! One turn in, the stream of a UI protocol out: until the turn is over, or waits.

use std::collections::VecDeque;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use bytes::Bytes;
use futures::stream;
use serde_json::Value;
use tokio::time::timeout;

use super::sse;
use crate::event::{Event, Notice};
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

    pub(crate) fn seal(&self) -> Option<&'static str> {
        self.translator.seal()
    }
}

/// Streams a turn as server-sent events.
pub(crate) fn stream<T: Translator, const N: usize>(
    told: Told<T>,
    silence: Duration,
    headers: [(HeaderName, HeaderValue); N],
) -> Response {
    let frames = stream::unfold(Some(told), move |told| async move {
        let mut told = told?;
        match timeout(silence, told.next()).await {
            Err(_) => Some((Bytes::from_static(b": still here\n\n"), Some(told))),
            Ok(Some(part)) => Some((format!("data: {part}\n\n").into(), Some(told))),
            Ok(None) => {
                let seal = told.seal()?;
                Some((format!("data: {seal}\n\n").into(), None))
            }
        }
    });
    sse::response(frames, headers)
}
