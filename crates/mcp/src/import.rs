//! Definitions, results and texts of an MCP server in, our types out; nothing of it is trusted.

mod prompt;
mod result;
mod tool;
mod untrusted_text;

pub(crate) use prompt::{RemotePrompt, prompt_text};
pub(crate) use result::{convert_raw_result, convert_result};
pub(crate) use tool::{RemoteTool, trusted_hints};
pub(crate) use untrusted_text::{error_chain, excerpt, sanitize};
