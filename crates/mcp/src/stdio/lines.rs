//! Reads lines up to a limit.

use std::io;

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

/// Reads the next line into `line`; dropping the future loses the part that was read.
pub(super) async fn read_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    limit: usize,
) -> io::Result<LineRead> {
    let mut too_long = false;
    loop {
        line.clear();
        (&mut *input).take(limit as u64 + 1).read_until(b'\n', line).await?;
        let has_end = line.pop_if(|byte| *byte == b'\n').is_some();
        if !has_end && line.len() > limit {
            too_long = true;
            continue;
        }
        // An incomplete last line counts as a line: if it is no message, the client receives an error.
        return Ok(match (too_long, has_end || !line.is_empty()) {
            (true, _) => {
                line.clear();
                LineRead::TooLong
            }
            (false, true) => LineRead::Line,
            (false, false) => LineRead::End,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{LineRead, read_line};

    #[tokio::test]
    async fn a_line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let mut input = tokio::io::BufReader::with_capacity(4, &b"one\nmuch too long\ntwo"[..]);
        let mut line = Vec::new();
        let mut read = Vec::new();
        loop {
            let what = read_line(&mut input, &mut line, 5).await.unwrap();
            read.push((String::from_utf8_lossy(&line).into_owned(), what));
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
}
