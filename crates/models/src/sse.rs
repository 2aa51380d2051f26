//! Bytes in as they arrive, whole frames out: server-sent events, or one JSON value per line.
//!
//! Bytes are cut anywhere by the network, in the middle of a letter too; the frames do not depend on where.

use std::str;

use toolwright_chat::{ModelError, ModelErrorKind};

use crate::bounds::{LONGEST_FRAME, frame_too_long};

/// How frames follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// One frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// The event's name, empty if it has none.
    pub(crate) name: String,
    /// Its data.
    pub(crate) data: String,
}

/// Puts frames together.
pub(crate) struct Decoder {
    framing: Framing,
    /// What has arrived of the current line.
    line: Vec<u8>,
    /// Whether the last line ended in a carriage return, whose line feed is still to come.
    returned: bool,
    begun: bool,
    name: String,
    data: Option<String>,
}

impl Decoder {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            line: Vec::new(),
            returned: false,
            begun: false,
            name: String::new(),
            data: None,
        }
    }

    /// Takes the bytes that have arrived, and adds the frames they complete.
    ///
    /// # Errors
    ///
    /// A frame is too long, or not UTF-8; those before it are added all the same.
    pub(crate) fn feed(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), ModelError> {
        let mut rest = bytes;
        while let Some(end) = line_end(rest) {
            let (line, tail) = rest.split_at(end);
            let is_return = tail.first() == Some(&b'\r');
            let skipped = self.returned && line.is_empty() && !is_return && self.line.is_empty();
            self.returned = is_return;
            rest = tail.get(1..).unwrap_or_default();
            if skipped {
                // The line feed of a carriage return that ended the line before.
                continue;
            }
            if self.line.is_empty() {
                self.check(line)?;
                frames.extend(self.line(line)?);
            } else {
                self.append(line)?;
                let line = std::mem::take(&mut self.line);
                frames.extend(self.line(&line)?);
            }
        }
        if !rest.is_empty() {
            self.returned = false;
        }
        self.append(rest)
    }

    /// Nothing more comes: a last line that was not ended counts for lines, an open event does not.
    ///
    /// # Errors
    ///
    /// As [`Decoder::feed`].
    pub(crate) fn end(&mut self, frames: &mut Vec<Frame>) -> Result<(), ModelError> {
        let line = std::mem::take(&mut self.line);
        if self.framing == Framing::Lines {
            frames.extend(self.line(&line)?);
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.check(bytes)?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Refuses bytes with which the frame would be too long.
    fn check(&self, bytes: &[u8]) -> Result<(), ModelError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        match held + bytes.len() > LONGEST_FRAME {
            true => Err(frame_too_long()),
            false => Ok(()),
        }
    }

    /// One whole line, without its end.
    fn line(&mut self, line: &[u8]) -> Result<Option<Frame>, ModelError> {
        let text = str::from_utf8(line)
            .map_err(|_| ModelError::new(ModelErrorKind::Protocol, "a frame is not UTF-8"))?;
        let text = match self.begun {
            true => text,
            false => text.trim_start_matches('\u{feff}'),
        };
        self.begun = true;
        match self.framing {
            Framing::Lines => Ok((!text.trim().is_empty()).then(|| Frame {
                name: String::new(),
                data: text.to_owned(),
            })),
            Framing::Events => Ok(self.field(text)),
        }
    }

    fn field(&mut self, line: &str) -> Option<Frame> {
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = self.data.take()?;
            return Some(Frame { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", data @ None) => *data = Some(value.to_owned()),
            ("event", _) => self.name = value.to_owned(),
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
