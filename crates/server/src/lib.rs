//! Endpoints for chat front ends: HTTP and WebSocket in, [`Chat`](toolwright_chat::Chat) turns inside, events out.
//!
//! A turn runs in a task of its own and appends its events to a log. Subscribers of any protocol read that log from a
//! sequence number on, so a lost connection neither ends the turn nor loses events. Every protocol is an encoder of the same
//! events.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod auth;
mod connections;
mod conversation;
mod endpoint;
mod http;
mod node_registry;
mod protocols;
mod quota;
mod server;

pub use auth::login_sessions::{LoginSession, LoginSessions};
pub use connections::{ConnectionError, PersonalConnection, PersonalConnections};
pub use conversation::room_command::IncomingMessage;
pub use conversation::session::Session;
pub use conversation::shares::end_shares;
pub use conversation::titles::ConversationTitles;
pub use conversation::turn_error::TurnError;
pub use endpoint::Endpoint;
pub use endpoint::guardrail::{Guardrail, GuardrailVerdict};
pub use endpoint::handler::{FromSession, Handler, IntoHandlerResult, Path, PeerCount};
pub use endpoint::interceptor::{Interceptor, TurnContext, TurnOutcome, TurnRejection};
pub use endpoint::metering::Metering;
pub use endpoint::room_access::{AccessCheck, AccessRequest, FromAccessRequest, IntoAllowed};
pub use http::branding::Branding;
pub use http::limits::ServerLimits;
pub use http::mount::Mount;
pub use http::serve::ListenError;
pub use node_registry::NodeInfo;
pub use protocols::native::journal_file::write_journal;
pub use quota::settings::{QuotaLimits, QuotaSettings};
pub use quota::usage_report::{LimitUsage, QuotaAmount, QuotaUsage};
pub use server::{Server, ServerBuildError, ServerBuilder};
pub use toolwright_conversation::{
    ConversationError, ConversationErrorKind, ConversationEvent, ConversationUsage, EndpointEvent,
    PeerId, SequencedEvent, error_kind,
};
