//! The server: its builder, and the built server that serves HTTP or is merged into another app.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::request::Parts;
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;
use toolwright_auth::{Authenticator, AuthenticatorBuilder, Identity, SignIn, VerifyError};
use toolwright_bus::Bus;
use toolwright_chat::{ChatBuilder, MemoryStore, Model, Store, unique_node_name};
use toolwright_core::{CancellationToken, Invoker, Secret, SharedState};
use toolwright_mcp::{McpBuildError, McpServer, McpServerBuilder};
use toolwright_search::CatalogCache;

use crate::auth::failed_logins::FailedLogins;
use crate::auth::role_check::reject_misspelt_roles;
use crate::auth::session_cookie::CookieSessions;
use crate::connections::PersonalConnections;
use crate::conversation::access_audit::AccessAudit;
use crate::conversation::shares::Shares;
use crate::conversation::titles::ConversationTitles;
use crate::endpoint::server_state::{ModelCatalog, ServerInfo, ServerState, WarningsFn};
use crate::endpoint::{Endpoint, EndpointDefaults, EndpointRuntime, select_known_tools};
use crate::http;
use crate::http::branding::Branding;
use crate::http::limits::ServerLimits;
use crate::http::mount::{Mount, Part};
use crate::http::mounted::PartSelections;
use crate::http::public_url::PublicUrl;
use crate::quota::counters::Quotas;
use crate::quota::settings::QuotaSettings;
use crate::quota::turn_queue::TurnQueue;

