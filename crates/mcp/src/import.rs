//! Definitions, results and texts of an MCP server in, our types out; nothing of it is trusted.

use serde_json::Value;
use toolwright_core::Hints;
use toolwright_core::schema::Schema;

use crate::pin::Fingerprint;

mod prompt;
mod result;
mod tool;
mod untrusted_text;

pub(crate) use prompt::{parse_prompt, prompt_text};
pub(crate) use result::convert_result;
pub(crate) use tool::{parse_tool, trusted_hints};
pub(crate) use untrusted_text::{error_chain, excerpt, sanitize};

/// Longer descriptions and titles are truncated.
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;
const MAX_TITLE_BYTES: usize = 200;

/// The definition of a server's tool or prompt.
#[derive(Clone, Debug)]
pub(crate) struct RemoteDefinition {
    pub(crate) is_prompt: bool,
    /// The server's name of it.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: String,
    /// The schema of the arguments; those of a prompt are strings.
    pub(crate) input: Value,
    pub(crate) output: Option<Schema>,
    /// As the server declares them; a prompt has none.
    pub(crate) hints: Hints,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) notes: Vec<String>,
}
