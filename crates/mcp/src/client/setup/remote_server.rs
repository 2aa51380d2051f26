//! What to attach and how, said step by step.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use toolwright_core::{Registry, Secret};

use crate::client::attached_server::AttachedServer;
use crate::client::catalogue::RemoteItem;
use crate::client::elicit::ElicitHandler;
use crate::client::error::AttachError;
use crate::client::oauth::OAuthClient;
use crate::client::setup::limits::AttachLimits;
use crate::client::setup::validated_server::ValidatedServer;
use crate::pin::{MemoryPins, PinStore};

/// How long a call may take, unless said otherwise.
const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(120);

/// An MCP server to be attached: its tools and prompts become those of a registry.
///
/// Each is named `prefix_name`, made fit for every provider. They are called as any other tool is, except that
/// [`project_dir`](toolwright_core::PROJECT_DIR) is never filled in for them.
///
/// # Examples
///
/// ```no_run
/// use toolwright_core::{Registry, Secret};
/// use toolwright_mcp::{RemoteServer, Trust};
///
/// # async fn example() -> Result<(), toolwright_mcp::AttachError> {
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
    pub(crate) env: Vec<(String, Secret)>,
    pub(crate) prefix: Option<String>,
    pub(crate) timeout: Duration,
    pub(crate) limits: AttachLimits,
    pub(crate) trust: Trust,
    pub(crate) revision: Option<String>,
    pub(crate) pins: Arc<dyn PinStore>,
    pub(crate) elicit: Option<Arc<dyn ElicitHandler>>,
    pub(crate) on_hidden: Option<Arc<HiddenCallback>>,
}

/// Hears of a tool or prompt that was hidden.
pub(crate) type HiddenCallback = dyn Fn(&RemoteItem) + Send + Sync;

/// Where a server is.
#[derive(Clone)]
pub(crate) enum ServerLocation {
    Url(String),
    Command(OsString, Vec<OsString>),
}

/// How far a server is trusted: whether somebody is asked before a call of one of its tools.
///
/// A server says of its tools whether they only read or may destroy; but whoever means harm says so least. Until it is
/// trusted, what it says can only make us more careful: that something is read-only, repeatable or harmless is ignored, for
/// approval as well as for retries. A view or `[tools.NAME]` in the settings can still decide about a single tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trust {
    /// Somebody is asked before every call.
    #[default]
    Nothing,
    /// What the server says of its tools is believed: asked is before those that may destroy, which by MCP's rule are all
    /// that do not say otherwise.
    Hints,
    /// Nobody is asked: the server may do whatever it does.
    Calls,
}

impl RemoteServer {
    /// Attaches a server by its address; its name is what it is called here.
    pub fn url(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name.into(), ServerLocation::Url(url.into()))
    }

    /// Attaches a server that is started as a program of ours, and speaks MCP on its standard input and output.
    ///
    /// Of our environment it gets what a login has (`HOME`, `PATH` and the like) and no more: keys are given with
    /// [`env`](Attach::env). It ends when it is detached, and when we end.
    pub fn command<A: Into<OsString>>(
        name: impl Into<String>,
        program: impl Into<OsString>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let args = args.into_iter().map(Into::into).collect();
        Self::new(name.into(), ServerLocation::Command(program.into(), args))
    }

    fn new(name: String, place: ServerLocation) -> Self {
        Self {
            name,
            location: place,
            headers: Vec::new(),
            authorization: None,
            oauth: None,
            env: Vec::new(),
            prefix: None,
            timeout: DEFAULT_CALL_TIMEOUT,
            limits: AttachLimits::default(),
            trust: Trust::default(),
            revision: None,
            pins: Arc::new(MemoryPins::new()),
            elicit: None,
            on_hidden: None,
        }
    }

    /// Returns the name that the server is called here.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a header to every request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Secret::new(value)));
        self
    }

    /// Sends this as the `Authorization` header of every request, such as `Bearer 0123`.
    ///
    /// It is never sent in clear to another machine: such an address must begin with `https://`.
    pub fn authorization(mut self, value: Secret) -> Self {
        self.authorization = Some(value);
        self
    }

    /// Lets a person authorize us where the server asks for it.
    pub fn oauth(mut self, oauth: OAuthClient) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Sets an environment variable of the program.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.push((name.into(), Secret::new(value)));
        self
    }

    /// Sets what the names of its tools begin with; unless it is set, that is the server's name.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets how long a call may take, a question to a person included.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how much the server may send, and how long it may take to connect.
    pub fn limits(mut self, limits: AttachLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how far the server is trusted.
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Speaks this revision of MCP, such as `2025-11-25`, instead of the newest that both know.
    pub fn revision(mut self, revision: impl Into<String>) -> Self {
        self.revision = Some(revision.into());
        self
    }

    /// Sets where its definitions are pinned; unless it is set, they are only for as long as the server is attached.
    pub fn pins(mut self, pins: Arc<dyn PinStore>) -> Self {
        self.pins = pins;
        self
    }

    /// Sets who answers its questions; unless somebody does, they are declined.
    pub fn elicit(mut self, elicit: Arc<dyn ElicitHandler>) -> Self {
        self.elicit = Some(elicit);
        self
    }

    /// Calls this for each tool or prompt that is hidden while the server is attached, because its definition has changed.
    ///
    /// What is hidden from the beginning is in the [`status`](Attached::status) only.
    pub fn on_hidden(mut self, hears: impl Fn(&RemoteItem) + Send + Sync + 'static) -> Self {
        self.on_hidden = Some(Arc::new(hears));
        self
    }

    /// Connects, and adds the server's tools and prompts to the registry.
    ///
    /// They stay there as long as what is returned does. Where the connection breaks, it is made again in the background.
    ///
    /// # Errors
    ///
    /// When the server cannot be reached, does not speak MCP, lists too much, or its prefix is taken.
    ///
    /// # Cancellation
    ///
    /// Dropped before it is done, it leaves the registry as it was.
    pub async fn attach(self, registry: &Registry) -> Result<AttachedServer, AttachError> {
        AttachedServer::new(ValidatedServer::new(self)?, registry).await
    }
}

impl std::fmt::Debug for RemoteServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Addresses and arguments may hold secrets.
        let place = match &self.location {
            ServerLocation::Url(url) => toolwright_core::schema::redact(url).into_owned(),
            ServerLocation::Command(program, _) => program.to_string_lossy().into_owned(),
        };
        f.debug_struct("Attach")
            .field("name", &self.name)
            .field("place", &place)
            .field("prefix", &self.prefix)
            .field("trust", &self.trust)
            .finish_non_exhaustive()
    }
}
