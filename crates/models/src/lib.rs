//! Models behind wire protocols: a request as JSON out, frames of a stream in.
//!
//! A [`Vendor`] is a row of a table, [`Connect`] makes one of its models, and a [`Transport`] carries what the model says. Each
//! protocol is a folder with the same files: `request` (what is asked, as JSON), `stream` (frames, as events), `wire` (what the
//! frames look like), `error` (where its errors have their codes and messages; one table gives their kinds) and `tests`. None of
//! them opens a connection.
//!
//! ```no_run
//! use futures::StreamExt as _;
//! use toolwright_chat::{Message, Model as _, ModelEvent, ModelRequest};
//! use toolwright_core::{Config, Content, ConfigSources};
//! use toolwright_models::Connect;
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::load(ConfigSources::from_process())?.config;
//! let model = Connect::to("openai:gpt-5")?.config(&config).build()?;
//! let mut request = ModelRequest::default();
//! request.messages = vec![Message::User(vec![Content::text("Hello!")])];
//! let mut answer = model.stream(request);
//! while let Some(event) = answer.next().await {
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
    Recorder, Recording, Replayer, Transport, WireHeader, WireRequest, WireResponse,
    forbid_live_requests,
};
pub use vendor::{ModelBuilder, VENDORS, Vendor};