/// Builds a [`Server`].
///
/// # Examples
///
/// ```no_run
/// use toolwright::testing::ScriptedModel;
/// use toolwright::{Invoker, Registry};
/// use toolwright::server::{Endpoint, Mount, ServerBuilder};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let invoker = Invoker::new(&Registry::new())?;
/// let server = ServerBuilder::new(invoker, ScriptedModel::new().replies("Hello."))
///     .endpoint(Endpoint::new("/chat/{room}").memory(true).broadcast(true).open_to_all())
///     .mount(Mount::console())
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
    bus: Option<Arc<dyn Bus>>,
    shared_state: Option<Arc<dyn SharedState>>,
    name: String,
    version: String,
    description: String,
    branding: Branding,
    node_name: Option<String>,
    registers_node: bool,
    configure_chat: Vec<Box<ConfigureChatFn>>,
    configure_auth: Vec<Box<dyn FnOnce(AuthenticatorBuilder) -> AuthenticatorBuilder>>,
    allowed_origins: Vec<String>,
    limits: ServerLimits,
    quota: QuotaSettings,
    mcp_tool_search: bool,
    endpoints: Vec<Endpoint>,
    mounts: Vec<Mount>,
    /// Whether the parts that are not among [`mounts`](Self::mounts) are mounted, too.
    mounts_all: bool,
    login_page: Option<String>,
    sign_in: SignIn,
    connections: Option<Arc<dyn PersonalConnections>>,
    public_url: Option<String>,
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
    /// A part is misconfigured.
    #[error("part `{part}`: {reason}")]
    Mount {
        /// The name of the part, as its function of [`Mount`].
        part: &'static str,
        /// What is wrong with its selection.
        reason: String,
    },
    /// The branding of the console is invalid.
    #[error("the {setting} of the console: {reason}")]
    Branding {
        /// What is invalid: `logo`, `accent` or `link`.
        setting: &'static str,
        /// Why.
        reason: String,
    },
    /// The address of the login page is not valid in a header.
    #[error("the address of the login page cannot be sent: {0}")]
    LoginPage(#[from] axum::http::header::InvalidHeaderValue),
    /// The address by which clients reach the server is invalid.
    #[error("server.url: {reason}")]
    PublicUrl {
        /// What is wrong, and what to write instead.
        reason: String,
    },
    /// People can sign in, and other hosts than this machine are allowed, but the address of the server is not known.
    #[error(
        "people who sign in come back to the address of this server: set `server.url`, as `https://tools.example.com`"
    )]
    NoPublicUrl,
    /// A token is too short, or the settings of OAuth are invalid.
    #[error(transparent)]
    Auth(#[from] toolwright_auth::AuthBuildError),
    /// The tools cannot be served over MCP.
    #[error(transparent)]
    Mcp(#[from] McpBuildError),
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
            bus: None,
            shared_state: None,
            name: "toolwright".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: String::new(),
            branding: Branding::new(),
            node_name: None,
            registers_node: false,
            configure_chat: Vec::new(),
            configure_auth: Vec::new(),
            allowed_origins: Vec::new(),
            limits: ServerLimits::default(),
            quota: QuotaSettings::default(),
            mcp_tool_search: false,
            endpoints: Vec::new(),
            mounts: Vec::new(),
            mounts_all: false,
            login_page: None,
            sign_in: SignIn::new(),
            connections: None,
            public_url: None,
        }
    }

    /// Sets the servers that every person connects to on their own; the console and `/api/connections` show them.
    #[must_use]
    pub fn personal_connections(mut self, connections: Arc<dyn PersonalConnections>) -> Self {
        self.connections = Some(connections);
        self
    }

    /// Sets the name and version that `/api/info`, the console and MCP clients show; default: `toolwright` and the version
    /// of this crate.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets what the server is for, in a sentence, which MCP clients show; default: none.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Sets the title, logo, accent colour, greeting, suggestions and links of the console.
    #[must_use]
    pub fn branding(mut self, branding: Branding) -> Self {
        self.branding = branding;
        self
    }

    /// Sets the reason why this model was chosen, for operators: `/api/info` has it.
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

    /// Sets the bus to the other nodes that use the same store; default: none, because there is one node.
    #[must_use]
    pub fn bus(mut self, bus: impl Bus) -> Self {
        self.bus = Some(Arc::new(bus));
        self
    }

    /// Sets the state that all nodes share: cookie sessions, login attempts and MCP sessions; default: that of the store.
    #[must_use]
    pub fn shared_state(mut self, state: impl SharedState) -> Self {
        self.shared_state = Some(Arc::new(state));
        self
    }

    /// Sets the name of this process as the holder of leases, as [`ChatBuilder::node`] does; default: a random name.
    #[must_use]
    pub fn node_name(mut self, name: impl Into<String>) -> Self {
        self.node_name = Some(name.into());
        self
    }

    /// Lists this node in the shared state while it serves, where [`NodeInfo::list`](crate::NodeInfo::list) and the command
    /// `nodes list` find it; a server with a bus is always listed. It does not serve beside listed nodes of another
    /// [`NODE_PROTOCOL`](toolwright_bus::NODE_PROTOCOL).
    #[must_use]
    pub fn register_node(mut self) -> Self {
        self.registers_node = true;
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

    /// Accepts the requests that a login of the program identifies, as [`AuthenticatorBuilder::login`] does.
    #[must_use]
    pub fn login<F, Fut>(self, login: F) -> Self
    where
        F: Fn(Parts) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<Identity>, VerifyError>> + Send + 'static,
    {
        self.configure_auth(|auth| auth.login(login))
    }

    /// Redirects page loads without a credential to this address of the program, such as `/login`, instead of a 401.
    #[must_use]
    pub fn login_page(mut self, address: impl Into<String>) -> Self {
        self.login_page = Some(address.into());
        self
    }

    /// Lets people sign in with these providers, at `/api/login`: their sessions are cookies, and each person owns the
    /// conversations that they begin.
    #[must_use]
    pub fn sign_in(mut self, sign_in: SignIn) -> Self {
        self.sign_in = sign_in.clone();
        self.configure_auth(move |auth| auth.sign_in(&sign_in))
    }

    /// Sets the address by which clients reach the server, as `https://tools.example.com/ai`: providers send people back there, and
    /// with `https` browsers send cookies over nothing else. Its host is allowed. Default: the host of each request, as long as
    /// that is this machine.
    #[must_use]
    pub fn public_url(mut self, url: impl Into<String>) -> Self {
        self.public_url = Some(url.into());
        self
    }

    /// Changes the limits of the server.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut ServerLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets whether the server lists `search_tools` and `call_tool` over MCP, in place of its tools; default: no.
    #[must_use]
    pub fn mcp_tool_search(mut self, yes: bool) -> Self {
        self.mcp_tool_search = yes;
        self
    }

    /// Sets how much each person may use; default: nothing is limited.
    #[must_use]
    pub fn quota(mut self, quota: QuotaSettings) -> Self {
        self.quota = quota;
        self
    }

    /// Adds an endpoint and mounts it. An [`Endpoint::assistant`] replaces the one that [`Mount::api`] has by default.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// Mounts a part, in place of an earlier one of the same kind. Nothing but the endpoints and these parts has a route.
    #[must_use]
    pub fn mount(mut self, mount: Mount) -> Self {
        self.mounts.retain(|other| other.part != mount.part);
        self.mounts.push(mount);
        self
    }

    /// Mounts all parts that are not mounted otherwise.
    #[must_use]
    pub fn mount_all(mut self) -> Self {
        self.mounts_all = true;
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// When an endpoint's path is malformed, reserved or conflicts with another one, a path has parameters and nothing says who
    /// may enter, a handler wants other parameters than the path has, a named tool or bundle does not exist, a file cannot be read, the branding is
    /// invalid, or a token is too short.
    pub fn build(self) -> Result<Server, ServerBuildError> {
        let selections = PartSelections::new(self.mounts, self.mounts_all, &self.endpoints)?;
        let public_url = self.public_url.as_deref().map(PublicUrl::parse).transpose();
        let public_url = public_url.map_err(|reason| ServerBuildError::PublicUrl { reason })?;
        let auth = Authenticator::builder(self.invoker.clone())
            .allowed_hosts(public_url.iter().map(PublicUrl::host))
            .keep_claims(self.endpoints.iter().flat_map(Endpoint::room_claims));
        let auth = self.configure_auth.into_iter().fold(auth, |auth, change| change(auth));
        let auth = auth.build()?;
        let sign_in = Arc::new(self.sign_in.keep_claims(auth.kept_claims()));
        if !sign_in.providers().is_empty() && public_url.is_none() && auth.serves_other_hosts() {
            return Err(ServerBuildError::NoPublicUrl);
        }
        reject_misspelt_roles(&sign_in, &self.quota, &self.invoker)?;
        let shared_state = self.shared_state.unwrap_or_else(|| self.store.shared_state());
        let quotas = Quotas::new(self.quota, &shared_state, self.limits.lease_duration);
        let quotas = Arc::new(quotas);
        let branding = self.branding.build(&self.name)?;
        let info = ServerInfo {
            name: self.name,
            version: self.version,
            description: self.description,
            store: self.store_label,
            model: self.model.id().clone(),
            model_reason: self.model_reason,
        };
        let mount = selections.of(Part::Mcp);
        let selection = mount.cloned().unwrap_or_default();
        let bounds = selections.bounds(&selection);
        let tools = select_known_tools(&self.invoker, &selection, bounds)
            .map_err(|reason| ServerBuildError::Mount { part: "mcp", reason })?;
        let mcp_auth = auth.with_invoker(tools);
        let mcp = mcp_builder(&mcp_auth, &info, &quotas, self.mcp_tool_search);
        let mcp = match (mount, &self.bus) {
            (None, _) => None,
            (Some(_), None) => Some(mcp.build()?),
            (Some(_), Some(bus)) => {
                Some(mcp.cluster(Arc::clone(bus), Arc::clone(&shared_state)).build()?)
            }
        };
        let is_secure = public_url.as_ref().is_some_and(PublicUrl::is_https);
        let cookie_sessions = CookieSessions::new(&shared_state, &sign_in, &self.limits, is_secure);
        let failed_logins = FailedLogins::new(&shared_state);
        let state = Arc::new(ServerState {
            invoker: self.invoker,
            auth,
            mcp,
            mcp_auth,
            mcp_tool_search: self.mcp_tool_search,
            tool_catalogs: CatalogCache::default(),
            shares: Shares::new(&shared_state),
            titles: ConversationTitles::new(Arc::clone(&shared_state)),
            access_audit: AccessAudit::new(&shared_state),
            shared_state,
            registers_node: self.registers_node || self.bus.is_some(),
            store: self.store,
            bus: self.bus,
            quotas,
            turn_queue: TurnQueue::new(self.limits.max_turns, self.limits.max_waiting_turns),
            node: self.node_name.unwrap_or_else(|| unique_node_name("server")),
            limits: self.limits,
            metrics: Default::default(),
            models: self.models,
            warnings: self.warnings,
            cookie_sessions,
            sign_in,
            public_url,
            failed_logins,
            allowed_origins: self.allowed_origins,
            login_page: self.login_page.map(HeaderValue::try_from).transpose()?,
            connections: self.connections,
            built: Default::default(),
            branding,
            info,
            running_turns: TaskTracker::new(),
            draining: CancellationToken::new(),
            is_checked: AtomicBool::default(),
            drain_noticed: Notify::new(),
            shutdown: CancellationToken::new(),
            background_work: AtomicBool::default(),
        });
        let changes = self.configure_chat;
        let defaults = EndpointDefaults {
            server: Arc::clone(&state),
            model: self.model,
            configure_chat: Arc::new(move |chat| {
                changes.iter().fold(chat, |chat, change| change(chat))
            }),
        };
        let mounted = selections.build_endpoints(self.endpoints, &defaults)?;
        let (router, paths) = http::router(&state, &mounted);
        let endpoints = mounted.endpoints.into_iter().chain(mounted.unrouted);
        let endpoints: Arc<[Arc<EndpointRuntime>]> = endpoints.collect();
        // The cell is new, so this cannot fail.
        let _ = state.built.set((endpoints.iter().map(Arc::downgrade).collect(), paths));
        Ok(Server { state, endpoints, router })
    }
}

/// Starts a server over MCP, of the tools and with the credentials of an authenticator, whose calls count toward quotas.
fn mcp_builder(
    auth: &Authenticator,
    info: &ServerInfo,
    quotas: &Arc<Quotas>,
    tool_search: bool,
) -> McpServerBuilder {
    let builder = McpServer::builder(auth.all_tools().invoker().clone())
        .authenticator(auth.clone())
        .name(&*info.name)
        .version(&*info.version)
        .description(&*info.description)
        .tool_search(tool_search);
    match quotas.limits_calls() {
        true => builder.limit_calls(Quotas::call_limit(quotas)),
        false => builder,
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
    /// What the operator should know, as sentences: settings of endpoints that the vendors of their models do not support, scopes that
    /// grant no tool, and providers of sign-in that could not be reached.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.state.auth.scope_warnings();
        warnings.extend(self.state.sign_in_warnings());
        for warning in self.endpoints.iter().flat_map(|runtime| runtime.chat.warnings()) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }

    /// Returns true if clients need a credential; otherwise only those on this machine are accepted.
    pub fn requires_credentials(&self) -> bool {
        !self.state.auth.allows_anonymous()
    }

    /// Returns the routes of the endpoints and the mounted parts, to be merged with others into one app or nested under a
    /// prefix. Other paths are the app's.
    ///
    /// Without a token, OAuth or a login only clients on this machine are accepted, so the app has to provide the address of
    /// each client. An app calls [`spawn_background_work`](Self::spawn_background_work) as well.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use toolwright::testing::ScriptedModel;
    /// # use toolwright::{Invoker, Registry};
    /// # use toolwright::server::{Mount, ServerBuilder};
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// # let invoker = Invoker::new(&Registry::new())?;
    /// use std::net::SocketAddr;
    ///
    /// let model = ScriptedModel::new().replies("Hello.");
    /// let server = ServerBuilder::new(invoker, model).mount(Mount::console()).mount(Mount::mcp()).build()?;
    /// let app = axum::Router::new().nest_service("/ai", server.router()).merge(server.well_known());
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:8787").await?;
    /// axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    /// # Ok(()) }
    /// ```
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Returns the routes that clients look for at the root of the host, wherever [`router`](Self::router) is nested: the
    /// metadata of OAuth for MCP clients (RFC 9728). Empty without OAuth.
    pub fn well_known(&self) -> Router {
        http::well_known_router(&self.state)
    }

    /// Returns a server over MCP for stdio, or for a router of the app's own: with the tools and prompts that [`Mount::mcp`]
    /// offers, whether or not it is mounted, and with the credentials of this server for requests over HTTP.
    ///
    /// It is no node of a cluster: over HTTP, a client has to send all requests of a session to it.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers.
    pub fn mcp_server(&self) -> Result<McpServer, McpBuildError> {
        let state = &self.state;
        let search = state.mcp_tool_search;
        mcp_builder(&state.mcp_auth, &state.info, &state.quotas, search).build()
    }

    /// Returns the paths of [`router`](Self::router), in axum's syntax; the files of the console are left out.
    pub fn paths(&self) -> &[String] {
        self.state.paths()
    }
}
