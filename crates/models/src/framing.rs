//! Splits the bytes of a response into frames: server-sent events, or one JSON value per line.
//!
//! The frames do not depend on where the network splits the bytes, which may be in the middle of a character.

use std::str;

use memchr::memchr2;
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

/// One event or line of a streamed response, in the decoder's buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// The event's name, empty if it has none.
    pub(crate) event_name: &'a str,
    /// The text of its `data` fields, or the line.
    pub(crate) data: &'a str,
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
    /// The text of the `data` fields so far. Like the name it is cleared after each event, so that its memory serves all.
    data: String,
    has_data: bool,
}

impl FrameDecoder {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            partial_line: Vec::new(),
            ended_in_carriage_return: false,
            has_first_line: false,
            event_name: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    /// Appends received bytes, and passes on the frames they complete.
    ///
    /// # Errors
    ///
    /// A frame is too long, or not UTF-8; the frames before it are passed on nevertheless. Or `on_frame` fails.
    pub(crate) fn push_bytes(
        &mut self,
        bytes: &[u8],
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let mut rest = bytes;
        while let Some(end) = memchr2(b'\n', b'\r', rest) {
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
                self.decode_line(line, on_frame)?;
            } else {
                self.append_to_line(line)?;
                let mut line = std::mem::take(&mut self.partial_line);
                self.decode_line(&line, on_frame)?;
                line.clear();
                self.partial_line = line;
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
    pub(crate) fn finish(
        &mut self,
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let line = std::mem::take(&mut self.partial_line);
        match self.framing {
            Framing::JsonLines => self.decode_line(&line, on_frame),
            Framing::ServerSentEvents => Ok(()),
        }
    }

    fn append_to_line(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.check_frame_size(bytes)?;
        self.partial_line.extend_from_slice(bytes);
        Ok(())
    }

    /// Returns an error if the frame would be too long with these bytes.
    fn check_frame_size(&self, bytes: &[u8]) -> Result<(), ModelError> {
        let pending = self.partial_line.len() + self.data.len();
        match pending + bytes.len() > MAX_FRAME_BYTES {
            true => Err(frame_too_long()),
            false => Ok(()),
        }
    }

    /// Decodes one complete line, without its line end.
    fn decode_line(
        &mut self,
        line: &[u8],
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let text = str::from_utf8(line)
            .map_err(|_| ModelError::new(ModelErrorKind::Protocol, "a frame is not UTF-8"))?;
        let text = match self.has_first_line {
            true => text,
            false => text.trim_start_matches('\u{feff}'),
        };
        self.has_first_line = true;
        match self.framing {
            Framing::JsonLines if text.trim().is_empty() => Ok(()),
            Framing::JsonLines => on_frame(Frame { event_name: "", data: text }),
            Framing::ServerSentEvents if text.is_empty() => self.end_event(on_frame),
            Framing::ServerSentEvents => {
                self.decode_event_field(text);
                Ok(())
            }
        }
    }

    /// Passes on the event that a blank line ends, if it has data.
    fn end_event(
        &mut self,
        on_frame: &mut impl FnMut(Frame<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let result = match std::mem::take(&mut self.has_data) {
            true => on_frame(Frame { event_name: &self.event_name, data: &self.data }),
            false => Ok(()),
        };
        self.event_name.clear();
        self.data.clear();
        result
    }

    fn decode_event_field(&mut self, line: &str) {
        let (field, value) = match line.strip_prefix("data:") {
            // The most frequent field.
            Some(value) => ("data", value),
            None => line.split_once(':').unwrap_or((line, "")),
        };
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.event_name),
            // Comments, `id` and `retry` are not used.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
