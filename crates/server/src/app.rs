//! What all endpoints of a server share.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use serde::Serialize;
use tokio_util::task::TaskTracker;
use toolwright_chat::{Model, ModelId};
use toolwright_core::{CancellationToken, Invoker};
use toolwright_mcp::McpServer;

use crate::endpoint::Live;
use crate::guesses::Guesses;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::pass::Passes;
use crate::problem::Problem;

/// What all endpoints of a server share.
pub(crate) struct App {
    pub(crate) invoker: Invoker,
    /// Serves MCP, and lets in whoever may come in.
    pub(crate) mcp: McpServer,
    /// Under which name conversations are held.
    pub(crate) node: String,
    pub(crate) limits: Limits,
    pub(crate) metrics: Metrics,
    pub(crate) models: Models,
    pub(crate) warnings: Box<Warnings>,
    pub(crate) about: About,
    pub(crate) passes: Passes,
    /// Wrong tokens that were brought to sign in.
    pub(crate) guesses: Guesses,
    /// The origins whose pages may read answers.
    pub(crate) origins: Vec<String>,
    /// Every endpoint: a conversation that is one's is nobody else's.
    pub(crate) lives: OnceLock<Vec<Weak<Live>>>,
    /// The turns that run, whoever listens.
    pub(crate) turns: TaskTracker,
    /// Cancelled when streams are to end.
    pub(crate) ending: CancellationToken,
}

impl App {
    /// Returns an error if so many turns run that no other may begin.
    pub(crate) fn check_turns(&self) -> Result<(), Problem> {
        match self.turns.len() < self.limits.turns {
            true => Ok(()),
            false => Err(Problem::overloaded(
                "the server runs as many turns as it can: try again when some are over",
                Duration::from_secs(1),
            )),
        }
    }
}

/// What people are told about a server.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct About {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Where conversations are kept.
    pub(crate) store: String,
    pub(crate) model: ModelId,
    /// Why it is this one that answers.
    pub(crate) why: String,
}

/// Returns the current warnings for the operator.
pub(crate) type Warnings = dyn Fn() -> Vec<String> + Send + Sync;

/// Makes a model of its name.
pub(crate) type Resolve = dyn Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync;

/// The models that a prompt may choose from.
#[derive(Clone, Default)]
pub(crate) struct Models {
    pub(crate) names: Vec<String>,
    pub(crate) resolve: Option<Arc<Resolve>>,
}

impl Models {
    /// Finds the model of a name.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<dyn Model>, Problem> {
        if !self.names.iter().any(|known| known == name) {
            let all = self.names.join(", ");
            return Err(Problem::invalid(format!(
                "there is no model `{name}` to choose; there are: {all}"
            )));
        }
        let found = self.resolve.as_ref().map(|resolve| resolve(name));
        match found {
            Some(Ok(model)) => Ok(model),
            Some(Err(why)) => Err(Problem::invalid(why)),
            None => Err(Problem::invalid("the model cannot be chosen here")),
        }
    }
}
