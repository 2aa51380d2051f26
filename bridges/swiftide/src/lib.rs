//! Toolwright's tools in swiftide, and swiftide's in Toolwright.
//!
//! [`tools`] turns an invoker's tools into what `Agent::builder().tools(…)` takes, [`from_swiftide`] turns one of swiftide's
//! tools into what `registry.add(…)` takes. A call that needs approval pauses the agent if there is no approver.

mod import;
mod pause;
mod result;
mod tools;

pub use import::from_swiftide;
pub use tools::tools;
