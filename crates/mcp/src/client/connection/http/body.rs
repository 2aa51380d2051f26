//! Reads response bodies up to a limit.

use std::io;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt as _, future, stream};
use reqwest::Response;

use super::HttpTransportError;

/// Reads a complete body.
pub(super) async fn read_body(
    mut response: Response,
    max_bytes: usize,
) -> Result<Bytes, HttpTransportError> {
    let mut body = BytesMut::new();
    while let Some(chunk) = response.chunk().await.map_err(HttpTransportError::from_reqwest)? {
        if body.len() + chunk.len() > max_bytes {
            return Err(HttpTransportError::TooLarge(max_bytes));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

/// Forwards the bytes of an event stream; an event over the limit is an error and ends the stream.
pub(super) fn bounded_events<S>(
    bytes: S,
    max_bytes: usize,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static
where
    S: Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
{
    let bytes = bytes.map(|chunk| {
        chunk.map_err(|error| io::Error::other(HttpTransportError::from_reqwest(error)))
    });
    bytes
        .scan(Some(EventSizes::default()), move |state, chunk| {
            let Some(events) = state else {
                return future::ready(None);
            };
            let chunk = chunk.and_then(|chunk| match events.largest_event(&chunk) > max_bytes {
                true => Err(io::Error::other(HttpTransportError::TooLarge(max_bytes))),
                false => Ok(chunk),
            });
            if chunk.is_err() {
                *state = None;
            }
            future::ready(Some(chunk))
        })
        .chain(stream::empty())
}

/// The bytes of the current event, and of its current line.
#[derive(Default)]
struct EventSizes {
    event_bytes: usize,
    line_bytes: usize,
}

impl EventSizes {
    /// Counts a chunk, and returns the size of the largest event in it.
    fn largest_event(&mut self, chunk: &[u8]) -> usize {
        let mut largest = 0;
        for byte in chunk {
            self.event_bytes += 1;
            match byte {
                // An empty line ends an event.
                b'\n' if self.line_bytes == 0 => self.event_bytes = 0,
                b'\n' => self.line_bytes = 0,
                b'\r' => {}
                _ => self.line_bytes += 1,
            }
            largest = largest.max(self.event_bytes);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_line_ends_an_event() {
        let mut events = EventSizes::default();
        assert_eq!(events.largest_event(b"data: 1\r\n\r\ndata: 22\n\n"), 10);
        assert_eq!(events.largest_event(b"data: 333"), 9);
        assert_eq!(events.largest_event(b"333333333333"), 21);
    }

    #[tokio::test]
    async fn an_event_without_an_end_ends_the_stream() {
        let chunks = (0..10).map(|_| Ok(Bytes::from_static(b"0123456789")));
        let passed: Vec<bool> =
            bounded_events(stream::iter(chunks), 35).map(|chunk| chunk.is_ok()).collect().await;
        assert_eq!(passed, [true, true, true, false]);
    }
}
