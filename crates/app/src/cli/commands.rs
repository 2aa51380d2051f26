//! The subcommands, one module each.

pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod config;
pub(crate) mod conversations;
pub(crate) mod mcp;
pub(crate) mod new;
pub(crate) mod nodes;
pub(crate) mod prompts;
pub(crate) mod publish;
pub(crate) mod quota;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod store;
pub(crate) mod tools;
