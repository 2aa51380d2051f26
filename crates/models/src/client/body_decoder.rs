//! Pieces of a body in; frames out, or the whole of it where it is one JSON value.
//!
//! Not everybody who is asked for a stream sends one, and not everybody who sends one says so: what comes first tells.

use serde::de::IgnoredAny;
use toolwright_chat::{ModelError, ModelErrorKind};

use crate::excerpt::{excerpt, excerpt_of_prefix};
use crate::framing::{Frame, FrameDecoder, Framing};
use crate::limits::{MAX_FRAME_BYTES, MAX_RESPONSE_BYTES, frame_too_long, response_too_long};

/// The mark of byte order, which some put before everything.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// So much of a page is read to show what it is.
const MAX_SHOWN_BYTES: usize = 256;

/// A part of a body that can be read.
#[derive(Debug, PartialEq)]
pub(super) enum DecodedPart {
    Frame(Frame),
    CompleteBody(String),
}

/// A body that arrives.
pub(super) struct BodyDecoder {
    framing: Framing,
    /// Whether one JSON value is expected where lines and one value look alike.
    expects_single_json: bool,
    format: BodyFormat,
    received_bytes: usize,
    first_bytes: Vec<u8>,
    has_frames: bool,
}

enum BodyFormat {
    /// Nothing has come but white space.
    Unknown(Vec<u8>),
    Frames(FrameDecoder),
    SingleJson(Vec<u8>),
    /// A page for people.
    HtmlPage(Vec<u8>),
}

impl BodyDecoder {
    pub(super) fn new(framing: Framing, content_type: &str, streaming: bool) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        Self {
            framing,
            expects_single_json: !streaming || essence.eq_ignore_ascii_case("application/json"),
            format: BodyFormat::Unknown(Vec::new()),
            received_bytes: 0,
            first_bytes: Vec::new(),
            has_frames: false,
        }
    }

    /// Takes the bytes that have arrived, and adds what they complete.
    ///
    /// # Errors
    ///
    /// The body is too long, or not what it should be; what came before is added all the same.
    pub(super) fn push_bytes(
        &mut self,
        bytes: &[u8],
        read: &mut Vec<DecodedPart>,
    ) -> Result<(), ModelError> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > MAX_RESPONSE_BYTES {
            return Err(response_too_long());
        }
        let room = MAX_SHOWN_BYTES.saturating_sub(self.first_bytes.len());
        self.first_bytes.extend(bytes.iter().take(room));
        match &mut self.format {
            BodyFormat::Unknown(held) => {
                let seen = held.len();
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                let Some(state) = self.detect_format(&held, seen) else {
                    self.format = BodyFormat::Unknown(held);
                    return Ok(());
                };
                self.format = state;
                self.decode_bytes(&held, read)
            }
            _ => self.decode_bytes(bytes, read),
        }
    }

    /// What the first byte that says anything makes of it; those seen before said nothing.
    fn detect_format(&self, bytes: &[u8], seen: usize) -> Option<BodyFormat> {
        if BYTE_ORDER_MARK.starts_with(bytes) {
            return None;
        }
        // The beginning of a mark says something after all if no mark came of it.
        let from = match bytes.starts_with(BYTE_ORDER_MARK) || seen >= BYTE_ORDER_MARK.len() {
            true => seen.max(BYTE_ORDER_MARK.len()),
            false => 0,
        };
        let first = bytes.get(from..)?.trim_ascii_start().first()?;
        Some(match (first, self.framing) {
            (b'<', _) => BodyFormat::HtmlPage(Vec::new()),
            (b'{' | b'[', Framing::ServerSentEvents) => BodyFormat::SingleJson(Vec::new()),
            (_, Framing::JsonLines) if self.expects_single_json => {
                BodyFormat::SingleJson(Vec::new())
            }
            _ => BodyFormat::Frames(FrameDecoder::new(self.framing)),
        })
    }

    fn decode_bytes(
        &mut self,
        bytes: &[u8],
        read: &mut Vec<DecodedPart>,
    ) -> Result<(), ModelError> {
        match &mut self.format {
            BodyFormat::Frames(decoder) => {
                let mut frames = Vec::new();
                let fed = decoder.push_bytes(bytes, &mut frames);
                self.push_frames(frames, read);
                fed
            }
            BodyFormat::SingleJson(held) => {
                held.extend_from_slice(bytes);
                if held.len() > MAX_FRAME_BYTES {
                    return Err(frame_too_long());
                }
                Ok(())
            }
            BodyFormat::HtmlPage(held) => {
                held.extend_from_slice(bytes);
                if held.len() >= MAX_SHOWN_BYTES {
                    return Err(html_page_error(held));
                }
                Ok(())
            }
            BodyFormat::Unknown(_) => Ok(()),
        }
    }

    /// Nothing more comes.
    ///
    /// # Errors
    ///
    /// As [`BodyDecoder::feed`].
    pub(super) fn finish(&mut self, read: &mut Vec<DecodedPart>) -> Result<(), ModelError> {
        match &mut self.format {
            BodyFormat::Unknown(_) => Ok(()),
            BodyFormat::HtmlPage(held) => Err(html_page_error(held)),
            BodyFormat::Frames(decoder) => {
                let mut frames = Vec::new();
                decoder.finish(&mut frames)?;
                self.push_frames(frames, read);
                Ok(())
            }
            BodyFormat::SingleJson(held) => {
                let held = std::mem::take(held);
                let text = String::from_utf8(held).map_err(|error| {
                    ModelError::new(ModelErrorKind::Protocol, "the answer is not UTF-8")
                        .with_source(error)
                })?;
                let is_one = || serde_json::from_str::<IgnoredAny>(&text).is_ok();
                if self.framing == Framing::JsonLines && !is_one() {
                    let mut decoder = FrameDecoder::new(Framing::JsonLines);
                    let mut frames = Vec::new();
                    decoder.push_bytes(text.as_bytes(), &mut frames)?;
                    decoder.finish(&mut frames)?;
                    self.push_frames(frames, read);
                    return Ok(());
                }
                self.has_frames = true;
                read.push(DecodedPart::CompleteBody(text));
                Ok(())
            }
        }
    }

    fn push_frames(&mut self, frames: Vec<Frame>, read: &mut Vec<DecodedPart>) {
        self.has_frames |= !frames.is_empty();
        read.extend(frames.into_iter().map(DecodedPart::Frame));
    }

    /// What is wrong, if nothing that came was a frame.
    pub(super) fn no_frames_error(&self) -> Option<ModelError> {
        if self.has_frames {
            return None;
        }
        let beginning = String::from_utf8_lossy(&self.first_bytes);
        let message = if beginning.trim().is_empty() {
            "the answer is empty".to_owned()
        } else {
            let excerpt = match self.received_bytes > MAX_SHOWN_BYTES {
                true => excerpt_of_prefix(&beginning),
                false => excerpt(&beginning),
            };
            format!("the answer is not in the protocol: {excerpt}")
        };
        Some(ModelError::new(ModelErrorKind::Protocol, message))
    }
}

fn html_page_error(bytes: &[u8]) -> ModelError {
    let shown = match bytes.get(..MAX_SHOWN_BYTES) {
        Some(start) => excerpt_of_prefix(&String::from_utf8_lossy(start)),
        None => excerpt(&String::from_utf8_lossy(bytes)),
    };
    let message = format!("the answer is a page, not the protocol; is the address right? {shown}");
    ModelError::new(ModelErrorKind::Protocol, message)
}

#[cfg(test)]
mod tests;
