//! A stream of HTTP/1 requests whose lines all have to end with CR LF.
//!
//! hyper accepts a bare line feed, too. A proxy in front that takes it for a part of the line sees other headers, or another end of
//! the request, than this server (request smuggling). A bare line feed becomes a NUL here, which hyper answers with a 400. So does the
//! end of a line that leaves in doubt where the body ends.

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
    /// Nothing that is followed: another protocol, or what comes after a NUL.
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
        let line = std::mem::take(&mut self.line);
        let next = is_strict.then(|| self.end_line(line.strip_suffix(b"\r").unwrap_or(&line)));
        self.line = line;
        self.line.clear();
        let next = next.flatten();
        if let (None, Some(line_feed)) = (next, bytes.get_mut(length)) {
            *line_feed = 0;
        }
        self.part = next.unwrap_or(Part::Opaque);
        length + 1
    }

    /// Returns the part after a line; `None` to reject the request.
    fn end_line(&mut self, line: &[u8]) -> Option<Part> {
        Some(match self.part {
            Part::ChunkSize => match chunk_size(line)? {
                0 => Part::Trailers,
                size => Part::Chunk(size.saturating_add(2)),
            },
            Part::Trailers if line.is_empty() => Part::Head,
            Part::Head if line.is_empty() && self.head.has_begun => return self.end_head(),
            Part::Head if !line.is_empty() => {
                self.head.read(line)?;
                Part::Head
            }
            // Empty lines before a request are ignored.
            part => part,
        })
    }

    /// Returns the part after a head; `None` to reject the request.
    fn end_head(&mut self) -> Option<Part> {
        let asks_for_upgrade = self.head.asks_for_upgrade;
        let head = std::mem::replace(&mut self.head, Head { asks_for_upgrade, ..Head::default() });
        match head.length {
            // Proxies differ in which of the two they believe.
            Some(_) if head.is_chunked => None,
            _ if head.is_chunked => Some(Part::ChunkSize),
            Some(length) if length > 0 => Some(Part::Body(length)),
            _ => Some(Part::Head),
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
    /// Reads a line; `None` to reject the request.
    fn read(&mut self, line: &[u8]) -> Option<()> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.asks_for_upgrade = false;
            return Some(());
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        self.is_chunked |= is("transfer-encoding");
        self.asks_for_upgrade |= is("upgrade");
        if !is("content-length") {
            return Some(());
        }
        let value = value.strip_prefix(b":").and_then(|value| std::str::from_utf8(value).ok())?;
        let length: u64 = value.trim().parse().ok()?;
        let is_clear = self.length.is_none_or(|known| known == length) && is_whole(line);
        self.length = Some(length);
        is_clear.then_some(())
    }
}

/// Returns true if nothing was cut off the line.
fn is_whole(line: &[u8]) -> bool {
    line.len() < MAX_LINE - 1
}

/// The size in a line before a chunk, which may have extensions.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let digits = std::str::from_utf8(line.get(..end)?).ok().filter(|it| is_whole(it.as_bytes()))?;
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
            "POST / HTTP/1.1\r\nContent-Length: x\r\nA: b\nC: d\r\n\r\n",
        ] {
            for piece in [1, 2, 7, 1000] {
                let received = received(request, piece);
                assert_eq!(received.matches('\0').count(), 1, "{piece}: {received:?}");
                assert_eq!(received.len(), request.len());
            }
        }
    }

    #[test]
    fn a_request_whose_end_is_in_doubt_is_rejected() {
        let zeros = "0".repeat(MAX_LINE);
        for head in [
            "Transfer-Encoding: chunked\r\nContent-Length: x\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
            "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Content-Length: 3\r\nContent-Length: 4\r\n",
            &format!("Content-Length: {zeros}3\r\n"),
            &format!("Transfer-Encoding: chunked\r\n\r\n{zeros}3\r\n"),
        ] {
            for piece in [1, 2, 7, 1000] {
                let received = received(&format!("POST / HTTP/1.1\r\n{head}"), piece);
                assert!(received.ends_with("\r\0"), "{piece}: {received:?}");
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
