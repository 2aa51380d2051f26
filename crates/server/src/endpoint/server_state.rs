//! State that all endpoints of a server share.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use axum::http::HeaderValue;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use toolwright_auth::{Authenticator, SignIn};
use toolwright_bus::Bus;
use toolwright_chat::{Model, ModelId, Store};
use toolwright_conversation::ConversationError;
use toolwright_core::{CancellationToken, Invoker, SharedState};
use toolwright_mcp::McpServer;
use toolwright_search::CatalogCache;

use crate::auth::failed_logins::FailedLogins;
use crate::auth::session_cookie::CookieSessions;
use crate::connections::PersonalConnections;
use crate::conversation::access_audit::AccessAudit;
use crate::conversation::shares::Shares;
use crate::conversation::titles::ConversationTitles;
use crate::endpoint::EndpointRuntime;
use crate::http::branding::ConsoleBranding;
use crate::http::limits::ServerLimits;
use crate::http::metrics::Metrics;
use crate::http::mount::Part;
use crate::http::public_url::PublicUrl;
use crate::quota::counters::Quotas;
use crate::quota::turn_queue::TurnQueue;

const HANDLER_SUFFIX: &str = "-handler";
const RETENTION_SUFFIX: &str = "-retention";

/// State that all endpoints of a server share.
pub(crate) struct ServerState {
    pub(crate) invoker: Invoker,
    /// Authenticates requests; endpoints and parts have its credentials, with their own tools.
    pub(crate) auth: Authenticator,
    /// `None` if MCP is not mounted.
    pub(crate) mcp: Option<McpServer>,
    /// Authenticates requests over MCP, with the tools that it offers.
    pub(crate) mcp_auth: Authenticator,
    /// Whether MCP lists two tools in place of all.
    pub(crate) mcp_tool_search: bool,
    /// The indexes of the tools that callers search.
    pub(crate) tool_catalogs: CatalogCache,
    /// The store of remembered conversations.
    pub(crate) store: Arc<dyn Store>,
    /// `None` if there is one node only.
    pub(crate) bus: Option<Arc<dyn Bus>>,
    /// The state that all nodes share.
    pub(crate) shared_state: Arc<dyn SharedState>,
    pub(crate) shares: Shares,
    pub(crate) titles: ConversationTitles,
    /// The accesses of admins to the conversations of others.
    pub(crate) access_audit: AccessAudit,
    /// The holder's name in leases.
    pub(crate) node: String,
    /// Whether the node is listed in the shared state.
    pub(crate) registers_node: bool,
    pub(crate) limits: ServerLimits,
    pub(crate) quotas: Arc<Quotas>,
    /// The turns that run, and those that wait for that.
    pub(crate) turn_queue: TurnQueue,
    pub(crate) metrics: Metrics,
    pub(crate) models: ModelCatalog,
    pub(crate) warnings: Box<WarningsFn>,
    pub(crate) info: ServerInfo,
    pub(crate) branding: ConsoleBranding,
    pub(crate) cookie_sessions: CookieSessions,
    /// The providers that people sign in with; may be empty.
    pub(crate) sign_in: Arc<SignIn>,
    /// The address by which clients reach the server, if it is configured.
    pub(crate) public_url: Option<PublicUrl>,
    /// Wrong tokens, by client.
    pub(crate) failed_logins: FailedLogins,
    /// The origins whose pages may read responses.
    pub(crate) allowed_origins: Vec<String>,
    /// The page of the program's own login, to which page loads without a credential are redirected.
    pub(crate) login_page: Option<HeaderValue>,
    /// The servers that every person connects to on their own.
    pub(crate) connections: Option<Arc<dyn PersonalConnections>>,
    /// The endpoints and the paths of the routes, once they are built.
    pub(crate) built: OnceLock<(Vec<Weak<EndpointRuntime>>, Vec<String>)>,
    /// Tasks of running turns.
    pub(crate) running_turns: TaskTracker,
    /// Cancelled when shutdown begins: turns that run go on, and no new one begins.
    pub(crate) draining: CancellationToken,
    /// True once a balancer has checked whether this node is ready.
    pub(crate) is_checked: AtomicBool,
    /// Notified when a balancer has seen that this node drains.
    pub(crate) drain_noticed: Notify,
    /// Cancelled when event streams should end.
    pub(crate) shutdown: CancellationToken,
    /// Whether a task attends to unfinished conversations.
    pub(crate) background_work: AtomicBool,
}

