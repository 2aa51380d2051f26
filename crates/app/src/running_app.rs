//! A started app: the parts of a program with a `main` of its own.

use std::sync::Arc;

use axum::Router;
use tokio::net::TcpListener;
use toolwright_bus::Bus;
use toolwright_chat::{Chat, Model};
use toolwright_core::{Invoker, Registry};
use toolwright_mcp::{McpBuildError, McpServer};
use toolwright_server::{ListenError, Server};

use crate::app_info::AppInfo;
use crate::project::model_selection::SelectedModel;
use crate::remote_servers::RemoteServers;

/// A started [`App`](crate::App).
pub struct RunningApp {
    pub(crate) info: AppInfo,
    pub(crate) registry: Registry,
    pub(crate) invoker: Invoker,
    pub(crate) chat: Chat,
    pub(crate) server: Server,
    pub(crate) servers: RemoteServers,
    pub(crate) selected: SelectedModel,
    pub(crate) bus: Option<Arc<dyn Bus>>,
    /// The sections of the file and the variables that only tools can read.
    pub(crate) settings_of_tools: Vec<String>,
}

impl RunningApp {
    /// The name, version and description.
    pub fn info(&self) -> &AppInfo {
        &self.info
    }

    /// The tools, among them those of attached servers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The invoker, with the program's state and settings.
    pub fn invoker(&self) -> &Invoker {
        &self.invoker
    }

    /// The chat of the model with all tools, for use in the program itself. A call that needs approval pauses the turn.
    pub fn chat(&self) -> &Chat {
        &self.chat
    }

    /// The model.
    pub fn model(&self) -> &Arc<dyn Model> {
        &self.selected.model
    }

    /// Why the model was selected, for the operator.
    pub fn model_reason(&self) -> &str {
        &self.selected.reason
    }

    /// The bus to the other nodes; `None` for a single node.
    pub fn bus(&self) -> Option<&Arc<dyn Bus>> {
        self.bus.as_ref()
    }

    /// What the operator should know: servers that could not be attached, tools that have changed, unsupported settings, a bus
    /// that cannot be reached.
    pub fn warnings(&self) -> Vec<String> {
        let bus_error = self.bus.as_ref().and_then(|bus| bus.status().error);
        let bus_warning = bus_error.map(|error| {
            format!("the bus does not work yet, so other nodes learn of events late: {error}")
        });
        let warnings = self.servers.warnings().into_iter().chain(self.server.warnings());
        warnings.chain(bus_warning).collect()
    }

    /// The routes of the endpoints and the mounted parts, to be merged or nested into the program's own.
    ///
    /// From the first call on, the process also attends to conversations that another one left unfinished. Without
    /// credentials only clients on this machine are accepted, so the program has to provide the address of each client:
    /// `into_make_service_with_connect_info::<SocketAddr>()`.
    pub fn router(&self) -> Router {
        self.server.spawn_background_work();
        self.server.router()
    }

    /// The routes that clients look for at the root of the host, wherever [`router`](Self::router) is nested: the metadata of
    /// OAuth. Empty without OAuth.
    pub fn well_known(&self) -> Router {
        self.server.well_known()
    }

    /// Returns true if the server requires a credential; otherwise it accepts clients on this machine only.
    pub fn requires_credentials(&self) -> bool {
        self.server.requires_credentials()
    }

    /// Serves until `shutdown` completes, then ends running turns and streams.
    ///
    /// # Errors
    ///
    /// When the address is not a loopback address and the server requires no credential.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), ListenError> {
        self.server.serve(listener, shutdown).await
    }

    /// A server over MCP, for stdio or a router of its own. It offers what [`Mount::mcp`](toolwright_server::Mount::mcp) does,
    /// mounted or not: unless that has a selection, the tools and prompts that every endpoint offers. Over HTTP it requires the
    /// credentials of the app.
    ///
    /// # Errors
    ///
    /// When the tools cannot be served.
    pub fn mcp_server(&self) -> Result<McpServer, McpBuildError> {
        self.server.mcp_server()
    }

    /// Ends running turns and streams, and disconnects attached servers. Messages that wait are answered by the next process
    /// that opens the same store.
    pub async fn shutdown(self) {
        self.server.shutdown().await;
        self.servers.detach().await;
    }
}
