//! Splits the bytes of a response into frames: server-sent events, or one JSON value per line.
//!
//! The frames do not depend on where the network splits the bytes, which may be in the middle of a character.

use std::str;

use toolwright_chat::{ModelError, ModelErrorKind};

use crate::limits::{MAX_FRAME_BYTES, frame_too_long};

/// How a body is split into frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    ServerSentEvents,
    /// One JSON value per line.
    JsonLines,
}

/// One event or line of a streamed response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The event's name, empty if it has none.
    pub(crate) event_name: String,
    /// The text of its `data` fields, or the line.
    pub(crate) data: String,
}

/// Collects bytes until they form frames.
pub(crate) struct FrameDecoder {
    framing: Framing,
    /// The bytes of the current line so far.
    partial_line: Vec<u8>,
    /// Whether the last line ended in a carriage return, which a line feed may follow.
    ended_in_carriage_return: bool,
    has_first_line: bool,
    event_name: String,
    data: Option<String>,
}

impl FrameDecoder {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            partial_line: Vec::new(),
            ended_in_carriage_return: false,
            has_first_line: false,
            event_name: String::new(),
            data: None,
        }
    }

    /// Appends received bytes, and pushes the frames they complete.
    ///
    /// # Errors
    ///
    /// A frame is too long, or not UTF-8; the frames before it are pushed nevertheless.
    pub(crate) fn push_bytes(
        &mut self,
        bytes: &[u8],
        frames: &mut Vec<Frame>,
    ) -> Result<(), ModelError> {
        let mut rest = bytes;
        while let Some(end) = line_end(rest) {
            let (line, tail) = rest.split_at(end);
            let is_return = tail.first() == Some(&b'\r');
            let skipped = self.ended_in_carriage_return
                && line.is_empty()
                && !is_return
                && self.partial_line.is_empty();
            self.ended_in_carriage_return = is_return;
            rest = tail.get(1..).unwrap_or_default();
            if skipped {
                // The line feed after a carriage return that ended the previous line.
                continue;
            }
            if self.partial_line.is_empty() {
                self.check_frame_size(line)?;
                frames.extend(self.decode_line(line)?);
            } else {
                self.append_to_line(line)?;
                let line = std::mem::take(&mut self.partial_line);
                frames.extend(self.decode_line(&line)?);
            }
        }
        if !rest.is_empty() {
            self.ended_in_carriage_return = false;
        }
        self.append_to_line(rest)
    }

    /// Ends the body: the last JSON line needs no line feed, but an event without its blank line is dropped.
    ///
    /// # Errors
    ///
    /// As [`FrameDecoder::push_bytes`].
    pub(crate) fn finish(&mut self, frames: &mut Vec<Frame>) -> Result<(), ModelError> {
        let line = std::mem::take(&mut self.partial_line);
        if self.framing == Framing::JsonLines {
            frames.extend(self.decode_line(&line)?);
        }
        Ok(())
    }

    fn append_to_line(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.check_frame_size(bytes)?;
        self.partial_line.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns an error if the frame would be too long with these bytes.
    fn check_frame_size(&self, bytes: &[u8]) -> Result<(), ModelError> {
        let pending = self.partial_line.len() + self.data.as_ref().map_or(0, String::len);
        match pending + bytes.len() > MAX_FRAME_BYTES {
            true => Err(frame_too_long()),
            false => Ok(()),
        }
    }

    /// Decodes one complete line, without its line end.
    fn decode_line(&mut self, line: &[u8]) -> Result<Option<Frame>, ModelError> {
        let text = str::from_utf8(line)
            .map_err(|_| ModelError::new(ModelErrorKind::Protocol, "a frame is not UTF-8"))?;
        let text = match self.has_first_line {
            true => text,
            false => text.trim_start_matches('\u{feff}'),
        };
        self.has_first_line = true;
        match self.framing {
            Framing::JsonLines => Ok((!text.trim().is_empty())
                .then(|| Frame { event_name: String::new(), data: text.to_owned() })),
            Framing::ServerSentEvents => Ok(self.decode_event_field(text)),
        }
    }

    fn decode_event_field(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            let event_name = std::mem::take(&mut self.event_name);
            let data = self.data.take()?;
            return Some(Frame { event_name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", data @ None) => *data = Some(value.to_owned()),
            ("event", _) => self.event_name = value.to_owned(),
            // Comments, `id` and `retry` are not used.
            _ => {}
        }
        None
    }
}

/// The position of the first line end. Searching block by block is several times as fast as byte by byte.
fn line_end(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let has_none = |block: &&[u8]| !block.iter().fold(false, |any, byte| any | ends(byte));
    let skipped = BLOCK * bytes.chunks_exact(BLOCK).take_while(has_none).count();
    let offset = bytes.get(skipped..)?.iter().position(ends)?;
    Some(skipped + offset)
}

#[cfg(test)]
mod tests;
