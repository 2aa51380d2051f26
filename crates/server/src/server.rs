//! Endpoints in, one server for all of them out.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use tokio_util::task::TaskTracker;
use toolwright_auth::{Authenticator, AuthenticatorBuilder};
use toolwright_chat::{ChatBuilder, MemoryStore, Model, Store};
use toolwright_core::{CancellationToken, Invoker, Secret};
use toolwright_mcp::McpServer;

use crate::endpoint::{ASSISTANT_PATH, Endpoint, EndpointDefaults, EndpointRuntime};
use crate::http;
use crate::limits::ServerLimits;
use crate::server_state::{ModelCatalog, ServerInfo, ServerState, WarningsFn};

/// A server under construction.
///
/// # Examples
///
/// ```no_run
/// use toolwright::chat::testing::ScriptedModel;
/// use toolwright::{Invoker, Registry};
/// use toolwright_server::{Endpoint, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let invoker = Invoker::new(&Registry::new())?;
/// let site = Server::new(invoker, ScriptedModel::new().says("Hello."))
///     .endpoint(Endpoint::new("/chat/{room}").memory(true).broadcast(true))
///     .build()?;
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
/// site.serve(listener, std::future::pending()).await?;
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

/// Why a server cannot be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerBuildError {
    /// An endpoint is not what it should be.
    #[error("endpoint `{path}`: {reason}")]
    Endpoint {
        /// Which.
        path: String,
        /// What is wrong with it.
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
    /// Starts a server of an invoker's tools, and of a model that may call them.
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

    /// Names the server.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Says why it is this model that answers, in words for a person.
    #[must_use]
    pub fn model_reason(mut self, why: impl Into<String>) -> Self {
        self.model_reason = why.into();
        self
    }

    /// Sets what tells the operator at any time what is wrong, such as a tool that an attached server has changed.
    ///
    /// The console shows it with the tools. Clients that may use a part of the tools only are not told.
    #[must_use]
    pub fn warnings(mut self, warnings: impl Fn() -> Vec<String> + Send + Sync + 'static) -> Self {
        self.warnings = Box::new(warnings);
        self
    }

    /// Names models that a prompt may choose, and who makes them.
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

    /// Sets where conversations are kept that are remembered, and what that place is called; without, in memory.
    #[must_use]
    pub fn store(mut self, store: impl Store, place: impl Into<String>) -> Self {
        (self.store, self.store_label) = (Arc::new(store), place.into());
        self
    }

    /// Names the node that this process is, as [`ChatBuilder::node`] does.
    #[must_use]
    pub fn node_name(mut self, name: impl Into<String>) -> Self {
        self.node_name = Some(name.into());
        self
    }

    /// Changes the chats of all endpoints, before what an endpoint says itself: prices, hosted tools, options.
    #[must_use]
    pub fn configure_chat(
        mut self,
        change: impl Fn(ChatBuilder) -> ChatBuilder + Send + Sync + 'static,
    ) -> Self {
        self.configure_chat.push(Box::new(change));
        self
    }

    /// Lets in only who brings this token.
    #[must_use]
    pub fn token(self, token: Secret) -> Self {
        self.configure_auth(|auth| auth.token(token))
    }

    /// Lets pages of these origins call, and read what they are answered: `https://app.example.com`.
    #[must_use]
    pub fn allowed_origins<O: Into<String>>(
        mut self,
        origins: impl IntoIterator<Item = O>,
    ) -> Self {
        let origins: Vec<String> = origins.into_iter().map(Into::into).collect();
        self.allowed_origins.extend(origins.iter().cloned());
        self.configure_auth(|auth| auth.allowed_origins(origins))
    }

    /// Sets which requests are authenticated, at every path: tokens, OAuth, hosts and origins.
    #[must_use]
    pub fn configure_auth(
        mut self,
        change: impl FnOnce(AuthenticatorBuilder) -> AuthenticatorBuilder + 'static,
    ) -> Self {
        self.configure_auth.push(Box::new(change));
        self
    }

    /// Changes how much the server takes on.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut ServerLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Adds an endpoint. An [`Endpoint::assistant`] takes the place of the one that is there by itself.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Says whether the console is served at `/`; it is, unless said otherwise.
    #[must_use]
    pub fn console(mut self, on: bool) -> Self {
        self.console = on;
        self
    }

    /// Says whether the tools are served over MCP at `/mcp`; they are, unless said otherwise.
    #[must_use]
    pub fn mcp(mut self, on: bool) -> Self {
        self.mcp = on;
        self
    }

    /// Makes the server.
    ///
    /// # Errors
    ///
    /// When an endpoint's path cannot be read or is there twice, a handler asks for other parameters than the path has, a
    /// tool that it names is not there, its file cannot be read, or a token is too short.
    pub fn build(self) -> Result<Server, ServerBuildError> {
        let auth = self.configure_auth.into_iter().fold(
            Authenticator::builder(self.invoker.clone()),
            |auth, change| change(auth),
        );
        let auth = auth.build()?;
        let mcp = McpServer::builder(self.invoker.clone())
            .authenticator(auth.clone())
            .name(&*self.name)
            .version(&*self.version);
        let app = Arc::new(ServerState {
            invoker: self.invoker,
            auth,
            mcp: mcp.build()?,
            node: self.node_name.unwrap_or_else(random_node_name),
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
            shutdown: CancellationToken::new(),
        });
        let changes = self.configure_chat;
        let shared = EndpointDefaults {
            server: Arc::clone(&app),
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
        let mut lives: Vec<Arc<EndpointRuntime>> = Vec::new();
        for endpoint in endpoints {
            let path = endpoint.path().to_owned();
            let live = endpoint.into_runtime(&shared)?;
            let wrong = |reason: String| ServerBuildError::Endpoint {
                path: path.clone(),
                reason,
            };
            if path != ASSISTANT_PATH && http::is_reserved(&path) {
                return Err(wrong("the server's own paths begin like this".to_owned()));
            }
            let mut others = lives.iter().map(|live| &live.template);
            if let Some(other) = others.find(|other| live.template.conflicts_with(other)) {
                return Err(wrong(format!("it cannot be told from `{}`", other.path)));
            }
            lives.push(Arc::new(live));
        }
        // Nobody has set it before.
        let _ = app
            .endpoints
            .set(lives.iter().map(Arc::downgrade).collect());
        let router = http::router(&app, &lives, self.console, self.mcp);
        Ok(Server {
            state: app,
            endpoints: lives.into(),
            router,
        })
    }
}

/// A name that no other process has.
fn random_node_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("server-{}-{nanos:x}", std::process::id())
}

/// A server that is ready to answer; cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) state: Arc<ServerState>,
    pub(crate) endpoints: Arc<[Arc<EndpointRuntime>]>,
    router: Router,
}

impl Server {
    /// What the endpoints were given and their models' vendors do not have, in words for a person.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = Vec::new();
        for warning in self.endpoints.iter().flat_map(|live| live.chat.warnings()) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }

    /// Returns the routes, to be merged with others into one app.
    ///
    /// Without a token or OAuth only clients on this machine are let in, so the app has to provide the address of each client.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use toolwright::chat::testing::ScriptedModel;
    /// # use toolwright::{Invoker, Registry};
    /// # use toolwright_server::Server;
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// # let invoker = Invoker::new(&Registry::new())?;
    /// use std::net::SocketAddr;
    ///
    /// let site = Server::new(invoker, ScriptedModel::new().says("Hello.")).build()?;
    /// let app = axum::Router::new().merge(site.router());
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
    /// axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    /// # Ok(()) }
    /// ```
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}
