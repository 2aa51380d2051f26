//! The server: its builder, and the built server that serves HTTP or is merged into another app.

use std::sync::Arc;

use axum::Router;
use tokio_util::task::TaskTracker;
use toolwright_auth::{Authenticator, AuthenticatorBuilder};
use toolwright_chat::{ChatBuilder, MemoryStore, Model, Store, unique_node_name};
use toolwright_core::{CancellationToken, Invoker, Secret};
use toolwright_mcp::McpServer;

use crate::endpoint::server_state::{ModelCatalog, ServerInfo, ServerState, WarningsFn};
use crate::endpoint::{ASSISTANT_PATH, Endpoint, EndpointDefaults, EndpointRuntime};
use crate::http;
use crate::http::limits::ServerLimits;

/// Builds a [`Server`].
///
/// # Examples
///
/// ```no_run
/// use toolwright::testing::ScriptedModel;
/// use toolwright::{Invoker, Registry};
/// use toolwright_server::{Endpoint, ServerBuilder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let invoker = Invoker::new(&Registry::new())?;
/// let server = ServerBuilder::new(invoker, ScriptedModel::new().replies("Hello."))
///     .endpoint(Endpoint::new("/chat/{room}").memory(true).broadcast(true))
///     .build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
/// server.serve(listener, std::future::pending()).await?;
/// # Ok(()) }
/// ```
pub struct ServerBuilder {
    invoker: Invoker,
    model: Arc<dyn Model>,
    model_reason: String,
    warnings: Box<WarningsFn>,
    models: ModelCatalog,
    store: Arc<dyn Store>,
    store_label: String,
    name: String,
    version: String,
    node_name: Option<String>,
    configure_chat: Vec<Box<ConfigureChatFn>>,
    configure_auth: Vec<Box<dyn FnOnce(AuthenticatorBuilder) -> AuthenticatorBuilder>>,
    allowed_origins: Vec<String>,
    limits: ServerLimits,
    endpoints: Vec<Endpoint>,
    console: bool,
    mcp: bool,
}

type ConfigureChatFn = dyn Fn(ChatBuilder) -> ChatBuilder + Send + Sync;

