//! Browser in, user message out; chat event in, browser out: **endpoints that people and pages talk to.**
//!
//! A turn runs in a task of its own. Whoever reads it, over whichever protocol, reads from a number on, so that a lost
//! connection costs nothing and ends nothing. Every protocol is a translator of the same events.

mod conversation_usage;
mod endpoint;
mod error_response;
mod event;
mod event_log;
mod external_transcript;
mod guardrail;
mod handler;
mod interceptor;
mod journal_file;
mod limits;
mod login_attempts;
mod metering;
mod metrics;
mod path_params;
mod path_template;
mod presence;
mod request_context;
mod room;
mod room_command;
mod server;
mod server_state;
mod session;
mod session_cookie;
mod subscriber;
mod turn;
mod turn_error;

mod http;
mod in_process;
mod protocols;
mod serve;
mod write_timeout;

pub use conversation_usage::ConversationUsage;
pub use endpoint::Endpoint;
pub use event::{ConversationEvent, EndpointEvent, PeerId, SequencedEvent};
pub use guardrail::{Guardrail, GuardrailVerdict};
pub use handler::{FromSession, Handler, IntoHandlerResult, Path, PeerCount};
pub use interceptor::{Interceptor, TurnContext, TurnOutcome, TurnRejection};
pub use journal_file::write_journal;
pub use limits::ServerLimits;
pub use metering::Metering;
pub use room_command::IncomingMessage;
pub use serve::ListenError;
pub use server::{Server, ServerBuildError, ServerBuilder};
pub use session::Session;
pub use turn_error::{TurnError, error_kind};
