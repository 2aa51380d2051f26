//! Bodies of any size in, bodies of a bounded size out.

use std::io;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt as _, future, stream};
use reqwest::Response;

use super::HttpTransportError;

/// Reads a body whole.
pub(super) async fn read_body(
    mut response: Response,
    most: usize,
) -> Result<Bytes, HttpTransportError> {
    let mut body = BytesMut::new();
    while let Some(piece) = response
        .chunk()
        .await
        .map_err(HttpTransportError::from_reqwest)?
    {
        if body.len() + piece.len() > most {
            return Err(HttpTransportError::TooLarge(most));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body.freeze())
}

/// Passes on the bytes of an event stream; an event that is too large is an error, and the end.
pub(super) fn bounded_events<S>(
    bytes: S,
    most: usize,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static
where
    S: Stream<Item = reqwest::Result<Bytes>> + Send + 'static,
{
    let bytes = bytes.map(|piece| {
        piece.map_err(|error| io::Error::other(HttpTransportError::from_reqwest(error)))
    });
    bytes
        .scan(Some(EventSizes::default()), move |state, piece| {
            let Some(events) = state else {
                return future::ready(None);
            };
            let piece = piece.and_then(|piece| match events.largest_event(&piece) > most {
                true => Err(io::Error::other(HttpTransportError::TooLarge(most))),
                false => Ok(piece),
            });
            if piece.is_err() {
                *state = None;
            }
            future::ready(Some(piece))
        })
        .chain(stream::empty())
}

/// How far into an event, and into a line of it, the stream is.
#[derive(Default)]
struct EventSizes {
    event_bytes: usize,
    line_bytes: usize,
}

impl EventSizes {
    /// Reads on, and returns how large the largest event has become.
    fn largest_event(&mut self, piece: &[u8]) -> usize {
        let mut largest = 0;
        for byte in piece {
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
    fn only_what_lies_between_empty_lines_counts() {
        let mut events = EventSizes::default();
        assert_eq!(events.largest_event(b"data: 1\r\n\r\ndata: 22\n\n"), 10);
        assert_eq!(events.largest_event(b"data: 333"), 9);
        assert_eq!(events.largest_event(b"333333333333"), 21);
    }

    #[tokio::test]
    async fn an_event_without_an_end_ends_the_stream() {
        let pieces = (0..10).map(|_| Ok(Bytes::from_static(b"0123456789")));
        let passed: Vec<bool> = bounded_events(stream::iter(pieces), 35)
            .map(|piece| piece.is_ok())
            .collect()
            .await;
        assert_eq!(passed, [true, true, true, false]);
    }
}
