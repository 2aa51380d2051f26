//! A stream of HTTP/1 requests whose lines all have to end with CR LF.
//!
//! hyper accepts a bare line feed, too. A proxy in front that takes it for a part of the line sees other headers, or another end of
//! the request, than this server (request smuggling). A bare line feed becomes a NUL here, which hyper answers with a 400.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The beginning of a line that is kept: enough for the headers that say where the body ends.
const MAX_LINE: usize = 64;

const SWITCHING_PROTOCOLS: &[u8] = b"HTTP/1.1 101";

/// A stream whose client sends requests.
pub(super) struct StrictLines<S> {
    stream: S,
    lines: RequestLines,
}

/// Follows the bytes of requests, as far as is needed to know which are lines.
#[derive(Default)]
struct RequestLines {
    part: Part,
    /// The beginning of the current line.
    line: Vec<u8>,
    last_byte: u8,
    head: Head,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Part {
    /// The request line and the headers.
    #[default]
    Head,
    /// A body with this many bytes left.
    Body(u64),
    ChunkSize,
    /// A chunk with this many bytes left, its line end included.
    Chunk(u64),
    Trailers,
    /// Nothing that is followed: another protocol, or a request that hyper rejects.
    Opaque,
}

/// What the lines of a head have said so far.
#[derive(Default)]
struct Head {
    has_begun: bool,
    length: Option<u64>,
    is_chunked: bool,
    asks_for_upgrade: bool,
}

impl<S> StrictLines<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, lines: RequestLines::default() }
    }
}

impl RequestLines {
    /// Follows bytes that were received; replaces a bare line feed.
    fn read(&mut self, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let taken = match self.part {
                Part::Opaque => return,
                Part::Body(left) => self.skip(left, bytes.len(), Part::Body, Part::Head),
                Part::Chunk(left) => self.skip(left, bytes.len(), Part::Chunk, Part::ChunkSize),
                Part::Head | Part::ChunkSize | Part::Trailers => self.read_line(bytes),
            };
            bytes = std::mem::take(&mut bytes).get_mut(taken..).unwrap_or_default();
        }
    }

    /// Skips the bytes of a body; returns their number.
    fn skip(&mut self, left: u64, available: usize, rest: fn(u64) -> Part, next: Part) -> usize {
        let available_bytes = u64::try_from(available).unwrap_or(u64::MAX);
        let taken = left.min(available_bytes);
        self.part = if taken == left { next } else { rest(left - taken) };
        usize::try_from(taken).unwrap_or(available)
    }

    /// Reads to the end of the line, or of the bytes; returns how many were read.
    fn read_line(&mut self, bytes: &mut [u8]) -> usize {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let length = end.unwrap_or(bytes.len());
        let text = bytes.get(..length).unwrap_or_default();
        let room = MAX_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(text.get(..room).unwrap_or(text));
        self.last_byte = text.last().copied().unwrap_or(self.last_byte);
        if end.is_none() {
            return length;
        }
        let is_strict = self.last_byte == b'\r';
        self.last_byte = b'\n';
        if !is_strict {
            if let Some(line_feed) = bytes.get_mut(length) {
                *line_feed = 0;
            }
            self.part = Part::Opaque;
            return length + 1;
        }
        let line = std::mem::take(&mut self.line);
        self.part = self.end_line(line.strip_suffix(b"\r").unwrap_or(&line));
        self.line = line;
        self.line.clear();
        length + 1
    }

    /// Returns the part after a line.
    fn end_line(&mut self, line: &[u8]) -> Part {
        match self.part {
            Part::ChunkSize => match chunk_size(line) {
                Some(0) => Part::Trailers,
                Some(size) => Part::Chunk(size.saturating_add(2)),
                None => Part::Opaque,
            },
            Part::Trailers if line.is_empty() => Part::Head,
            Part::Head if line.is_empty() && self.head.has_begun => self.end_head(),
            Part::Head if !line.is_empty() => self.head.read(line),
            // Empty lines before a request are ignored.
            part => part,
        }
    }

    /// Returns the part after a head.
    fn end_head(&mut self) -> Part {
        let asks_for_upgrade = self.head.asks_for_upgrade;
        let head = std::mem::replace(&mut self.head, Head { asks_for_upgrade, ..Head::default() });
        match head.length {
            _ if head.is_chunked => Part::ChunkSize,
            Some(length) if length > 0 => Part::Body(length),
            _ => Part::Head,
        }
    }

    /// Follows bytes that are sent: after a change of the protocol there are no more lines.
    fn write(&mut self, bytes: &[u8]) {
        if self.head.asks_for_upgrade && bytes.starts_with(SWITCHING_PROTOCOLS) {
            self.part = Part::Opaque;
        }
    }
}

impl Head {
    /// Reads a line; returns the part after it.
    fn read(&mut self, line: &[u8]) -> Part {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.asks_for_upgrade = false;
            return Part::Head;
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        self.is_chunked |= is("transfer-encoding");
        self.asks_for_upgrade |= is("upgrade");
        if !is("content-length") {
            return Part::Head;
        }
        let value = value.strip_prefix(b":").and_then(|value| std::str::from_utf8(value).ok());
        let length = value.and_then(|value| value.trim().parse().ok());
        let is_clear = self.length.is_none() || self.length == length;
        self.length = length;
        // hyper rejects a length that is no number, or two that differ.
        if length.is_some() && is_clear && line.len() < MAX_LINE - 1 {
            Part::Head
        } else {
            Part::Opaque
        }
    }
}

/// The size in a line before a chunk, which may have extensions.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let digits = std::str::from_utf8(line.get(..end)?).ok()?;
    u64::from_str_radix(digits, 16).ok()
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictLines<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if let Some(received) = buffer.filled_mut().get_mut(before..) {
            self.lines.read(received);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StrictLines<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.lines.write(bytes);
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let Some(first) = buffers.first() {
            self.lines.write(first);
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of requests that arrive in pieces of this size.
    fn received(text: &str, piece: usize) -> String {
        let mut lines = RequestLines::default();
        let mut bytes = text.as_bytes().to_vec();
        bytes.chunks_mut(piece).for_each(|piece| lines.read(piece));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_right_is_left_as_it_is() {
        for request in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\na\nb\r\nc",
            "POST / HTTP/1.1\r\ncontent-length:3\r\n\r\n\n\n\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\n\n\n\n\r\nA\r\n0123456\n\n\n\r\n0\r\nT: u\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        ] {
            for piece in [1, 2, 7, 1000] {
                assert_eq!(received(request, piece), request, "{piece}");
            }
        }
    }

    #[test]
    fn a_bare_line_feed_in_a_line_is_replaced() {
        for request in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n\n",
            "\nGET / HTTP/1.1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n\r\nGET / HTTP/1.1\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: u\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\n\r\n",
            "GET / HTTP/1.1\r\nUpgrade: x\r\n\r\nGET / HTTP/1.1\n\r\n",
        ] {
            for piece in [1, 2, 7, 1000] {
                let received = received(request, piece);
                assert_eq!(received.matches('\0').count(), 1, "{piece}: {received:?}");
                assert_eq!(received.len(), request.len());
            }
        }
    }

    #[test]
    fn nothing_is_replaced_after_a_change_of_the_protocol() {
        let mut lines = RequestLines::default();
        lines.read(&mut b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n".to_vec());
        lines.write(b"HTTP/1.1 101 Switching Protocols\r\n\r\n");
        let mut frames = b"\n\n\n".to_vec();
        lines.read(&mut frames);
        assert_eq!(frames, b"\n\n\n");
    }
}
