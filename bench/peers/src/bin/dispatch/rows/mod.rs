//! One file per library: its tools, defined as its documentation shows, and its rows.

#[cfg(feature = "adk")]
pub mod adk;
#[cfg(feature = "bridges")]
pub mod bridges;
#[cfg(feature = "rig")]
pub mod rig;
#[cfg(feature = "rmcp")]
pub mod rmcp;
#[cfg(feature = "toolwright")]
pub mod toolwright;
