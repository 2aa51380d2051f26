//! Builds a server.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::broadcast;
use toolwright_auth::{Authenticator, AuthenticatorBuilder, ResourceServer};
use toolwright_core::__internal::random_hex;
use toolwright_core::{CancellationToken, Invoker, Registry, Secret, Tool};

use crate::server::{
    McpBuildError, McpLimits, McpServer, RequestStateSigner, Revision, ServedResource, ServerState,
};

/// The number of resource updates that a slow subscriber may be behind; older ones are lost.
const UPDATE_CAPACITY: usize = 256;

/// Builds an [`McpServer`]; [`build`](McpServerBuilder::build) reports invalid settings.
#[must_use = "nothing is served before `.build()`"]
pub struct McpServerBuilder {
    invoker: Invoker,
    name: String,
    title: Option<String>,
    version: String,
    instructions: Option<String>,
    resources: Vec<ServedResource>,
    limits: McpLimits,
    /// The settings of an authenticator of this server alone.
    own_auth: Option<AuthenticatorBuilder>,
    shared_auth: Option<Authenticator>,
}

impl McpServerBuilder {
    pub(super) fn new(invoker: Invoker) -> Self {
        Self {
            invoker,
            name: "toolwright".to_owned(),
            title: None,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: None,
            resources: Vec::new(),
            limits: McpLimits::default(),
            own_auth: None,
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
    /// use toolwright_mcp::McpServer;
    ///
    /// let server = McpServer::builder(invoker).limits(|limits| limits.max_message_bytes = 64 << 10).build();
    /// ```
    pub fn limits(mut self, change: impl FnOnce(&mut McpLimits)) -> Self {
        change(&mut self.limits);
        self
    }

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
        let key = random_hex(16)
            .map_err(|error| McpBuildError::NoRandomness { message: error.to_string() })?;
        let request_states = RequestStateSigner::new(key);
        let auth = match (self.shared_auth, self.own_auth) {
            (Some(_), Some(_)) => return Err(McpBuildError::AuthConfiguredTwice),
            (Some(auth), None) => auth,
            (None, auth) => auth.unwrap_or_else(|| Authenticator::builder(self.invoker)).build()?,
        };
        // Callers with different credentials may see different tools.
        let cache_scope = match auth.allows_anonymous() {
            true => "public",
            false => "private",
        };
        let list_ttl = self.limits.list_ttl.as_millis();
        let mut server = ServerState {
            auth,
            lists: Default::default(),
            resource_invoker,
            resources: self.resources,
            name: self.name,
            title: self.title,
            version: self.version,
            instructions: self.instructions,
            http: crate::http::HttpState::new(&self.limits),
            limits: self.limits,
            header_arguments: Default::default(),
            request_states,
            tasks: Default::default(),
            resource_updates: broadcast::Sender::new(UPDATE_CAPACITY),
            shutdown: CancellationToken::new(),
            result_suffix: String::new(),
            cache_suffix: format!(r#","ttlMs":{list_ttl},"cacheScope":"{cache_scope}""#),
        };
        let meta = json!({ "io.modelcontextprotocol/serverInfo": server.server_info(Revision::V2026_07_28) });
        server.result_suffix = format!(r#","resultType":"complete","_meta":{meta}"#);
        Ok(McpServer(Arc::new(server)))
    }
}
