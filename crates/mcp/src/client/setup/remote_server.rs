//! The builder of an attached server.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use toolwright_core::{Registry, Secret, SharedState};

use crate::client::attached_server::AttachedServer;
use crate::client::catalogue::RemoteItem;
use crate::client::connection::authorization_error;
use crate::client::connection::http::{Challenge, HttpTransport};
use crate::client::elicit::ElicitHandler;
use crate::client::error::AttachError;
use crate::client::oauth::{OAuthClient, PendingLogin, TokenSource, UserAuthorizer};
use crate::client::setup::limits::AttachLimits;
use crate::client::setup::validated_server::{TransportConfig, ValidatedServer, tool_name_prefix};
use crate::credential::{
    Credential, CredentialError, CredentialKey, CredentialStore, MemoryCredentials,
};
use crate::pin::{MemoryPins, PinStore};

const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// An MCP server to attach: its tools and prompts are added to a registry.
///
/// Each is named `prefix_name`, with the characters that every provider accepts. They are called like other tools, except that
/// [`project_dir`](toolwright_core::PROJECT_DIR_PARAM) is never filled in for them.
///
/// # Examples
///
/// ```no_run
/// use toolwright::{Registry, Secret};
/// use toolwright::mcp::{RemoteServer, Trust};
///
/// # async fn example() -> Result<(), toolwright::mcp::AttachError> {
/// let registry = Registry::new();
/// let wiki = RemoteServer::url("wiki", "https://wiki.example/mcp")
///     .authorization(Secret::new("Bearer 0123"))
///     .attach(&registry)
///     .await?;
/// let files = RemoteServer::command("files", "mcp-server-filesystem", ["/srv/shared"])
///     .trust(Trust::Hints)
///     .attach(&registry)
///     .await?;
/// println!("{:?}", registry.get("files_read_file"));
/// wiki.detach().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "nothing is attached before `.attach(&registry)`"]
pub struct RemoteServer {
    pub(crate) name: String,
    pub(crate) location: ServerLocation,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) authorization: Option<Secret>,
    pub(crate) oauth: Option<OAuthClient>,
    pub(crate) is_personal: bool,
    pub(crate) credentials: Arc<dyn CredentialStore>,
    /// The person whose credential is used; `None` for the shared one.
    pub(crate) person: Option<Option<String>>,
    /// The tool that a call makes if the login has ended.
    pub(crate) login_tool: Option<String>,
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) prefix: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) limits: AttachLimits,
    pub(crate) trust: Trust,
    pub(crate) revision: Option<String>,
    pub(crate) pins: Arc<dyn PinStore>,
    pub(crate) issuer_pins: Option<Arc<dyn PinStore>>,
    pub(crate) elicit: Option<Arc<dyn ElicitHandler>>,
    pub(crate) call_states: Option<Arc<dyn SharedState>>,
    pub(crate) on_hidden: Option<Arc<HiddenCallback>>,
}

/// Called with a tool or prompt that was hidden.
pub(crate) type HiddenCallback = dyn Fn(&RemoteItem) + Send + Sync;

/// The address or the command of a server.
#[derive(Clone)]
pub(crate) enum ServerLocation {
    Url(String),
    Command(OsString, Vec<OsString>),
}

/// The trust in a server: which calls of its tools need approval.
///
/// A server declares whether its tools are read-only or destructive, but a malicious one lies. Until it is trusted, its hints
/// can only add restrictions: that a tool is read-only, idempotent or not destructive is ignored, for approval as well as for
/// retries. A view or `[tools.NAME]` in the settings can still decide about a single tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// Every call needs approval.
    #[default]
    Nothing,
    /// The hints are trusted: calls of destructive tools need approval, which are by the rule of MCP all that do not declare
    /// otherwise.
    Hints,
    /// No call needs approval.
    Calls,
}

