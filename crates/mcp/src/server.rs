//! The MCP server: every revision of the protocol over every transport.

use std::sync::Arc;

use tokio::sync::broadcast;
#[cfg(feature = "http")]
use toolwright_auth::Authenticator;
use toolwright_auth::{Principal, ScopedTools};
use toolwright_core::{CancellationToken, Invoker};

mod builder;
pub(crate) mod cluster;
mod error;
mod limits;
mod methods;
mod request;
mod rpc;
mod session;

pub use builder::McpServerBuilder;
pub(crate) use error::{Challenge, RpcError};
pub use error::{McpBuildError, McpServeError};
pub use limits::McpLimits;
pub(crate) use methods::list_cache::{ListKind, digest_entries};
pub use methods::served_resource::ServedResource;
pub(crate) use methods::subscriptions::SubscriptionFilter;
pub(crate) use methods::tasks::TaskRequest;
pub(crate) use request::Request;
pub(crate) use request::approval::ElicitingApprover;
pub(crate) use request::call_limit::CallLimitFn;
pub use request::call_limit::{CallAttempt, CallRejection};
pub use request::client_peer::ClientPeer;
pub(crate) use request::dispatch::{Dispatch, Operation};
pub(crate) use request::header_arguments::HeaderArguments;
#[cfg(feature = "http")]
pub(crate) use request::header_arguments::decode_header;
pub(crate) use request::request_context::{InputRequest, Pause, RequestContext};
pub(crate) use request::request_state::{
    InputRound, RequestStateSigner, VerifiedState, request_digest,
};
pub(crate) use request::response_stream::{ResponseStream, StreamItem};
pub(crate) use request::tool_gateway::{GatewayCall, ToolGateway};
pub(crate) use rpc::capability::ClientCapabilities;
pub use rpc::capability::ClientCapability;
pub use rpc::log_level::LogLevel;
pub(crate) use rpc::message::{MessageKind, RpcMessage};
pub(crate) use rpc::response::{RpcResponse, notification_json, set_field, write_json};
pub use rpc::revision::Revision;
#[cfg(feature = "http")]
pub(crate) use session::event_id::{EventId, StreamOrigin};
pub(crate) use session::in_flight::{InFlightGuard, InFlightRequests};
#[cfg(feature = "http")]
pub(crate) use session::remote_stream::{RemoteItem, RemoteStream};
#[cfg(feature = "http")]
pub(crate) use session::replay_buffer::ReplayBuffer;
pub(crate) use session::replay_buffer::ReplayBuffers;
#[cfg(feature = "http")]
pub(crate) use session::{AnsweredRequest, client_answer};
pub(crate) use session::{Session, SessionChange};

/// An MCP server of one invoker's tools and prompts; cheap to clone, all clones are one server.
///
/// Calls go through the invoker: it validates arguments, requires approvals (of the client's user, if the client supports
/// elicitation), enforces limits and writes audit records.
///
/// # Examples
///
/// ```no_run
/// use toolwright::{Invoker, Registry, tool};
/// use toolwright::mcp::McpServer;
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
pub struct McpServer(pub(crate) Arc<ServerState>);

pub(crate) struct ServerState {
    /// Without the limits of any scope.
    pub(crate) all_tools: Arc<ScopedTools>,
    #[cfg(feature = "http")]
    pub(crate) auth: Authenticator,
    pub(crate) lists: methods::list_cache::ListCaches,
    /// Serves two tools in place of all; `None` if all are listed.
    pub(crate) gateway: Option<ToolGateway>,
    /// Runs the tools of the resources.
    pub(crate) resource_invoker: Invoker,
    pub(crate) resources: Vec<ServedResource>,
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) version: String,
    pub(crate) instructions: Option<String>,
    pub(crate) limits: McpLimits,
    pub(crate) header_arguments: HeaderArguments,
    pub(crate) request_states: RequestStateSigner,
    pub(crate) tasks: methods::tasks::TaskStore,
    pub(crate) sessions: session::session_store::SessionStore,
    /// `None` if there is only this node.
    pub(crate) cluster: Option<cluster::Cluster>,
    /// Limits the calls of a principal.
    pub(crate) call_limit: Option<Arc<CallLimitFn>>,
    /// Publishes the addresses of resources that have changed.
    pub(crate) resource_updates: broadcast::Sender<Arc<str>>,
    /// Publishes that lists of other nodes have changed.
    pub(crate) remote_list_changes: broadcast::Sender<cluster::ListChanges>,
    /// Cancelled by [`McpServer::shut_down`].
    pub(crate) shutdown: CancellationToken,
    #[cfg(feature = "http")]
    pub(crate) http: crate::http::HttpState,
    /// The last fields of every result in revisions without sessions.
    result_suffix: String,
    /// The fields before these in results that clients may cache.
    cache_suffix: String,
}

impl McpServer {
    /// Starts to build a server of an invoker's tools and prompts.
    pub fn builder(invoker: Invoker) -> McpServerBuilder {
        McpServerBuilder::new(invoker)
    }

    /// Returns the authenticator of requests over HTTP.
    #[cfg(feature = "http")]
    pub fn authenticator(&self) -> &Authenticator {
        &self.0.auth
    }

    /// Notifies the subscribers of a resource that it has changed, at all nodes of a cluster.
    pub fn resource_updated(&self, uri: &str) {
        if let Some(cluster) = &self.0.cluster {
            cluster.announce(&cluster::Announcement::ResourceUpdated { uri: uri.to_owned() });
        }
        // Fails without subscribers, which is fine.
        let _ = self.0.resource_updates.send(uri.into());
    }

    /// Cancels the requests in flight, and rejects later ones.
    pub fn shut_down(&self) {
        self.0.shutdown.cancel();
    }

    /// Returns the tools that the sender of a request may use; over stdio there is no principal, and these are all.
    pub(crate) fn scoped_tools<'a>(&'a self, context: &'a RequestContext) -> &'a Arc<ScopedTools> {
        let principal = context.principal.as_ref();
        principal.map_or(&self.0.all_tools, Principal::scoped_tools)
    }

    /// Returns the last fields of every result, as JSON after a comma.
    pub(crate) fn result_suffix(&self, revision: Revision) -> &str {
        match revision.is_stateless() {
            true => &self.0.result_suffix,
            false => "",
        }
    }

    /// Ends a result that clients may cache.
    pub(crate) fn write_cacheable_end(&self, body: &mut Vec<u8>, revision: Revision) {
        if revision.is_stateless() {
            body.extend_from_slice(self.0.cache_suffix.as_bytes());
        }
        body.extend_from_slice(self.result_suffix(revision).as_bytes());
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
