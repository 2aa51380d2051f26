//! One invoker in, an MCP server out: every revision, every transport.

use std::sync::Arc;

use tokio::sync::broadcast;
use toolwright_core::{CancellationToken, Invoker};

use crate::access::{Door, Reach};

mod approve;
mod builder;
mod calls;
mod capability;
mod client;
mod complete;
mod error;
mod exchange;
mod hello;
mod job;
mod limits;
mod listen;
mod lists;
mod log;
mod message;
mod mirror;
mod read;
pub(crate) mod reply;
mod resource;
mod revision;
mod running;
mod scope;
mod session;
mod state;
mod streams;
mod tasks;
mod time;
mod tokens;
mod work;

pub use builder::McpServerBuilder;
pub(crate) use calls::Calls;
pub use capability::Capability;
pub use client::{Client, Elicited};
pub(crate) use error::RpcError;
pub use error::{BuildError, ServeError};
pub(crate) use exchange::Exchange;
pub(crate) use job::Job;
pub use limits::Limits;
pub(crate) use listen::Listen;
pub(crate) use lists::Lists;
pub use log::LogLevel;
pub(crate) use message::{Kind, Message};
pub(crate) use mirror::decode;
pub use resource::Resource;
pub use revision::Revision;
pub(crate) use running::{Running, Step};
pub(crate) use session::Session;
pub(crate) use streams::Stream;

/// An MCP server over one invoker; cheap to clone, all clones are one server.
///
/// Whatever the invoker does with a call is done with a call over MCP: arguments are validated, approvals are
/// asked (of the client's person, if the client can), limits hold, audits are kept.
///
/// # Examples
///
/// ```no_run
/// use toolwright::{Invoker, Registry, tool};
/// use toolwright_mcp::McpServer;
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::new();
/// registry.add(add::tool())?;
/// let server = McpServer::builder(Invoker::new(&registry)?).name("sums").build()?;
/// server.serve("127.0.0.1:8931".parse()?).await?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct McpServer(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    /// All there is.
    pub(crate) whole: Arc<Reach>,
    /// Runs the tools that resources are made of.
    pub(crate) reader: Invoker,
    pub(crate) resources: Vec<Resource>,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) tokens: tokens::Tokens,
    /// The way in, where tokens are somebody else's.
    pub(crate) door: Option<Door>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) mirrors: mirror::Mirrors,
    pub(crate) seal: state::Seal,
    pub(crate) tasks: tasks::Tasks,
    /// Addresses of resources that have changed.
    pub(crate) updates: broadcast::Sender<Arc<str>>,
    /// Cancelled when the server is to end.
    pub(crate) ending: CancellationToken,
    pub(crate) http: crate::http::Shared,
    /// What every result ends with, and what every list ends with before that, without sessions.
    tail: String,
    cached: String,
}

impl McpServer {
    /// Starts a server of an invoker's tools and prompts.
    pub fn builder(invoker: Invoker) -> McpServerBuilder {
        McpServerBuilder::new(invoker)
    }

    /// Tells those who follow a resource that it has changed.
    pub fn resource_updated(&self, uri: &str) {
        // Nobody listening is no mistake.
        let _ = self.0.updates.send(uri.into());
    }

    /// Ends all that is under way, and refuses what comes after.
    pub fn shut_down(&self) {
        self.0.ending.cancel();
    }

    /// Returns what every result of a revision ends with.
    pub(crate) fn tail(&self, revision: Revision) -> &str {
        match revision.is_stateless() {
            true => &self.0.tail,
            false => "",
        }
    }

    /// Ends a result that clients may keep for a while.
    pub(crate) fn end_cached(&self, body: &mut Vec<u8>, revision: Revision) {
        if revision.is_stateless() {
            body.extend_from_slice(self.0.cached.as_bytes());
        }
        body.extend_from_slice(self.tail(revision).as_bytes());
        body.push(b'}');
    }
}

impl std::fmt::Debug for McpServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("McpServer")
            .field("name", &self.0.name)
            .field("version", &self.0.version)
            .finish_non_exhaustive()
    }
}