impl RemoteServer {
    /// A server by its address; `name` identifies it in settings, errors and pins.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name.into(), ServerLocation::Url(url.into()))
    }

    /// A server that is started as a child process and uses standard input and output.
    ///
    /// It inherits the environment variables of a login shell (`HOME`, `PATH` and the like) only: API keys are given with
    /// [`env`](RemoteServer::env). It ends when it is detached, and with this process.
    pub fn command<A: Into<OsString>>(
        name: impl Into<String>,
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self::new(name.into(), ServerLocation::Command(program.into(), args))
    }

    fn new(name: String, location: ServerLocation) -> Self {
        Self {
            name,
            location,
            headers: Vec::new(),
            authorization: None,
            oauth: None,
            is_personal: false,
            credentials: Arc::new(MemoryCredentials::new()),
            person: None,
            login_tool: None,
            env: Vec::new(),
            prefix: None,
            timeout: DEFAULT_CALL_TIMEOUT,
            limits: AttachLimits::default(),
            trust: Trust::default(),
            revision: None,
            pins: Arc::new(MemoryPins::new()),
            issuer_pins: None,
            elicit: None,
            call_states: None,
            on_hidden: None,
        }
    }

    /// Returns the name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the prefix of its tools' names.
    pub fn tool_prefix(&self) -> String {
        tool_name_prefix(self.prefix.as_deref().unwrap_or_else(|| self.name.trim()))
    }

    /// Adds a header to every request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sends this as the `Authorization` header of every request, such as `Bearer 0123`.
    ///
    /// It is never sent unencrypted to another machine: such an address must begin with `https://`.
    pub fn authorization(mut self, value: Secret) -> Self {
        self.authorization = Some(value);
        self
    }

    /// Sets the OAuth client for a server that requires authorization.
    pub fn oauth(mut self, oauth: OAuthClient) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Makes every person log in on their own: `oauth = "personal"` in the settings.
    pub fn personal(mut self) -> Self {
        self.is_personal = true;
        self
    }

    /// Returns true if every person logs in to the server on their own.
    pub fn is_personal(&self) -> bool {
        self.is_personal
    }

    /// Returns the OAuth client, if the server has one.
    pub fn oauth_client(&self) -> Option<&OAuthClient> {
        self.oauth.as_ref()
    }

    /// Changes the OAuth client, if the server has one.
    pub fn map_oauth(mut self, change: impl FnOnce(OAuthClient) -> OAuthClient) -> Self {
        self.oauth = self.oauth.map(change);
        self
    }

    /// Sets where its credentials are stored; by default in memory.
    pub fn credentials(mut self, store: Arc<dyn CredentialStore>) -> Self {
        self.credentials = store;
        self
    }

    /// Uses the credential of this person, `None` for the operator, and not the one that all callers share.
    pub fn person(mut self, subject: Option<&str>) -> Self {
        self.person = Some(subject.map(str::to_owned));
        self
    }

    /// Has calls that are rejected because the login has ended call the tool of this name, which asks the person to log in: a turn
    /// pauses for its approval, and then the call is made again. By default such a call fails.
    pub fn login_tool(mut self, name: impl Into<String>) -> Self {
        self.login_tool = Some(name.into());
        self
    }

    /// Returns the key of its credential.
    pub fn credential_key(&self) -> CredentialKey {
        let name = self.name.trim();
        match &self.person {
            None => CredentialKey::shared(name),
            Some(subject) => CredentialKey::personal(name, subject.as_deref()),
        }
    }

    /// Returns the stored credential, if there is one.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn credential(&self) -> Result<Option<Credential>, AttachError> {
        let stored = self.credentials.load(&self.credential_key()).await;
        let stored = stored.map_err(|source| self.credential_error(source))?;
        Ok(stored.map(|stored| stored.credential))
    }

    /// Lets a user log in, and stores the credential in place of the last one. The browser is redirected to `redirect`.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, does not use OAuth, or the login fails.
    pub async fn log_in(
        self,
        redirect: &str,
        authorize: &dyn UserAuthorizer,
    ) -> Result<Credential, AttachError> {
        let (name, tokens, challenge) = self.login_target().await?;
        let credential = tokens.log_in(&challenge, redirect, authorize).await;
        credential.map_err(|failure| authorization_error(&name, failure))
    }

    /// Starts a login of a user whose browser will be redirected to `redirect`; [`finish_login`](Self::finish_login) ends it.
    ///
    /// # Errors
    ///
    /// When the server or its authorization server cannot be reached, or does not use OAuth.
    pub async fn begin_login(self, redirect: &str) -> Result<PendingLogin, AttachError> {
        let (name, tokens, challenge) = self.login_target().await?;
        let pending = tokens.begin_login(&challenge, redirect).await;
        pending.map_err(|failure| authorization_error(&name, failure))
    }

    /// Ends a login with the whole address that the browser was redirected to, and stores the credential.
    ///
    /// # Errors
    ///
    /// When the user has not consented, or the address does not belong to this login.
    pub async fn finish_login(
        self,
        pending: &PendingLogin,
        callback: &str,
    ) -> Result<Credential, AttachError> {
        let (name, _, _, tokens) = self.token_source()?;
        let credential = tokens.finish_login(pending, callback).await;
        credential.map_err(|failure| authorization_error(&name, failure))
    }

    /// Removes the stored credential, and revokes it at the authorization server if that is supported; returns false if there was
    /// none.
    ///
    /// # Errors
    ///
    /// When the credential cannot be removed. That it cannot be revoked is not an error.
    pub async fn log_out(self) -> Result<bool, AttachError> {
        let (name, _, _, tokens) = self.token_source()?;
        let removed = tokens.log_out().await;
        removed.map_err(|source| AttachError::Credential { server: name, source })
    }

    fn credential_error(&self, source: CredentialError) -> AttachError {
        AttachError::Credential { server: self.name.clone(), source }
    }

    /// The source of tokens, and the challenge of the server.
    async fn login_target(self) -> Result<(String, Arc<TokenSource>, Challenge), AttachError> {
        let (name, url, wire, tokens) = self.token_source()?;
        let challenge = wire.request_challenge(&url).await;
        let challenge =
            challenge.map_err(|message| AttachError::Connect { server: name.clone(), message })?;
        Ok((name, tokens, challenge))
    }

    fn token_source(
        self,
    ) -> Result<(String, Arc<str>, HttpTransport, Arc<TokenSource>), AttachError> {
        let name = self.name.clone();
        match ValidatedServer::new(self)?.target {
            TransportConfig::Http { url, wire } if wire.token_source.is_some() => {
                let tokens = wire.token_source.clone();
                let missing = || AttachError::NoLogin { server: name.clone() };
                Ok((name.clone(), url, wire, tokens.ok_or_else(missing)?))
            }
            _ => Err(AttachError::NoLogin { server: name }),
        }
    }

    /// Sets an environment variable of the process.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), Secret::new(value)));
        self
    }

    /// Sets the prefix of its tools' names; by default the name of the server.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the time that the server may take for a response, elicitations included; two minutes by default.
    ///
    /// The time of a task, and that in which the person of a turn is asked, does not count.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: AttachLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the trust in the server; none by default.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Uses this revision of MCP, such as `2025-11-25`, instead of the newest that both sides know.
    pub fn revision(mut self, revision: impl Into<String>) -> Self {
        self.revision = Some(revision.into());
        self
    }

    /// Sets where its definitions, and the issuer of its authorization server, are pinned; by default in memory, while the server
    /// is attached.
    pub fn pins(mut self, pins: Arc<dyn PinStore>) -> Self {
        self.pins = pins;
        self
    }

    /// Sets where the issuer of its authorization server is pinned; by default where its definitions are. A server with pins for
    /// each person needs this: the issuer is the same for all of them.
    pub fn issuer_pins(mut self, pins: Arc<dyn PinStore>) -> Self {
        self.issuer_pins = Some(pins);
        self
    }

    /// Sets the handler of its elicitations; without one, they are declined.
    pub fn elicit(mut self, elicit: Arc<dyn ElicitHandler>) -> Self {
        self.elicit = Some(elicit);
        self
    }

    /// Has calls in the turns of a [chat](https://docs.rs/toolwright-chat) go on after an interruption, and asks the person of a
    /// turn what the server wants to know.
    ///
    /// What the server elicits, or wants a model to write, becomes a call of the tool `PREFIX_ask_user`, which needs approval: the
    /// turn pauses until the person answers, and the call goes on with the answer. A call that the server has made a task of
    /// goes on after a restart. `state` has what that needs; it is the state of the store of the chat. A handler of
    /// [elicitations](Self::elicit) comes first.
    pub fn resume_calls(mut self, state: Arc<dyn SharedState>) -> Self {
        self.call_states = Some(state);
        self
    }

    /// Calls this for each tool or prompt that is hidden while the server is attached, because its definition has changed.
    ///
    /// What is hidden from the beginning is in the [`status`](AttachedServer::status) only.
    pub fn on_hidden(mut self, callback: impl Fn(&RemoteItem) + Send + Sync + 'static) -> Self {
        self.on_hidden = Some(Arc::new(callback));
        self
    }

    /// Connects, and adds the server's tools and prompts to the registry.
    ///
    /// They stay there until the returned value is dropped. A broken connection is reconnected in the background.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, is no MCP server or exceeds a limit, or its prefix is in use.
    ///
    /// # Cancellation
    ///
    /// Dropping the future leaves the registry as it was.
    pub async fn attach(self, registry: &Registry) -> Result<AttachedServer, AttachError> {
        AttachedServer::new(ValidatedServer::new(self)?, registry).await
    }
}

impl std::fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Addresses and arguments may contain secrets.
        let location = match &self.location {
            ServerLocation::Url(url) => toolwright_core::schema::redact(url).into_owned(),
            ServerLocation::Command(program, _) => program.to_string_lossy().into_owned(),
        };
        f.debug_struct("RemoteServer")
            .field("name", &self.name)
            .field("location", &location)
            .field("prefix", &self.prefix)
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}
