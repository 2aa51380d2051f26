//! A server's address or command in, its tools and prompts in a registry out.
//!
//! Everything a server says is bounded and nothing of it is believed: its definitions are pinned, its hints only warn, and
//! a server that dies, lies or floods us costs its own calls and nobody else's.

mod ancestors;
mod remote_server;
mod attached_server;
mod browser_login;
mod remote_call;
mod catalogue;
mod process;
mod prefixes;
mod config;
mod connection;
mod elicit;
mod error;
mod handler;
mod http;
mod proxy_tool;
mod limits;
mod shared_connection;
mod listing;
mod oauth;
mod validated_server;
mod reconnect;
mod error_map;

pub use remote_server::{RemoteServer, Trust};
pub use attached_server::{AttachedServer, AttachmentStatus};
pub use catalogue::RemoteItem;
pub use elicit::{ElicitAnswer, ElicitHandler, ElicitRequest, ElicitInput};
pub use error::AttachError;
pub use limits::AttachLimits;
pub use oauth::{UserAuthorizer, OAuthClient};
