//! Toolwright's tools in adk-rust, and adk-rust's in Toolwright.
//!
//! [`tools`] makes what `LlmAgentBuilder::tool` takes, and [`from_adk`] takes a tool of adk's into a registry. [`ConfirmationApprover`]
//! lets adk's own handler decide about dangerous calls. A tool that needs adk's context of its call takes [`AdkContext`] as a
//! parameter.

mod confirm;
mod import;
mod result;
mod tools;

pub use confirm::ConfirmationApprover;
pub use import::from_adk;
pub use tools::{AdkContext, tools};
