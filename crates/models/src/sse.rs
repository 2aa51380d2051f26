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

    /// Takes the bytes that have arrived, and returns the frames they complete.
    ///
    /// # Errors
    ///
    /// A frame is too long, or not UTF-8.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, ModelError> {
        let mut frames = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, tail) = rest.split_at(end);
            let is_return = tail.first() == Some(&b'\r');
            let skipped = self.returned && line.is_empty() && !is_return && self.line.is_empty();
            self.returned = is_return;
            rest = tail.get(1..).unwrap_or_default();
            if skipped {
                // The line feed of a carriage return that ended the line before.
                continue;
            }
            self.append(line)?;
            let line = std::mem::take(&mut self.line);
            frames.extend(self.line(&line)?);
        }
        if !rest.is_empty() {
            self.returned = false;
        }
        self.append(rest)?;
        Ok(frames)
    }

    /// Nothing more comes: a last line that was not ended counts for lines, an open event does not.
    ///
    /// # Errors
    ///
    /// As [`Decoder::feed`].
    pub(crate) fn end(&mut self) -> Result<Vec<Frame>, ModelError> {
        let line = std::mem::take(&mut self.line);
        match self.framing {
            Framing::Lines if !line.is_empty() => Ok(self.line(&line)?.into_iter().collect()),
            _ => Ok(Vec::new()),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let held = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if held + bytes.len() > LONGEST_FRAME {
            return Err(frame_too_long());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
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

#[cfg(test)]
mod tests;
