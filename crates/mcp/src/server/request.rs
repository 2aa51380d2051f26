//! One request from dispatch to response: its context, the tool call, questions to the client.

pub(crate) mod approval;
pub(crate) mod client_peer;
pub(crate) mod dispatch;
pub(crate) mod execute;
pub(crate) mod header_arguments;
pub(crate) mod request_context;
pub(crate) mod request_state;
pub(crate) mod response_stream;
pub(crate) mod scope_check;
