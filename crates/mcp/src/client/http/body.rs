//! Bodies of any size in, bodies of a bounded size out.

use std::io;

use bytes::{Bytes, BytesMut};
use futures::{Stream, StreamExt as _, future, stream};
use reqwest::Response;

use super::WireError;

/// Reads a body whole.
pub(super) async fn read(mut response: Response, most: usize) -> Result<Bytes, WireError> {
    let mut body = BytesMut::new();
    while let Some(piece) = response.chunk().await.map_err(WireError::http)? {
        if body.len() + piece.len() > most {
            return Err(WireError::TooLarge(most));
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
    let bytes = bytes.map(|piece| piece.map_err(|error| io::Error::other(WireError::http(error))));
    bytes
        .scan(Some(Events::default()), move |state, piece| {
            let Some(events) = state else {
                return future::ready(None);
            };
            let piece = piece.and_then(|piece| match events.largest(&piece) > most {
                true => Err(io::Error::other(WireError::TooLarge(most))),
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
struct Events {
    event: usize,
    line: usize,
}

impl Events {
    /// Reads on, and returns how large the largest event has become.
    fn largest(&mut self, piece: &[u8]) -> usize {
        let mut largest = 0;
        for byte in piece {
            self.event += 1;
            match byte {
                // An empty line ends an event.
                b'\n' if self.line == 0 => self.event = 0,
                b'\n' => self.line = 0,
                b'\r' => {}
                _ => self.line += 1,
            }
            largest = largest.max(self.event);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_between_empty_lines_counts() {
        let mut events = Events::default();
        assert_eq!(events.largest(b"data: 1\r\n\r\ndata: 22\n\n"), 10);
        assert_eq!(events.largest(b"data: 333"), 9);
        assert_eq!(events.largest(b"333333333333"), 21);
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
