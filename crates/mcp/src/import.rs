//! What an MCP server says in, our own types out; nothing it says is believed.

mod prompt;
mod result;
mod tool;
mod untrusted_text;

pub(crate) use prompt::{RemotePrompt, prompt_text};
pub(crate) use result::{convert_raw_result, convert_result};
pub(crate) use tool::{RemoteTool, trusted_hints};
pub(crate) use untrusted_text::{error_chain, excerpt, sanitize};
