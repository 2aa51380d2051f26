//! Quotas: how much one person may use of a server, counted by all nodes together, and the fair order of turns at one node.
//!
//! Messages are counted when they are accepted, tokens and cost when a step of the model is complete. A turn that runs holds one of
//! its person's slots, and one of its node's.

pub(crate) mod account;
pub(crate) mod admission;
pub(crate) mod counters;
pub(crate) mod settings;
pub(crate) mod turn_queue;
pub(crate) mod turn_slots;
pub(crate) mod usage_report;
