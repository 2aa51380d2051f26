//! Builds a server.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::broadcast;
#[cfg(not(feature = "http"))]
use toolwright_auth::ScopedTools;
#[cfg(feature = "http")]
use toolwright_auth::{Authenticator, AuthenticatorBuilder, ResourceServer};
use toolwright_bus::Bus;
use toolwright_core::__internal::random_hex;
use toolwright_core::{BoxFuture, CancellationToken, Invoker, Registry, Secret, SharedState, Tool};

use crate::server::cluster::Cluster;
use crate::server::{
    CallAttempt, CallLimitFn, CallRejection, McpBuildError, McpLimits, McpServer,
    RequestStateSigner, Revision, ServedResource, ServerState, ToolGateway,
};

/// The number of resource updates that a slow subscriber may be behind; older ones are lost.
const UPDATE_CAPACITY: usize = 256;

/// Builds an [`McpServer`]; [`build`](McpServerBuilder::build) reports invalid settings.
#[must_use = "nothing is served before `.build()`"]
pub struct McpServerBuilder {
    invoker: Invoker,
    name: String,
    title: Option<String>,
    description: Option<String>,
    version: String,
    instructions: Option<String>,
    resources: Vec<ServedResource>,
    tool_search: bool,
    limits: McpLimits,
    cluster: Option<(Arc<dyn Bus>, Arc<dyn SharedState>)>,
    call_limit: Option<Arc<CallLimitFn>>,
    /// The settings of an authenticator of this server alone.
    #[cfg(feature = "http")]
    own_auth: Option<AuthenticatorBuilder>,
    #[cfg(feature = "http")]
    shared_auth: Option<Authenticator>,
}

impl McpServerBuilder {
    pub(super) fn new(invoker: Invoker) -> Self {
        Self {
            invoker,
            name: "toolwright".to_owned(),
            title: None,
            description: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            resources: Vec::new(),
            tool_search: false,
            limits: McpLimits::default(),
            cluster: None,
            call_limit: None,
            #[cfg(feature = "http")]
            own_auth: None,
            #[cfg(feature = "http")]
            shared_auth: None,
        }
    }

