//! A server's address or command in, its tools and prompts in a registry out.
//!
//! Everything a server says is bounded and nothing of it is believed: its definitions are pinned, its hints only warn, and
//! a server that dies, lies or floods us costs its own calls and nobody else's.

mod ancestors;
mod attached_server;
mod browser_login;
mod catalogue;
mod config;
mod connection;
mod elicit;
mod error;
mod error_map;
mod handler;
mod http;
mod limits;
mod listing;
mod oauth;
mod prefixes;
mod process;
mod proxy_tool;
mod reconnect;
mod remote_call;
mod remote_server;
mod shared_connection;
mod validated_server;

pub use attached_server::{AttachedServer, AttachmentStatus};
pub use catalogue::RemoteItem;
pub use elicit::{ElicitAnswer, ElicitHandler, ElicitInput, ElicitRequest};
pub use error::AttachError;
pub use limits::AttachLimits;
pub use oauth::{OAuthClient, UserAuthorizer};
pub use remote_server::{RemoteServer, Trust};
