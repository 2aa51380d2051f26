//! The facade as the tests and the examples of `core` see it: `core` and the macros, under the name `toolwright`.
//!
//! The crate `toolwright` has every other crate among its dependencies, so that those tests would wait for all of them.

pub use toolwright_core::*;
pub use toolwright_macros::{AppKind, prompt, tool, tool_type, tools};
