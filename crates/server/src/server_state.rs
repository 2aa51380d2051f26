//! What all endpoints of a server share.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde::Serialize;
use tokio_util::task::TaskTracker;
use toolwright_auth::Authenticator;
use toolwright_chat::{Model, ModelId};
use toolwright_core::{CancellationToken, Invoker};
use toolwright_mcp::McpServer;

use crate::endpoint::EndpointRuntime;
use crate::error_response::ErrorResponse;
use crate::limits::ServerLimits;
use crate::login_attempts::LoginAttempts;
use crate::metrics::Metrics;
use crate::session_cookie::CookieSessions;

/// What all endpoints of a server share.
pub(crate) struct ServerState {
    pub(crate) invoker: Invoker,
    /// Authenticates the requests of every path; the MCP server has the same one.
    pub(crate) auth: Authenticator,
    pub(crate) mcp: McpServer,
    /// Under which name conversations are held.
    pub(crate) node: String,
    pub(crate) limits: ServerLimits,
    pub(crate) metrics: Metrics,
    pub(crate) models: ModelCatalog,
    pub(crate) warnings: Box<WarningsFn>,
    pub(crate) info: ServerInfo,
    pub(crate) cookie_sessions: CookieSessions,
    /// Wrong tokens that were brought to sign in.
    pub(crate) login_attempts: LoginAttempts,
    /// The origins whose pages may read answers.
    pub(crate) allowed_origins: Vec<String>,
    /// Every endpoint: a conversation that is one's is nobody else's.
    pub(crate) endpoints: OnceLock<Vec<Weak<EndpointRuntime>>>,
    /// The turns that run, whoever listens.
    pub(crate) running_turns: TaskTracker,
    /// Cancelled when streams are to end.
    pub(crate) shutdown: CancellationToken,
}

impl ServerState {
    /// Returns an error if so many turns run that no other may begin.
    pub(crate) fn check_turn_capacity(&self) -> Result<(), ErrorResponse> {
        match self.running_turns.len() < self.limits.max_turns {
            true => Ok(()),
            false => Err(ErrorResponse::overloaded(
                "the server runs as many turns as it can: try again when some are over",
                Duration::from_secs(1),
            )),
        }
    }
}

/// What people are told about a server.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ServerInfo {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Where conversations are kept.
    pub(crate) store: String,
    pub(crate) model: ModelId,
    /// Why it is this one that answers.
    #[serde(rename = "why")]
    pub(crate) model_reason: String,
}

/// Returns the current warnings for the operator.
pub(crate) type WarningsFn = dyn Fn() -> Vec<String> + Send + Sync;

/// Makes a model of its name.
pub(crate) type ResolveModelFn = dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync;

/// The models that a prompt may choose from.
#[derive(Clone, Default)]
pub(crate) struct ModelCatalog {
    pub(crate) names: Vec<String>,
    pub(crate) resolve: Option<Arc<ResolveModelFn>>,
}

impl ModelCatalog {
    /// Finds the model of a name.
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
            None => Err(ErrorResponse::bad_request(
                "the model cannot be chosen here",
            )),
        }
    }
}
