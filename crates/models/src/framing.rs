//! Bytes in as they arrive, whole frames out: server-sent events, or one JSON value per line.
//!
//! Bytes are cut anywhere by the network, in the middle of a letter too; the frames do not depend on where.

use std::str;

use toolwright_chat::{ModelError, ModelErrorKind};

use crate::limits::{MAX_FRAME_BYTES, frame_too_long};

/// How frames follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    ServerSentEvents,
    /// One JSON value per line.
    JsonLines,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The event's name, empty if it has none.
    pub(crate) event_name: String,
    /// Its data.
    pub(crate) data: String,
}

/// Puts frames together.
pub(crate) struct FrameDecoder {
    framing: Framing,
    /// What has arrived of the current line.
    partial_line: Vec<u8>,
    /// Whether the last line ended in a carriage return, whose line feed is still to come.
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

    /// Takes the bytes that have arrived, and adds the frames they complete.
    ///
    /// # Errors
    ///
    /// A frame is too long, or not UTF-8; those before it are added all the same.
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
                // The line feed of a carriage return that ended the line before.
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

    /// Nothing more comes: a last line that was not ended counts for lines, an open event does not.
    ///
    /// # Errors
    ///
    /// As [`FrameDecoder::feed`].
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

    /// Refuses bytes with which the frame would be too long.
    fn check_frame_size(&self, bytes: &[u8]) -> Result<(), ModelError> {
        let held = self.partial_line.len() + self.data.as_ref().map_or(0, String::len);
        match held + bytes.len() > MAX_FRAME_BYTES {
            true => Err(frame_too_long()),
            false => Ok(()),
        }
    }

    /// One whole line, without its end.
    fn decode_line(&mut self, line: &[u8]) -> Result<Option<Frame>, ModelError> {
        let text = str::from_utf8(line)
            .map_err(|_| ModelError::new(ModelErrorKind::Protocol, "a frame is not UTF-8"))?;
        let text = match self.has_first_line {
            true => text,
            false => text.trim_start_matches('\u{feff}'),
        };
        self.has_first_line = true;
        match self.framing {
            Framing::JsonLines => Ok((!text.trim().is_empty()).then(|| Frame {
                event_name: String::new(),
                data: text.to_owned(),
            })),
            Framing::ServerSentEvents => Ok(self.decode_event_field(text)),
        }
    }

    fn decode_event_field(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.event_name);
            let data = self.data.take()?;
            return Some(Frame {
                event_name: name,
                data,
            });
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
            // Comments, ids and times to wait are for others.
            _ => {}
        }
        None
    }
}

/// Where a line ends. Blocks are looked at as a whole, which is several times as fast as byte by byte.
fn line_end(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let has_none = |block: &&[u8]| !block.iter().fold(false, |any, byte| any | ends(byte));
    let passed = BLOCK * bytes.chunks_exact(BLOCK).take_while(has_none).count();
    let place = bytes.get(passed..)?.iter().position(ends)?;
    Some(passed + place)
}

#[cfg(test)]
mod tests;
