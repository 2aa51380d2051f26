//! One conversation in memory: its queue of commands, the running turn, its event log and the subscribers of that log.

pub(crate) mod access;
pub(crate) mod access_audit;
pub(crate) mod approval_list;
pub(crate) mod cluster;
pub(crate) mod external_transcript;
mod pending_approvals;
pub(crate) mod presence;
mod retention;
pub(crate) mod room;
pub(crate) mod room_command;
mod room_worker;
pub(crate) mod session;
pub(crate) mod shares;
pub(crate) mod subscriber;
mod sweeper;
pub(crate) mod titles;
pub(crate) mod turn;
pub(crate) mod turn_error;
mod turn_events;
mod turn_start;
pub(crate) mod unstored;
