//! Pieces of a body in; frames out, or the whole of it where it is one JSON value.
//!
//! Not everybody who is asked for a stream sends one, and not everybody who sends one says so: what comes first tells.

use serde::de::IgnoredAny;
use toolwright_chat::{ModelError, ModelErrorKind};

use crate::bounds::{LONGEST_ANSWER, LONGEST_FRAME, answer_too_long, frame_too_long};
use crate::excerpt::{excerpt, excerpt_of_start};
use crate::sse::{Decoder, Frame, Framing};

/// The mark of byte order, which some put before everything.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// So much of a page is read to show what it is.
const PAGE: usize = 256;

/// A part of a body that can be read.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    Frame(Frame),
    Whole(String),
}

/// A body that arrives.
pub(super) struct Body {
    framing: Framing,
    /// Whether one JSON value is expected where lines and one value look alike.
    whole: bool,
    state: State,
    total: usize,
    beginning: Vec<u8>,
    framed: bool,
}

enum State {
    /// Nothing has come but white space.
    Undecided(Vec<u8>),
    Frames(Decoder),
    Whole(Vec<u8>),
    /// A page for people.
    Page(Vec<u8>),
}

impl Body {
    pub(super) fn new(framing: Framing, content_type: &str, streaming: bool) -> Self {
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        Self {
            framing,
            whole: !streaming || essence.eq_ignore_ascii_case("application/json"),
            state: State::Undecided(Vec::new()),
            total: 0,
            beginning: Vec::new(),
            framed: false,
        }
    }

    /// Takes the bytes that have arrived, and adds what they complete.
    ///
    /// # Errors
    ///
    /// The body is too long, or not what it should be; what came before is added all the same.
    pub(super) fn feed(&mut self, bytes: &[u8], read: &mut Vec<Read>) -> Result<(), ModelError> {
        self.total = self.total.saturating_add(bytes.len());
        if self.total > LONGEST_ANSWER {
            return Err(answer_too_long());
        }
        let room = PAGE.saturating_sub(self.beginning.len());
        self.beginning.extend(bytes.iter().take(room));
        match &mut self.state {
            State::Undecided(held) => {
                let seen = held.len();
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                let Some(state) = self.decide(&held, seen) else {
                    self.state = State::Undecided(held);
                    return Ok(());
                };
                self.state = state;
                self.pass(&held, read)
            }
            _ => self.pass(bytes, read),
        }
    }

    /// What the first byte that says anything makes of it; those seen before said nothing.
    fn decide(&self, bytes: &[u8], seen: usize) -> Option<State> {
        if MARK.starts_with(bytes) {
            return None;
        }
        // The beginning of a mark says something after all if no mark came of it.
        let from = match bytes.starts_with(MARK) || seen >= MARK.len() {
            true => seen.max(MARK.len()),
            false => 0,
        };
        let first = bytes.get(from..)?.trim_ascii_start().first()?;
        Some(match (first, self.framing) {
            (b'<', _) => State::Page(Vec::new()),
            (b'{' | b'[', Framing::Events) => State::Whole(Vec::new()),
            (_, Framing::Lines) if self.whole => State::Whole(Vec::new()),
            _ => State::Frames(Decoder::new(self.framing)),
        })
    }

    fn pass(&mut self, bytes: &[u8], read: &mut Vec<Read>) -> Result<(), ModelError> {
        match &mut self.state {
            State::Frames(decoder) => {
                let mut frames = Vec::new();
                let fed = decoder.feed(bytes, &mut frames);
                self.framed(frames, read);
                fed
            }
            State::Whole(held) => {
                held.extend_from_slice(bytes);
                if held.len() > LONGEST_FRAME {
                    return Err(frame_too_long());
                }
                Ok(())
            }
            State::Page(held) => {
                held.extend_from_slice(bytes);
                if held.len() >= PAGE {
                    return Err(page(held));
                }
                Ok(())
            }
            State::Undecided(_) => Ok(()),
        }
    }

    /// Nothing more comes.
    ///
    /// # Errors
    ///
    /// As [`Body::feed`].
    pub(super) fn end(&mut self, read: &mut Vec<Read>) -> Result<(), ModelError> {
        match &mut self.state {
            State::Undecided(_) => Ok(()),
            State::Page(held) => Err(page(held)),
            State::Frames(decoder) => {
                let mut frames = Vec::new();
                decoder.end(&mut frames)?;
                self.framed(frames, read);
                Ok(())
            }
            State::Whole(held) => {
                let held = std::mem::take(held);
                let text = String::from_utf8(held).map_err(|error| {
                    ModelError::new(ModelErrorKind::Protocol, "the answer is not UTF-8")
                        .with_source(error)
                })?;
                let is_one = || serde_json::from_str::<IgnoredAny>(&text).is_ok();
                if self.framing == Framing::Lines && !is_one() {
                    let mut decoder = Decoder::new(Framing::Lines);
                    let mut frames = Vec::new();
                    decoder.feed(text.as_bytes(), &mut frames)?;
                    decoder.end(&mut frames)?;
                    self.framed(frames, read);
                    return Ok(());
                }
                self.framed = true;
                read.push(Read::Whole(text));
                Ok(())
            }
        }
    }

    fn framed(&mut self, frames: Vec<Frame>, read: &mut Vec<Read>) {
        self.framed |= !frames.is_empty();
        read.extend(frames.into_iter().map(Read::Frame));
    }

    /// What is wrong, if nothing that came was a frame.
    pub(super) fn nothing(&self) -> Option<ModelError> {
        if self.framed {
            return None;
        }
        let beginning = String::from_utf8_lossy(&self.beginning);
        let message = if beginning.trim().is_empty() {
            "the answer is empty".to_owned()
        } else {
            let excerpt = match self.total > PAGE {
                true => excerpt_of_start(&beginning),
                false => excerpt(&beginning),
            };
            format!("the answer is not in the protocol: {excerpt}")
        };
        Some(ModelError::new(ModelErrorKind::Protocol, message))
    }
}

fn page(bytes: &[u8]) -> ModelError {
    let shown = match bytes.get(..PAGE) {
        Some(start) => excerpt_of_start(&String::from_utf8_lossy(start)),
        None => excerpt(&String::from_utf8_lossy(bytes)),
    };
    let message = format!("the answer is a page, not the protocol; is the address right? {shown}");
    ModelError::new(ModelErrorKind::Protocol, message)
}

#[cfg(test)]
mod tests;