/// Why [`ServerBuilder::build`] failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerBuildError {
    /// An endpoint is misconfigured.
    #[error("endpoint `{path}`: {reason}")]
    Endpoint {
        /// The path of the endpoint.
        path: String,
        /// What is wrong with the endpoint.
        reason: String,
    },
    /// A token is too short, or the settings of OAuth are invalid.
    #[error(transparent)]
    Auth(#[from] toolwright_auth::AuthBuildError),
    /// The tools cannot be served over MCP.
    #[error(transparent)]
    Mcp(#[from] toolwright_mcp::McpBuildError),
}

impl ServerBuilder {
    /// Starts a server for an invoker's tools and the model that may call them.
    pub fn new(invoker: Invoker, model: impl Model) -> Self {
        Self {
            invoker,
            model: Arc::new(model),
            model_reason: String::new(),
            warnings: Box::new(Vec::new),
            models: ModelCatalog::default(),
            store: Arc::new(MemoryStore::new()),
            store_label: "memory".to_owned(),
            name: "toolwright".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            node_name: None,
            configure_chat: Vec::new(),
            configure_auth: Vec::new(),
            allowed_origins: Vec::new(),
            limits: ServerLimits::default(),
            endpoints: Vec::new(),
            console: true,
            mcp: true,
        }
    }

    /// Sets the name and version that `/api/info`, the console and MCP clients show; default: `toolwright` and the version
    /// of this crate.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets the reason why this model was chosen, shown to people in the console.
    #[must_use]
    pub fn model_reason(mut self, why: impl Into<String>) -> Self {
        self.model_reason = why.into();
        self
    }

    /// Sets the function that returns the current warnings for the operator, such as a tool that an attached server has
    /// changed.
    ///
    /// The console shows them with the tools. They are hidden from principals whose scopes limit the tools they may use.
    #[must_use]
    pub fn warnings(mut self, warnings: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        self.warnings = Box::new(warnings);
        self
    }

    /// Sets the names of the models that a message may choose, and the function that makes a model from its name.
    #[must_use]
    pub fn models<N: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = N>,
        make: impl Fn(&str) -> Result<Arc<dyn Model>, String> + Send + Sync + 'static,
    ) -> Self {
        self.models = ModelCatalog {
            names: names.into_iter().map(Into::into).collect(),
            resolve: Some(Arc::new(make)),
        };
        self
    }

    /// Sets the store of remembered conversations, and the label that is shown for it; default: memory.
    #[must_use]
    pub fn store(mut self, store: impl Store, place: impl Into<String>) -> Self {
        (self.store, self.store_label) = (Arc::new(store), place.into());
        self
    }

    /// Sets the name of this process as the holder of leases, as [`ChatBuilder::node`] does; default: a random name.
    #[must_use]
    pub fn node_name(mut self, name: impl Into<String>) -> Self {
        self.node_name = Some(name.into());
        self
    }

    /// Configures the chats of all endpoints (prices, hosted tools, options), before the settings of each endpoint.
    #[must_use]
    pub fn configure_chat(
        mut self,
        change: impl Fn(ChatBuilder) -> ChatBuilder + Send + Sync + 'static,
    ) -> Self {
        self.configure_chat.push(Box::new(change));
        self
    }

    /// Requires this token from every client.
    #[must_use]
    pub fn token(self, token: Secret) -> Self {
        self.configure_auth(|auth| auth.token(token))
    }

    /// Allows pages of these origins to send requests and read the responses: `https://app.example.com`.
    #[must_use]
    pub fn allowed_origins<O: Into<String>>(
        mut self,
        origins: impl IntoIterator<Item = O>,
    ) -> Self {
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        self.allowed_origins.extend(origins.iter().cloned());
        self.configure_auth(|auth| auth.allowed_origins(origins))
    }

    /// Configures authentication for every path: tokens, OAuth, hosts and origins.
    #[must_use]
    pub fn configure_auth(
        mut self,
        change: impl FnOnce(AuthenticatorBuilder) -> AuthenticatorBuilder + 'static,
    ) -> Self {
        self.configure_auth.push(Box::new(change));
        self
    }

    /// Changes the limits of the server.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut ServerLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Adds an endpoint. An [`Endpoint::assistant`] replaces the one that every server has by default.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Sets whether the console is served at `/`; default: true.
    #[must_use]
    pub fn console(mut self, on: bool) -> Self {
        self.console = on;
        self
    }

    /// Sets whether the tools are served over MCP at `/mcp`; default: true.
    #[must_use]
    pub fn mcp(mut self, on: bool) -> Self {
        self.mcp = on;
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// When an endpoint's path is malformed, reserved or conflicts with another one, a handler wants other parameters than
    /// the path has, a named tool or bundle does not exist, a file cannot be read, or a token is too short.
    pub fn build(self) -> Result<Server, ServerBuildError> {
        let auth = self
            .configure_auth
            .into_iter()
            .fold(Authenticator::builder(self.invoker.clone()), |auth, change| change(auth));
        let auth = auth.build()?;
        let mcp = McpServer::builder(self.invoker.clone())
            .authenticator(auth.clone())
            .name(&*self.name)
            .version(&*self.version);
        let state = Arc::new(ServerState {
            invoker: self.invoker,
            auth,
            mcp: mcp.build()?,
            node: self.node_name.unwrap_or_else(|| unique_node_name("server")),
            limits: self.limits,
            metrics: Default::default(),
            models: self.models,
            warnings: self.warnings,
            cookie_sessions: Default::default(),
            login_attempts: Default::default(),
            allowed_origins: self.allowed_origins,
            endpoints: Default::default(),
            info: ServerInfo {
                name: self.name,
                version: self.version,
                store: self.store_label,
                model: self.model.id().clone(),
                model_reason: self.model_reason,
            },
            running_turns: TaskTracker::new(),
            draining: CancellationToken::new(),
            shutdown: CancellationToken::new(),
        });
        let changes = self.configure_chat;
        let defaults = EndpointDefaults {
            server: Arc::clone(&state),
            model: self.model,
            store: self.store,
            configure_chat: Arc::new(move |chat| {
                changes.iter().fold(chat, |chat, change| change(chat))
            }),
        };
        let mut endpoints = self.endpoints;
        if !endpoints.iter().any(|it| it.path() == ASSISTANT_PATH) {
            endpoints.insert(0, Endpoint::assistant());
        }
        let mut runtimes: Vec<Arc<EndpointRuntime>> = Vec::new();
        for endpoint in endpoints {
            let path = endpoint.path().to_owned();
            let runtime = endpoint.into_runtime(&defaults)?;
            let build_error =
                |reason: String| ServerBuildError::Endpoint { path: path.clone(), reason };
            if path != ASSISTANT_PATH && http::is_reserved(&path) {
                return Err(build_error("the server's own paths begin like this".to_owned()));
            }
            let mut others = runtimes.iter().map(|runtime| &runtime.template);
            if let Some(other) = others.find(|other| runtime.template.conflicts_with(other)) {
                return Err(build_error(format!(
                    "it cannot be distinguished from `{}`",
                    other.path
                )));
            }
            runtimes.push(Arc::new(runtime));
        }
        // The cell is new, so this cannot fail.
        let _ = state.endpoints.set(runtimes.iter().map(Arc::downgrade).collect());
        let router = http::router(&state, &runtimes, self.console, self.mcp);
        Ok(Server { state, endpoints: runtimes.into(), router })
    }
}

/// A built server; cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) state: Arc<ServerState>,
    pub(crate) endpoints: Arc<[Arc<EndpointRuntime>]>,
    router: Router,
}

impl Server {
    /// Settings of endpoints that the vendors of their models do not support, as sentences for the operator.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = Vec::new();
        for warning in self.endpoints.iter().flat_map(|runtime| runtime.chat.warnings()) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }

    /// Returns the routes, to be merged with others into one app.
    ///
    /// Without a token or OAuth only clients on this machine are accepted, so the app has to provide the address of each
    /// client.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use toolwright::testing::ScriptedModel;
    /// # use toolwright::{Invoker, Registry};
    /// # use toolwright_server::ServerBuilder;
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// # let invoker = Invoker::new(&Registry::new())?;
    /// use std::net::SocketAddr;
    ///
    /// let server = ServerBuilder::new(invoker, ScriptedModel::new().replies("Hello.")).build()?;
    /// let app = axum::Router::new().merge(server.router());
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
    /// axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    /// # Ok(()) }
    /// ```
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}
