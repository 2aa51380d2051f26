//! Browser in, user message out; chat event in, browser out: **endpoints that people and pages talk to.**
//!
//! A turn runs in a task of its own. Whoever reads it, over whichever protocol, reads from a number on, so that a lost
//! connection costs nothing and ends nothing. Every protocol is a translator of the same events.

mod server_state;
mod endpoint;
mod event;
mod guardrail;
mod login_attempts;
mod request_context;
mod handler;
mod interceptor;
mod room_command;
mod journal_file;
mod limits;
mod event_log;
mod metering;
mod metrics;
mod path_params;
mod session_cookie;
mod error_response;
mod subscriber;
mod external_transcript;
mod room;
mod server;
mod session;
mod conversation_usage;
mod path_template;
mod turn_error;
mod turn;
mod presence;

mod http;
mod serve;
mod write_timeout;
mod in_process;
mod protocols;

pub use endpoint::Endpoint;
pub use event::{ConversationEvent, EndpointEvent, SequencedEvent, PeerId};
pub use guardrail::{Guardrail, GuardrailVerdict};
pub use handler::{IntoHandlerResult, FromSession, Handler, Path, PeerCount};
pub use interceptor::{TurnContext, Interceptor, TurnRejection, TurnOutcome};
pub use room_command::IncomingMessage;
pub use journal_file::write_journal;
pub use limits::ServerLimits;
pub use metering::Metering;
pub use serve::ListenError;
pub use server::{ServerBuildError, ServerBuilder, Server};
pub use session::Session;
pub use conversation_usage::ConversationUsage;
pub use turn_error::{TurnError, error_kind};
