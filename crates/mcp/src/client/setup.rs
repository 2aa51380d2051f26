//! The configuration of a server to attach: builder, settings, limits, validation.

pub(crate) mod ancestors;
pub(crate) mod config;
pub(crate) mod limits;
pub(crate) mod prefixes;
pub(crate) mod remote_server;
pub(crate) mod sent_secrets;
pub(crate) mod validated_server;
