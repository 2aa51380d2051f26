//! Toolwright's tools with async-openai, and a call loop for it.
//!
//! [`tools`] offers an invoker's tools in the types of both APIs, Chat Completions and Responses, and runs the calls that come
//! back. With the feature `client`, `model` makes a model of your configured client, and `toolwright::chat` is the loop around it.

#[cfg(feature = "client")]
mod model;
mod result;
mod tools;

#[cfg(feature = "client")]
pub use model::model;
pub use tools::{Tools, tools};
