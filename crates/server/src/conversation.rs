//! One conversation in memory: its queue of commands, the running turn, its event log and the subscribers of that log.

pub(crate) mod event;
pub(crate) mod event_log;
pub(crate) mod external_transcript;
pub(crate) mod presence;
mod retention;
pub(crate) mod room;
pub(crate) mod room_command;
pub(crate) mod session;
pub(crate) mod subscriber;
mod sweeper;
pub(crate) mod turn;
pub(crate) mod turn_error;
pub(crate) mod unstored;
pub(crate) mod usage;
