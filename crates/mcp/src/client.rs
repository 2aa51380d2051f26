//! The MCP client: attaches a server, by its address or command, and adds its tools and prompts to a registry.
//!
//! What a server sends is bounded and not trusted: its definitions are pinned, its hints only warn, and a server that fails,
//! lies or sends too much affects its own calls only.

mod attached_server;
mod catalogue;
mod connection;
mod elicit;
mod error;
mod oauth;
mod setup;

pub use attached_server::{AttachedServer, AttachmentStatus};
pub use catalogue::RemoteItem;
pub use elicit::{ElicitHandler, ElicitInput, ElicitRequest};
pub use error::AttachError;
pub use oauth::{ISSUER_PIN, OAuthClient, PendingLogin, RedirectListener, UserAuthorizer};
pub use setup::limits::AttachLimits;
pub use setup::remote_server::{RemoteServer, Trust};
