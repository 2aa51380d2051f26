//! What an MCP server says in, our own types out; nothing it says is believed.

mod prompt;
mod result;
mod untrusted_text;
mod tool;

pub(crate) use prompt::{RemotePrompt, prompt_text};
pub(crate) use result::{convert_result, convert_raw_result};
pub(crate) use untrusted_text::{error_chain, sanitize, excerpt};
pub(crate) use tool::{RemoteTool, trusted_hints};
