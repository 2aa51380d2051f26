//! The schema rules of each provider, as lists of checks.

pub(crate) mod anthropic;
pub(crate) mod google;
pub(crate) mod mcp;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod other_providers;
pub(crate) mod portable;
