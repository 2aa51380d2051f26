//! A server's address or command in, its tools and prompts in a registry out.
//!
//! Everything a server says is bounded and nothing of it is believed: its definitions are pinned, its hints only warn, and
//! a server that dies, lies or floods us costs its own calls and nobody else's.

mod attached_server;
mod catalogue;
mod connection;
mod elicit;
mod error;
mod oauth;
mod setup;

pub use attached_server::{AttachedServer, AttachmentStatus};
pub use catalogue::RemoteItem;
pub use elicit::{ElicitAnswer, ElicitHandler, ElicitInput, ElicitRequest};
pub use error::AttachError;
pub use oauth::{OAuthClient, UserAuthorizer};
pub use setup::limits::AttachLimits;
pub use setup::remote_server::{RemoteServer, Trust};
