//! One file per library: what it does to schemas before they are sent.

#[cfg(feature = "adk")]
pub mod adk;
#[cfg(feature = "adk-model")]
pub mod adk_model;
#[cfg(feature = "rig")]
pub mod rig;
pub mod toolwright;
