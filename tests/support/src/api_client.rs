//! Clients of the HTTP API that record what a server acknowledges, and the comparison of that with the journals.

pub mod address;
pub mod client;
pub mod history;
pub mod journal;
