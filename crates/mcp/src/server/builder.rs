//! A server under construction.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::broadcast;
use toolwright_core::{CancellationToken, Invoker, Registry, Secret, Tool};

use super::configured_tokens::ConfiguredTokens;
use super::error::McpBuildError;
use super::limits::McpLimits;
use super::request_state::RequestStateSigner;
use super::revision::Revision;
use super::served_resource::ServedResource;
use super::{McpServer, ServerState};
use crate::auth::{OAuthAuthenticator, ResourceServer, ScopedTools};

/// How many changes of resources a slow listener may miss before it misses some.
const UPDATE_CAPACITY: usize = 256;

/// A server under construction; mistakes are told by [`build`](McpServerBuilder::build).
pub struct McpServerBuilder {
    invoker: Invoker,
    name: String,
    title: Option<String>,
    version: String,
    instructions: Option<String>,
    resources: Vec<ServedResource>,
    limits: McpLimits,
    /// Each of one caller, or shared by several people.
    tokens: Vec<(Option<String>, Secret)>,
    oauth: Option<ResourceServer>,
    hosts: Vec<String>,
    origins: Vec<String>,
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
            tokens: Vec::new(),
            oauth: None,
            hosts: Vec::new(),
            origins: Vec::new(),
        }
    }

    /// Names the server.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the name people read.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the server's own version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// Tells models what the server is for.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Adds something that clients read by its address.
    #[must_use]
    pub fn resource(mut self, resource: ServedResource) -> Self {
        self.resources.push(resource);
        self
    }

    /// Changes how much the server takes on.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolwright::{Invoker, Registry};
    /// # let invoker = Invoker::new(&Registry::new()).unwrap();
    /// use toolwright_mcp::McpServer;
    ///
    /// let server = McpServer::builder(invoker).limits(|limits| limits.message = 64 << 10).build();
    /// ```
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut McpLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Lets in over HTTP only who brings this token, as a caller named `token`: whoever shares it is the same to the server.
    #[must_use]
    pub fn token(mut self, token: Secret) -> Self {
        self.tokens.push((None, token));
        self
    }

    /// Lets in over HTTP who brings this token, as the caller of this name; may be said again for others.
    #[must_use]
    pub fn token_for(mut self, caller: impl Into<String>, token: Secret) -> Self {
        self.tokens.push((Some(caller.into()), token));
        self
    }

    /// Lets in over HTTP who brings a token of an authorization server, as the caller it names, to what its scopes open.
    ///
    /// Who is on the other side of stdio was let in by the system, and reaches everything.
    ///
    /// Scopes are a lens on the view that the invoker was built from: one that was `adjusted` afterwards is refused, and one
    /// that was `pinned` follows the registry again.
    #[must_use]
    pub fn oauth(mut self, oauth: ResourceServer) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Names hosts that the server answers for beside this machine: `tools.example.com`, no port.
    #[must_use]
    pub fn allowed_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Names origins whose pages may call the server beside those of this machine:
    /// `https://app.example.com`.
    #[must_use]
    pub fn allowed_origins<O: Into<String>>(mut self, all: impl IntoIterator<Item = O>) -> Self {
        self.origins.extend(all.into_iter().map(Into::into));
        self
    }

    /// Makes the server.
    ///
    /// # Errors
    ///
    /// When a resource does not fit its tool, a token is blank, the protection by OAuth makes no sense, or there
    /// are no random numbers.
    pub fn build(self) -> Result<McpServer, McpBuildError> {
        let mut tools: Vec<Tool> = Vec::new();
        for resource in &self.resources {
            resource.validate()?;
            if tools.iter().all(|tool| tool.name() != resource.tool.name()) {
                tools.push(resource.tool.clone());
            }
        }
        let reader = self
            .invoker
            .with_view(|_| Registry::new().all().with(tools))?;
        let mut tokens = ConfiguredTokens::default();
        for (caller, token) in &self.tokens {
            tokens.add(caller.as_deref(), token)?;
        }
        let seal = RequestStateSigner::new().map_err(|error| McpBuildError::NoRandomness {
            message: error.to_string(),
        })?;
        if self.oauth.is_some() && !tokens.is_empty() {
            return Err(McpBuildError::OAuth {
                message: "there are tokens as well: name them in a `TokenTable`, or leave them out"
                    .to_owned(),
            });
        }
        let door = self
            .oauth
            .map(|oauth| OAuthAuthenticator::new(oauth, &self.invoker));
        let door = door.transpose()?;
        // Who is asked for a token may see other tools than the next.
        let shared_with = if tokens.is_empty() && door.is_none() {
            "public"
        } else {
            "private"
        };
        let fresh = self.limits.list_ttl.as_millis();
        let mut server = ServerState {
            all_tools: Arc::new(ScopedTools::unrestricted(self.invoker)),
            resource_invoker: reader,
            resources: self.resources,
            name: self.name,
            title: self.title,
            version: self.version,
            instructions: self.instructions,
            http: crate::http::HttpState::new(&self.limits),
            limits: self.limits,
            tokens,
            oauth: door,
            hosts: self.hosts,
            origins: self.origins,
            header_arguments: Default::default(),
            request_states: seal,
            tasks: Default::default(),
            resource_updates: broadcast::Sender::new(UPDATE_CAPACITY),
            shutdown: CancellationToken::new(),
            result_suffix: String::new(),
            cache_suffix: format!(r#","ttlMs":{fresh},"cacheScope":"{shared_with}""#),
        };
        let meta = json!({ "io.modelcontextprotocol/serverInfo": server.server_info(Revision::V2026_07_28) });
        server.result_suffix = format!(r#","resultType":"complete","_meta":{meta}"#);
        Ok(McpServer(Arc::new(server)))
    }
}
