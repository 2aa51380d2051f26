//! Decodes the chunks of a body into frames, or into one JSON value.
//!
//! Some servers do not stream although the request demands it, and some stream with the wrong content type. So the first byte
//! that is not white space decides.

use serde::de::IgnoredAny;
use toolwright_chat::ModelError;

use crate::excerpt::{excerpt, excerpt_of_prefix};
use crate::framing::{Frame, FrameDecoder, Framing};
use crate::limits::{
    MAX_FRAME_BYTES, MAX_RESPONSE_BYTES, frame_too_long, protocol_error, response_too_long,
};

/// Some servers start the body with it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How much of an HTML page is read, for the excerpt in the error.
const MAX_SHOWN_BYTES: usize = 256;

/// A part of a body that a protocol can parse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DecodedPart<'a> {
    Frame(Frame<'a>),
    CompleteBody(&'a str),
}

/// Decodes one body; its format is detected from the first bytes.
pub(super) struct BodyDecoder {
    framing: Framing,
    /// Whether a body of JSON lines is tried as one JSON value first: the first byte does not distinguish them.
    expects_single_json: bool,
    format: BodyFormat,
    received_bytes: usize,
    first_bytes: Vec<u8>,
    has_frames: bool,
}

enum BodyFormat {
    /// Only white space so far.
    Unknown(Vec<u8>),
    Frames(FrameDecoder),
    SingleJson(Vec<u8>),
    /// An HTML page, which is an error.
    HtmlPage,
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

    /// Appends a chunk, and passes on the parts it completes.
    ///
    /// # Errors
    ///
    /// The body is too long, or not in the protocol; the parts before are passed on nevertheless. Or `on_part` fails.
    pub(super) fn push_bytes(
        &mut self,
        bytes: &[u8],
        on_part: &mut impl FnMut(DecodedPart<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        self.received_bytes = self.received_bytes.saturating_add(bytes.len());
        if self.received_bytes > MAX_RESPONSE_BYTES {
            return Err(response_too_long());
        }
        let room = MAX_SHOWN_BYTES.saturating_sub(self.first_bytes.len());
        self.first_bytes.extend(bytes.iter().take(room));
        match &mut self.format {
            BodyFormat::Unknown(buffer) => {
                let checked = buffer.len();
                buffer.extend_from_slice(bytes);
                let buffer = std::mem::take(buffer);
                let Some(format) = self.detect_format(&buffer, checked) else {
                    self.format = BodyFormat::Unknown(buffer);
                    return Ok(());
                };
                self.format = format;
                self.decode_bytes(&buffer, on_part)
            }
            _ => self.decode_bytes(bytes, on_part),
        }
    }

    /// The format by the first byte that is not white space; the first `checked` bytes are known to be white space.
    fn detect_format(&self, bytes: &[u8], checked: usize) -> Option<BodyFormat> {
        if BYTE_ORDER_MARK.starts_with(bytes) {
            return None;
        }
        // The first bytes of an incomplete mark count as content.
        let from = match bytes.starts_with(BYTE_ORDER_MARK) || checked >= BYTE_ORDER_MARK.len() {
            true => checked.max(BYTE_ORDER_MARK.len()),
            false => 0,
        };
        let first = bytes.get(from..)?.trim_ascii_start().first()?;
        Some(match (first, self.framing) {
            (b'<', _) => BodyFormat::HtmlPage,
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
        on_part: &mut impl FnMut(DecodedPart<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        match &mut self.format {
            BodyFormat::Frames(decoder) => {
                decoder.push_bytes(bytes, &mut frame_handler(&mut self.has_frames, on_part))
            }
            BodyFormat::SingleJson(buffer) => {
                buffer.extend_from_slice(bytes);
                if buffer.len() > MAX_FRAME_BYTES {
                    return Err(frame_too_long());
                }
                Ok(())
            }
            BodyFormat::HtmlPage if self.first_bytes.len() == MAX_SHOWN_BYTES => {
                Err(self.html_page_error())
            }
            BodyFormat::HtmlPage | BodyFormat::Unknown(_) => Ok(()),
        }
    }

    /// Ends the body, and passes on the remaining parts.
    ///
    /// # Errors
    ///
    /// As [`BodyDecoder::push_bytes`].
    pub(super) fn finish(
        &mut self,
        on_part: &mut impl FnMut(DecodedPart<'_>) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        match &mut self.format {
            BodyFormat::Unknown(_) => Ok(()),
            BodyFormat::HtmlPage => Err(self.html_page_error()),
            BodyFormat::Frames(decoder) => {
                decoder.finish(&mut frame_handler(&mut self.has_frames, on_part))
            }
            BodyFormat::SingleJson(buffer) => {
                let buffer = std::mem::take(buffer);
                let text = String::from_utf8(buffer).map_err(|error| {
                    protocol_error("the answer is not UTF-8").with_source(error)
                })?;
                let is_single_json = || serde_json::from_str::<IgnoredAny>(&text).is_ok();
                if self.framing == Framing::JsonLines && !is_single_json() {
                    let mut decoder = FrameDecoder::new(Framing::JsonLines);
                    let mut on_frame = frame_handler(&mut self.has_frames, on_part);
                    decoder.push_bytes(text.as_bytes(), &mut on_frame)?;
                    return decoder.finish(&mut on_frame);
                }
                self.has_frames = true;
                on_part(DecodedPart::CompleteBody(&text))
            }
        }
    }

    /// An error with an excerpt of the body, if the body had no frame.
    pub(super) fn no_frames_error(&self) -> Option<ModelError> {
        if self.has_frames {
            return None;
        }
        let is_truncated = self.received_bytes > MAX_SHOWN_BYTES;
        Some(protocol_error(match String::from_utf8_lossy(&self.first_bytes).trim() {
            "" => "the answer is empty".to_owned(),
            _ => format!("the answer is not in the protocol: {}", self.excerpt(is_truncated)),
        }))
    }

    fn html_page_error(&self) -> ModelError {
        let excerpt = self.excerpt(self.first_bytes.len() == MAX_SHOWN_BYTES);
        let problem = "the answer is a page, not the protocol; is the address right?";
        protocol_error(format!("{problem} {excerpt}"))
    }

    fn excerpt(&self, is_truncated: bool) -> String {
        let start = String::from_utf8_lossy(&self.first_bytes);
        match is_truncated {
            true => excerpt_of_prefix(&start),
            false => excerpt(&start),
        }
    }
}

/// Passes frames on as parts, and records that there was one.
fn frame_handler(
    has_frames: &mut bool,
    on_part: &mut impl FnMut(DecodedPart<'_>) -> Result<(), ModelError>,
) -> impl FnMut(Frame<'_>) -> Result<(), ModelError> {
    |frame| {
        *has_frames = true;
        on_part(DecodedPart::Frame(frame))
    }
}

#[cfg(test)]
mod tests;
