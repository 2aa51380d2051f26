//! JSON-RPC messages and responses, and what each protocol revision contains.

pub(crate) mod capability;
pub(crate) mod log_level;
pub(crate) mod message;
pub(crate) mod response;
pub(crate) mod revision;
