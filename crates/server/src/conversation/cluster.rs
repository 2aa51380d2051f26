//! A conversation at several nodes: how a room follows the node that holds the lease.

pub(crate) mod handover;
pub(crate) mod room_link;