    /// Sets the name of the server; `toolwright` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the name that users see.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what the server is for, in a sentence; none if it is empty.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into()).filter(|text| !text.is_empty());
        self
    }

    /// Sets the version of the server; that of this crate by default.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Sets the instructions for models that use the server.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds a resource.
    pub fn resource(mut self, resource: ServedResource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Changes the limits.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let invoker = Invoker::new(&Registry::new()).unwrap();
    /// use toolwright::mcp::McpServer;
    ///
    /// let server = McpServer::builder(invoker).limits(|limits| limits.max_message_bytes = 64 << 10).build();
    /// ```
    pub fn limits(mut self, change: impl FnOnce(&mut McpLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Sets the function that decides whether a principal may call a tool now, called for each `tools/call` over HTTP.
    pub fn limit_calls(
        mut self,
        limit: impl Fn(CallAttempt) -> BoxFuture<'static, Result<(), CallRejection>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.call_limit = Some(Arc::new(limit));
        self
    }

    /// Connects the server to others with the same name and tools, its nodes in a cluster: any of them serves any request.
    ///
    /// Without it, a client has to send all requests of a session, all requests about a task, and the answers to requests of the
    /// server to the same server.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let invoker = Invoker::new(&Registry::new()).unwrap();
    /// use std::sync::Arc;
    /// use toolwright::bus::InProcessBus;
    /// use toolwright::MemorySharedState;
    /// use toolwright::mcp::McpServer;
    ///
    /// let (bus, state) = (InProcessBus::new(), Arc::new(MemorySharedState::new()));
    /// let one = McpServer::builder(invoker.clone()).cluster(bus.node(), Arc::clone(&state)).build()?;
    /// let two = McpServer::builder(invoker).cluster(bus.node(), state).build()?;
    /// # Ok::<(), toolwright::mcp::McpBuildError>(())
    /// ```
    pub fn cluster(mut self, bus: impl Bus, shared_state: impl SharedState) -> Self {
        self.cluster = Some((Arc::new(bus), Arc::new(shared_state)));
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    ///
    /// When a resource does not fit its tool, a token is blank, the settings of OAuth are invalid, or the system has no random
    /// numbers.
    pub fn build(self) -> Result<McpServer, McpBuildError> {
        let mut tools: Vec<Tool> = Vec::new();
        for resource in &self.resources {
            resource.validate()?;
            if tools.iter().all(|tool| tool.name() != resource.tool.name()) {
                tools.push(resource.tool.clone());
            }
        }
        let resource_invoker = self.invoker.with_view(|_| Registry::new().all().with(tools))?;
        let gateway = ToolGateway::new(self.tool_search, &self.invoker)?;
        let random = |length| {
            random_hex(length)
                .map_err(|error| McpBuildError::NoRandomness { message: error.to_string() })
        };
        let request_states = RequestStateSigner::new();
        let cluster = match self.cluster {
            Some((bus, state)) => {
                let timeout = self.limits.cluster_timeout;
                Some(Cluster::new(bus, state, random(8)?, &self.name, timeout))
            }
            None => {
                request_states.set_key(Secret::new(random(16)?));
                None
            }
        };
        #[cfg(feature = "http")]
        let auth = match (self.shared_auth, self.own_auth) {
            (Some(_), Some(_)) => return Err(McpBuildError::AuthConfiguredTwice),
            (Some(auth), None) => auth,
            (None, auth) => auth.unwrap_or_else(|| Authenticator::builder(self.invoker)).build()?,
        };
        #[cfg(feature = "http")]
        let (all_tools, has_credentials) = (Arc::clone(auth.all_tools()), !auth.allows_anonymous());
        #[cfg(not(feature = "http"))]
        let (all_tools, has_credentials) =
            (Arc::new(ScopedTools::unrestricted(self.invoker)), false);
        // Callers with different credentials may see different tools.
        let cache_scope = match has_credentials {
            true => "private",
            false => "public",
        };
        let list_ttl = self.limits.list_ttl.as_millis();
        let mut server = ServerState {
            all_tools,
            #[cfg(feature = "http")]
            auth,
            lists: Default::default(),
            gateway,
            resource_invoker,
            resources: self.resources,
            name: self.name,
            title: self.title,
            description: self.description,
            version: self.version,
            instructions: self.instructions,
            #[cfg(feature = "http")]
            http: crate::http::HttpState::new(&self.limits),
            limits: self.limits,
            header_arguments: Default::default(),
            request_states,
            tasks: Default::default(),
            sessions: Default::default(),
            cluster,
            call_limit: self.call_limit,
            resource_updates: broadcast::Sender::new(UPDATE_CAPACITY),
            remote_list_changes: broadcast::Sender::new(UPDATE_CAPACITY),
            shutdown: CancellationToken::new(),
            result_suffix: String::new(),
            cache_suffix: format!(r#","ttlMs":{list_ttl},"cacheScope":"{cache_scope}""#),
        };
        let meta = json!({ "io.modelcontextprotocol/serverInfo": server.server_info(Revision::V2026_07_28) });
        server.result_suffix = format!(r#","resultType":"complete","_meta":{meta}"#);
        Ok(McpServer(Arc::new(server)))
    }
}

#[cfg(feature = "search")]
impl McpServerBuilder {
    /// Sets whether the server lists `search_tools` and `call_tool` in place of its tools, for clients that cannot take many.
    ///
    /// Pinned tools are listed beside them. A search ranks the tools that the client may use. A call through `call_tool` is
    /// validated, approved, limited and audited as a call of the tool that it names.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let invoker = Invoker::new(&Registry::new()).unwrap();
    /// use toolwright::mcp::McpServer;
    ///
    /// let server = McpServer::builder(invoker).tool_search(true).build();
    /// ```
    pub fn tool_search(mut self, yes: bool) -> Self {
        self.tool_search = yes;
        self
    }
}

#[cfg(feature = "http")]
impl McpServerBuilder {
    /// Uses an authenticator that other servers share, and serves the tools of its invoker.
    ///
    /// Tokens, OAuth, hosts and origins are those of the authenticator: [`build`](Self::build) fails if they are set here as well.
    pub fn authenticator(mut self, auth: Authenticator) -> Self {
        self.invoker = auth.all_tools().invoker().clone();
        self.shared_auth = Some(auth);
        self
    }

    /// Accepts this token over HTTP, as [`AuthenticatorBuilder::token`] does.
    pub fn token(self, token: Secret) -> Self {
        self.configure_auth(|auth| auth.token(token))
    }

    /// Accepts this token over HTTP as the caller of this name, as [`AuthenticatorBuilder::token_for`] does.
    pub fn token_for(self, caller: impl Into<String>, token: Secret) -> Self {
        self.configure_auth(|auth| auth.token_for(caller, token))
    }

    /// Accepts tokens of an authorization server over HTTP, as [`AuthenticatorBuilder::oauth`] does.
    ///
    /// A client on the other side of stdio is authenticated by the operating system, and may use all tools.
    pub fn oauth(self, oauth: ResourceServer) -> Self {
        self.configure_auth(|auth| auth.oauth(oauth))
    }

    /// Names hosts that the server is reached by beside this machine's: `tools.example.com`, no port.
    pub fn allowed_hosts<H: Into<String>>(self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.configure_auth(|auth| auth.allowed_hosts(hosts))
    }

    /// Names other origins whose pages may call the server: `https://app.example.com`.
    pub fn allowed_origins<O: Into<String>>(self, origins: impl IntoIterator<Item = O>) -> Self {
        self.configure_auth(|auth| auth.allowed_origins(origins))
    }

    fn configure_auth(
        mut self,
        change: impl FnOnce(AuthenticatorBuilder) -> AuthenticatorBuilder,
    ) -> Self {
        let auth = self.own_auth.take();
        let auth = auth.unwrap_or_else(|| Authenticator::builder(self.invoker.clone()));
        self.own_auth = Some(change(auth));
        self
    }
}
