//! What an MCP server says in, our own types out; nothing it says is believed.

mod prompt;
mod result;
mod text;
mod tool;

pub(crate) use prompt::{OfferedPrompt, said};
pub(crate) use result::{result, unknown_result};
pub(crate) use text::{chain, clean, short};
pub(crate) use tool::{Offered, hints};
