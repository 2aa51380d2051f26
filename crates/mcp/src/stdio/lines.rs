//! Reads lines up to a limit.

use std::io;
use std::mem::take;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineRead {
    /// A line, without its end.
    Line,
    /// A line over the limit, which was skipped.
    TooLong,
    /// The stream has ended.
    End,
}

/// Reads lines, one after the other, and keeps the part of a line that has arrived.
pub(super) struct LineReader {
    line: Vec<u8>,
    limit: usize,
    /// Whether the next read begins a new line.
    is_complete: bool,
    is_too_long: bool,
}

impl LineReader {
    /// A reader of lines up to `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { line: Vec::new(), limit, is_complete: false, is_too_long: false }
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads the next line; dropping the future loses nothing.
    pub(super) async fn read(
        &mut self,
        input: &mut (impl AsyncBufRead + Unpin),
    ) -> io::Result<LineRead> {
        if take(&mut self.is_complete) {
            self.line.clear();
        }
        loop {
            let room = (self.limit as u64 + 1).saturating_sub(self.line.len() as u64);
            (&mut *input).take(room).read_until(b'\n', &mut self.line).await?;
            let has_end = self.line.pop_if(|byte| *byte == b'\n').is_some();
            if !has_end && self.line.len() > self.limit {
                self.is_too_long = true;
                self.line.clear();
                continue;
            }
            self.is_complete = true;
            // An incomplete last line counts as a line: if it is no message, the client receives an error.
            return Ok(match (take(&mut self.is_too_long), has_end || !self.line.is_empty()) {
                (true, _) => {
                    self.line.clear();
                    LineRead::TooLong
                }
                (false, true) => LineRead::Line,
                (false, false) => LineRead::End,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use tokio::io::AsyncWriteExt as _;

    use super::{LineRead, LineReader};

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let mut input = tokio::io::BufReader::with_capacity(4, &b"one\nmuch too long\ntwo"[..]);
        let mut lines = LineReader::new(5);
        let mut read = Vec::new();
        loop {
            let what = lines.read(&mut input).await.unwrap();
            read.push((String::from_utf8_lossy(lines.line()).into_owned(), what));
            if read.last().unwrap().1 == LineRead::End {
                break;
            }
        }
        let expected = [
            ("one", LineRead::Line),
            ("", LineRead::TooLong),
            ("two", LineRead::Line),
            ("", LineRead::End),
        ];
        assert_eq!(read, expected.map(|(text, what)| (text.to_owned(), what)));
    }

    #[tokio::test]
    async fn what_has_arrived_of_a_line_outlives_the_future_that_read_it() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut input = tokio::io::BufReader::new(server);
        let mut lines = LineReader::new(64);
        let cx = &mut Context::from_waker(Waker::noop());
        for part in ["a li", "ne in pa"] {
            client.write_all(part.as_bytes()).await.unwrap();
            let mut read = std::pin::pin!(lines.read(&mut input));
            assert!(read.as_mut().poll(cx).is_pending());
        }
        client.write_all(b"rts\n").await.unwrap();
        assert_eq!(lines.read(&mut input).await.unwrap(), LineRead::Line);
        assert_eq!(lines.line(), b"a line in parts");
    }
}
