//! Clients of model APIs: OpenAI Responses and Chat Completions, Anthropic, Gemini and Ollama.
//!
//! [`from_env`] selects a model by settings and environment; [`openai`], [`anthropic`] and so on start building one of a vendor;
//! [`fallback()`] makes one model of several. A [`Vendor`] is a row of a table, and a [`Transport`] carries HTTP requests. Each wire protocol is a folder of `protocol/` with the same files: `request` (a `ModelRequest` as a
//! JSON body), `stream` (frames of the response as `ModelEvent`s), `wire` (the JSON types), `error` (where an error body has its
//! code and message; one table maps them to kinds) and `tests`. None of them opens a connection.
//!
//! ```no_run
//! use toolwright::chat::Chat;
//! use toolwright::{Invoker, Registry, models};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let model = models::openai("gpt-5").build()?; // With the key in OPENAI_API_KEY.
//! let chat = Chat::new(&Invoker::new(Registry::new())?, model);
//! println!("{}", chat.message().user("Hello!").call().await?.text());
//! # Ok(()) }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod excerpt;
mod framing;
mod limits;
mod protocol;

mod transport;

mod client;

mod vendor;

mod fallback;
mod selection;

pub use bytes::Bytes;
pub use client::Timeouts;
pub use fallback::fallback;
pub use selection::{
    SelectedModel, SelectionReason, available, by_name, from_config, from_env, vendor_names,
};
pub use transport::HttpTransport;
pub use transport::{
    Transport, WireHeader, WireMethod, WireRequest, WireResponse, forbid_live_requests,
};
pub use vendor::constructors::{
    anthropic, azure, azure_chat, deepseek, gemini, groq, llama_cpp, lm_studio, mistral, ollama,
    openai, openai_chat, openrouter, together, vllm, xai,
};
pub use vendor::{ModelBuilder, VENDORS, Vendor};
