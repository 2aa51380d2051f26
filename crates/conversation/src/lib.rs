//! One conversation, on one node and between nodes: what it publishes, in which order, and why it refuses something.
//!
//! It knows no HTTP: `toolwright-server` is the doors around it.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod error;
mod event;
#[doc(hidden)]
pub mod event_log;
#[doc(hidden)]
pub mod follower;
#[doc(hidden)]
pub mod log_reader;
#[doc(hidden)]
pub mod logged_event;
#[doc(hidden)]
pub mod node_message;
#[doc(hidden)]
pub mod participant;
#[doc(hidden)]
pub mod peers;
#[doc(hidden)]
pub mod shared_log;
mod usage;

pub use error::{ConversationError, ConversationErrorKind, error_kind};
pub use event::{ConversationEvent, EndpointEvent, PeerId, SequencedEvent};
pub use usage::ConversationUsage;
#[doc(hidden)]
pub use usage::UsageSum;
