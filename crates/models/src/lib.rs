//! Models behind wire protocols: a request as JSON out, frames of a stream in.
//!
//! Each protocol is a folder with the same files: `request` (what is asked, as JSON), `stream` (frames, as events), `wire` (what
//! the frames look like) and `tests`. None of them opens a connection.

mod assemble;
mod live;
mod protocol;
mod sse;

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;

mod vendor;

pub use live::Patience;
pub use vendor::{VENDORS, Vendor};
