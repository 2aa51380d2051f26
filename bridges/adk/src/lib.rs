//! Toolwright's tools in adk-rust, and adk-rust's in Toolwright.
