//! A conversation at several nodes: what they send each other, and how a room follows the node that holds the lease.

pub(crate) mod handover;
pub(crate) mod node_message;
pub(crate) mod room_link;
