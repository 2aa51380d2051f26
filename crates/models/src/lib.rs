//! Clients of model APIs: OpenAI Responses and Chat Completions, Anthropic, Gemini and Ollama.
//!
//! A [`Vendor`] is a row of a table, a [`ModelBuilder`] builds a client for one of its models, and a [`Transport`] carries the
//! client's HTTP requests. Each wire protocol is a folder of `protocol/` with the same files: `request` (a `ModelRequest` as a
//! JSON body), `stream` (frames of the response as `ModelEvent`s), `wire` (the JSON types), `error` (where an error body has its
//! code and message; one table maps them to kinds) and `tests`. None of them opens a connection.
//!
//! ```no_run
//! use futures::StreamExt as _;
//! use toolwright_chat::{Message, Model as _, ModelEvent, ModelRequest};
//! use toolwright_core::{Config, Content, ConfigSources};
//! use toolwright_models::ModelBuilder;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::load(ConfigSources::from_process())?.config;
//! let model = ModelBuilder::for_model("openai:gpt-5")?.config(&config).build()?;
//! let mut request = ModelRequest::default();
//! request.messages = vec![Message::User(vec![Content::text("Hello!")])];
//! let mut events = model.stream(request);
//! while let Some(event) = events.next().await {
//!     if let ModelEvent::Text(text) = event? {
//!         print!("{text}");
//!     }
//! }
//! # Ok(()) }
//! ```

mod excerpt;
mod framing;
mod limits;
mod protocol;

mod transport;

mod client;

mod vendor;

pub use bytes::Bytes;
pub use client::Timeouts;
#[cfg(feature = "http")]
pub use transport::HttpTransport;
pub use transport::{
    Transport, WireHeader, WireMethod, WireRequest, WireResponse, forbid_live_requests,
};
pub use vendor::{ModelBuilder, VENDORS, Vendor};
