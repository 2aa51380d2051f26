//! A server's address or command in, its tools and prompts in a registry out.
//!
//! Everything a server says is bounded and nothing of it is believed: its definitions are pinned, its hints only warn, and
//! a server that dies, lies or floods us costs its own calls and nobody else's.

mod ancestors;
mod attach;
mod attached;
mod browser;
mod call;
mod catalogue;
mod child;
mod claim;
mod config;
mod connect;
mod elicit;
mod error;
mod handler;
mod http;
mod item;
mod limits;
mod link;
mod list;
mod oauth;
mod plan;
mod supervise;
mod trouble;

pub use attach::{Attach, Trust};
pub use attached::{Attached, Status};
pub use catalogue::Listed;
pub use elicit::{Answer, Elicit, Question, Wanted};
pub use error::AttachError;
pub use limits::Limits;
pub use oauth::{Authorize, OAuth};
