//! The terminal: input, approval prompts, output on stdout and stderr, and escaping of untrusted text.

pub(crate) mod approval;
pub(crate) mod elicitation;
pub(crate) mod input;
pub(crate) mod output;
pub(crate) mod sanitize;
pub(crate) mod status_line;
pub(crate) mod tool_output;