impl ServerState {
    /// All endpoints, also those without routes.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = Arc<EndpointRuntime>> {
        let endpoints = self.built.get().into_iter().flat_map(|(endpoints, _)| endpoints);
        endpoints.filter_map(Weak::upgrade)
    }

    /// The paths of the routes.
    pub(crate) fn paths(&self) -> &[String] {
        self.built.get().map_or(&[], |(_, paths)| paths)
    }

    /// Returns true if browsers send cookies over `https` only.
    pub(crate) fn has_secure_cookies(&self) -> bool {
        self.public_url.as_ref().is_some_and(PublicUrl::is_https)
    }

    /// The authenticator of a part without an endpoint.
    pub(crate) fn auth_of(&self, part: Part) -> &Authenticator {
        let mcp = self.mcp.as_ref().filter(|_| part == Part::Mcp);
        mcp.map_or(&self.auth, McpServer::authenticator)
    }

    /// Returns an error if no further turn can run now.
    pub(crate) fn check_capacity(&self) -> Result<(), ConversationError> {
        match self.turn_queue.is_busy() {
            true => Err(Self::over_capacity()),
            false => Ok(()),
        }
    }

    /// The turn queue of the node is full.
    pub(crate) fn over_capacity() -> ConversationError {
        let message = "the server runs as many turns as it can: try again when some are over";
        let (message, retry_after) = (message.to_owned(), Duration::from_secs(1));
        ConversationError::Overloaded { message, retry_after }
    }

    /// The holder's name in leases that are not those of workers: a turn that a handler begins outside of one, and a deletion.
    ///
    /// Under the name of a worker they would acquire its lease in the middle of a turn.
    pub(crate) fn handler_node(&self) -> String {
        format!("{}{HANDLER_SUFFIX}", self.node)
    }

    /// The holder's name in leases of the deletion of old conversations, which must not acquire the lease of a turn.
    pub(crate) fn retention_node(&self) -> String {
        format!("{}{RETENTION_SUFFIX}", self.node)
    }

    /// Returns true if this process has the lease of such a holder.
    pub(crate) fn is_own_lease(&self, holder: &str) -> bool {
        let suffix = holder.strip_prefix(&*self.node);
        suffix.is_some_and(|suffix| ["", HANDLER_SUFFIX, RETENTION_SUFFIX].contains(&suffix))
    }
}

/// What `/api/info` and the console show about the server.
pub(crate) struct ServerInfo {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: String,
    /// The label of the store.
    pub(crate) store: String,
    pub(crate) model: ModelId,
    /// Why this model was chosen.
    pub(crate) model_reason: String,
}

/// Returns the current warnings for the operator.
pub(crate) type WarningsFn = dyn Fn() -> Vec<String> + Send + Sync;

/// Makes a model from its name.
pub(crate) type ResolveModelFn = dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync;

/// The models that a message may choose from.
#[derive(Clone, Default)]
pub(crate) struct ModelCatalog {
    pub(crate) names: Vec<String>,
    pub(crate) resolve: Option<Arc<ResolveModelFn>>,
}

impl ModelCatalog {
    /// Returns the model of a name, or an error that lists the names.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<dyn Model>, ConversationError> {
        if !self.names.iter().any(|known| known == name) {
            let all = self.names.join(", ");
            let message = format!("there is no model `{name}` to choose; there are: {all}");
            return Err(ConversationError::Invalid { message });
        }
        let found = self.resolve.as_ref().map(|resolve| resolve(name));
        match found {
            Some(Ok(model)) => Ok(model),
            Some(Err(message)) => Err(ConversationError::Invalid { message }),
            None => {
                let message = "the model cannot be chosen here".to_owned();
                Err(ConversationError::Invalid { message })
            }
        }
    }
}
