//! State that all endpoints of a server share.

use std::sync::{Arc, OnceLock, Weak};

use tokio_util::task::TaskTracker;
use toolwright_auth::Authenticator;
use toolwright_chat::{Model, ModelId};
use toolwright_core::{CancellationToken, Invoker};
use toolwright_mcp::McpServer;

use crate::auth::login_attempts::LoginAttempts;
use crate::auth::session_cookie::CookieSessions;
use crate::endpoint::EndpointRuntime;
use crate::http::error_response::ErrorResponse;
use crate::http::limits::ServerLimits;
use crate::http::metrics::Metrics;

/// State that all endpoints of a server share.
pub(crate) struct ServerState {
    pub(crate) invoker: Invoker,
    /// Authenticates the requests of every path; the MCP server has the same one.
    pub(crate) auth: Authenticator,
    pub(crate) mcp: McpServer,
    /// The holder's name in leases.
    pub(crate) node: String,
    pub(crate) limits: ServerLimits,
    pub(crate) metrics: Metrics,
    pub(crate) models: ModelCatalog,
    pub(crate) warnings: Box<WarningsFn>,
    pub(crate) info: ServerInfo,
    pub(crate) cookie_sessions: CookieSessions,
    /// Failed logins, per client address.
    pub(crate) login_attempts: LoginAttempts,
    /// The origins whose pages may read responses.
    pub(crate) allowed_origins: Vec<String>,
    /// All endpoints, to find the one that owns a conversation.
    pub(crate) endpoints: OnceLock<Vec<Weak<EndpointRuntime>>>,
    /// Tasks of running turns.
    pub(crate) running_turns: TaskTracker,
    /// Cancelled when shutdown begins: turns that run go on, and no new one begins.
    pub(crate) draining: CancellationToken,
    /// Cancelled when event streams should end.
    pub(crate) shutdown: CancellationToken,
}

impl ServerState {
    /// The holder's name in leases that are not those of workers: a turn that a handler begins outside of one, and a deletion.
    ///
    /// Under the name of a worker they would acquire its lease in the middle of a turn.
    pub(crate) fn handler_node(&self) -> String {
        format!("{}-handler", self.node)
    }
}

/// What `/api/info` and the console show about the server.
pub(crate) struct ServerInfo {
    pub(crate) name: String,
    pub(crate) version: String,
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
    pub(crate) fn find(&self, name: &str) -> Result<Arc<dyn Model>, ErrorResponse> {
        if !self.names.iter().any(|known| known == name) {
            let all = self.names.join(", ");
            return Err(ErrorResponse::bad_request(format!(
                "there is no model `{name}` to choose; there are: {all}"
            )));
        }
        let found = self.resolve.as_ref().map(|resolve| resolve(name));
        match found {
            Some(Ok(model)) => Ok(model),
            Some(Err(why)) => Err(ErrorResponse::bad_request(why)),
            None => Err(ErrorResponse::bad_request("the model cannot be chosen here")),
        }
    }
}
