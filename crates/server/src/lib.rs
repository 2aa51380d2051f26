//! Browser in, user message out; chat event in, browser out: **endpoints that people and pages talk to.**
//!
//! A turn runs in a task of its own. Whoever reads it, over whichever protocol, reads from a number on, so that a lost
//! connection costs nothing and ends nothing. Every protocol is a translator of the same events.

mod app;
mod endpoint;
mod event;
mod guardrail;
mod guesses;
mod guest;
mod handler;
mod intercept;
mod job;
mod journal;
mod limits;
mod log;
mod metering;
mod metrics;
mod params;
mod pass;
mod problem;
mod reader;
mod record;
mod room;
mod server;
mod session;
mod spent;
mod template;
mod trouble;
mod turn;
mod visit;

mod http;
mod serve;
mod stall;
mod talk;
mod ui;

pub use endpoint::Endpoint;
pub use event::{Event, Notice, Numbered, PeerId};
pub use guardrail::{Guardrail, Verdict};
pub use handler::{Done, FromSession, Handler, Path, Peers};
pub use intercept::{Intercepted, Interceptor, Refusal, TurnOutcome};
pub use job::Message;
pub use journal::write_journal;
pub use limits::Limits;
pub use metering::Metering;
pub use serve::ServeError;
pub use server::{BuildError, Server, Site};
pub use session::Session;
pub use spent::Spent;
pub use trouble::{Trouble, error_kind};
