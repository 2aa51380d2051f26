//! Toolwright's tools in rig, rig's tools in Toolwright, and a rig agent behind Toolwright's server.
//!
//! [`tools`] makes what an `AgentBuilder` takes as dynamic tools, [`from_rig`] and [`from_rig_tool`] make what a registry
//! takes, and [`events`] and [`history`] convert between a session and a run of rig.

mod events;
mod import;
mod result;
mod tools;

pub use events::{events, history};
pub use import::{from_rig, from_rig_tool};
pub use result::EndOnFatal;
pub use tools::{CallerName, SessionName, tools};
