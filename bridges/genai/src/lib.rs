//! Toolwright's tools with genai, and a call loop for it.
//!
//! [`tools`] are definitions for a request, and run the calls of a response. [`GenaiModel`] is any model of a genai client as
//! Toolwright's [`Model`](toolwright::chat::Model), so that [`Chat`](toolwright::chat::Chat) is the loop.

mod model;
mod result;
mod tools;

pub use model::GenaiModel;
pub use result::to_tool_response;
pub use tools::{Tools, tools};
