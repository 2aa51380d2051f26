//! A stream in, its lines out, none of them too long.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// A line, without its end.
    Line,
    /// A line that was longer than allowed; it was skipped.
    TooLong,
    /// Nothing: the stream has ended.
    End,
}

/// Reads the next line into `line`; whoever drops the future gives up on the rest of it.
pub(super) async fn next(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<Read> {
    line.clear();
    let mut too_long = false;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() {
            // Half a line at the end is as good as a line: if it is no message, its sender is told.
            return Ok(match (too_long, line.is_empty()) {
                (true, _) => Read::TooLong,
                (false, true) => Read::End,
                (false, false) => Read::Line,
            });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(available.len());
        if line.len() + taken > limit {
            too_long = true;
            line.clear();
        } else if !too_long {
            line.extend_from_slice(available.get(..taken).unwrap_or_default());
        }
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(if too_long { Read::TooLong } else { Read::Line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Read, next};

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let mut input = tokio::io::BufReader::with_capacity(4, &b"one\nmuch too long\ntwo"[..]);
        let mut line = Vec::new();
        let mut read = Vec::new();
        loop {
            let what = next(&mut input, &mut line, 5).await.unwrap();
            read.push((String::from_utf8_lossy(&line).into_owned(), what));
            if read.last().unwrap().1 == Read::End {
                break;
            }
        }
        let expected = [
            ("one", Read::Line),
            ("", Read::TooLong),
            ("two", Read::Line),
            ("", Read::End),
        ];
        assert_eq!(read, expected.map(|(text, what)| (text.to_owned(), what)));
    }
}
