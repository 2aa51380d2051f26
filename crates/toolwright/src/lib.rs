#![doc = include_str!("../../../README.md")]

#[cfg(feature = "cli")]
pub use toolwright_cli as cli;
pub use toolwright_core::*;
#[cfg(feature = "macros")]
pub use toolwright_macros::{tool, tools};
