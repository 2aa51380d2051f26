//! [`Chat`]: a model, the tools it may call, the store of its conversations, and the defaults of a turn.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use toolwright_core::{
    ApprovalSigner, Approver, BoxFuture, CallScope, ErrorPolicy, Invoker, InvokerError,
    RegisteredTool as ToolEntry, Registry, Snapshot, Tool,
};
use toolwright_search::CatalogCache;

use crate::chat::event::ApprovalResponse;
use crate::chat::tool_search::ToolSearch;
use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::journal::store::lease::{ConversationLocks, DEFAULT_LEASE_DURATION};
use crate::journal::store::{MemoryStore, Store, random_hex};
use crate::journal::window::HistoryWindow;
use crate::model::price::Prices;
use crate::model::usage::Usage;
use crate::model::{HostedTool, Model, ModelId, ModelOptions, ToolChoice};
use crate::turn::TurnLimits;

pub(crate) mod event;
pub(crate) mod response;
pub(crate) mod stream;
mod structured_output;
pub(crate) mod tool_search;
pub(crate) mod tool_selection;
pub(crate) mod turn_request;

/// The default of [`ChatBuilder::approval_timeout`].
const DEFAULT_APPROVAL_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Calls a model, runs the tools it calls, and repeats until the model has answered; cheap to clone.
///
/// # Examples
///
/// ```
/// use toolwright::testing::ScriptedModel;
/// use toolwright::chat::Chat;
/// use toolwright::{Invoker, Registry, tool};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let registry = Registry::new();
/// registry.add(add::tool())?;
/// let model = ScriptedModel::new()
///     .calls("add", r#"{"a": 2, "b": 3}"#)
///     .replies("It is 5.");
/// let chat = Chat::new(&Invoker::new(&registry)?, model);
/// let response = chat.message().user("What is 2 + 3?").call().await?;
/// assert_eq!(response.text(), "It is 5.");
/// assert_eq!(response.results()[0].text(), "5");
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Chat(pub(crate) Arc<ChatInner>);

pub(crate) struct ChatInner {
    pub(crate) invoker: Invoker,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) resolvers: Vec<Arc<dyn ToolResolver>>,
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) prices: Prices,
    pub(crate) options: TurnOptions,
    approval_timeout: Duration,
    approval_signer: Mutex<Option<Arc<ApprovalSigner>>>,
    /// The tools of the last snapshot as a request carries them: models cache the `tools` array of a list by its pointer.
    tool_list: Mutex<Option<CachedToolList>>,
    /// The indexes of the tools that models search.
    pub(crate) catalogs: Arc<CatalogCache>,
    pub(crate) locks: ConversationLocks,
    /// The name under which it holds leases; random, unless [`ChatBuilder::node`] sets it.
    pub(crate) lease_holder: OnceLock<String>,
    pub(crate) lease_duration: Duration,
}

type CachedToolList = (Arc<Snapshot>, Arc<[ToolEntry]>);

/// The options of a turn: set on the chat, and overridden on a [`TurnRequest`].
#[derive(Clone)]
pub(crate) struct TurnOptions {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) system: Option<String>,
    pub(crate) hosted_tools: Vec<HostedTool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) tool_search: ToolSearch,
    pub(crate) model_options: ModelOptions,
    pub(crate) limits: TurnLimits,
    /// True if a model whose price is not known must not be called, even without a limit of the turn's own.
    pub(crate) requires_price: bool,
    pub(crate) window: HistoryWindow,
    pub(crate) error_policy: Option<ErrorPolicy>,
    pub(crate) approve_every_call: bool,
    pub(crate) manual_calls: bool,
}

/// Resolves names of tools that the registry does not have.
///
/// The names of [`TurnRequest::only_tools_named`] are looked up in the registry, then in each resolver in turn. A turn's tools
/// are fixed when it begins.
///
/// # Cancellation
///
/// The future is dropped when the turn is dropped.
pub trait ToolResolver: Send + Sync + 'static {
    /// Returns the tool of a name; a tool of another name is ignored.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Tool>>;
}

impl<F: Fn(&str) -> Option<Tool> + Send + Sync + 'static> ToolResolver for F {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Tool>> {
        let found = self(name);
        Box::pin(async move { found })
    }
}

impl Chat {
    /// Creates a chat of tools and the model that may call them, with the defaults for everything else.
    pub fn new(tools: &Invoker, model: impl Model) -> Self {
        Self::builder(tools, model).build()
    }

    /// Creates a chat of a model and all tools that are linked into the program, with the defaults for everything else.
    ///
    /// # Errors
    ///
    /// When two tools have the same name, or a tool needs state, a project directory or a setting.
    pub fn discover(model: impl Model) -> Result<Self, InvokerError> {
        Ok(Self::new(&Invoker::new(Registry::discover()?)?, model))
    }

    /// Starts building a chat of tools and the model that may call them.
    pub fn builder(tools: &Invoker, model: impl Model) -> ChatBuilder {
        ChatBuilder(ChatInner {
            invoker: tools.clone(),
            store: Arc::new(MemoryStore::new()),
            resolvers: Vec::new(),
            approver: None,
            prices: Prices::default(),
            options: TurnOptions {
                model: Arc::new(model),
                system: None,
                hosted_tools: Vec::new(),
                tool_choice: ToolChoice::Auto,
                tool_search: ToolSearch::default(),
                model_options: ModelOptions::default(),
                limits: TurnLimits::default(),
                requires_price: false,
                window: HistoryWindow::default(),
                error_policy: None,
                approve_every_call: false,
                manual_calls: false,
            },
            approval_timeout: DEFAULT_APPROVAL_TIMEOUT,
            approval_signer: Mutex::default(),
            tool_list: Mutex::default(),
            catalogs: Arc::default(),
            locks: ConversationLocks::default(),
            lease_holder: OnceLock::new(),
            lease_duration: DEFAULT_LEASE_DURATION,
        })
    }

    /// Returns true if the price of a model is known, so that the cost of its steps is, too.
    pub fn knows_price(&self, model: &ModelId) -> bool {
        self.0.prices.cost(model, &Usage::default()).is_some()
    }

    /// Starts a request for a turn: add a message with [`TurnRequest::user`].
    pub fn message(&self) -> TurnRequest {
        TurnRequest::new(self.clone())
    }

    /// Resumes a conversation whose turn waits for approvals.
    ///
    /// Each response carries the token of its [`PendingApproval`](crate::PendingApproval). One that was changed, used before,
    /// has expired or belongs to another call is rejected, and then no response is recorded at all.
    ///
    /// A journal does not keep the tools, options and caller of a request: set them again here. An approval is valid for the
    /// caller it was requested for.
    pub fn submit_approvals(
        &self,
        conversation: impl Into<String>,
        responses: Vec<ApprovalResponse>,
    ) -> TurnRequest {
        self.message().conversation(conversation).approval_responses(responses)
    }

    /// Resumes a conversation whose turn was interrupted: by a crash, a dropped future, or a failure of the store.
    pub fn resume(&self, conversation: impl Into<String>) -> TurnRequest {
        self.message().conversation(conversation)
    }

    /// Returns a sentence for each hosted tool of this chat that its model's vendor does not have.
    pub fn warnings(&self) -> Vec<String> {
        let options = &self.0.options;
        let missing = options
            .hosted_tools
            .iter()
            .filter(|hosted| !options.model.supports_hosted_tool(hosted));
        let missing = missing.map(|hosted| {
            let (feature, name) = match hosted {
                HostedTool::WebSearch(_) => ("hosted web search", String::new()),
                HostedTool::Mcp(group) => ("hosted MCP servers", format!(" (`{}`)", group.name)),
            };
            format!("{} has no {feature}{name}: it is left out", options.model.id())
        });
        missing.collect()
    }

    /// Returns the signer with the keys of the store.
    ///
    /// A request that starts a turn may use the keys of an earlier one; one that resumes a turn needs those with which another
    /// process may have signed since.
    pub(crate) async fn approval_signer(
        &self,
        is_resuming: bool,
    ) -> Result<Arc<ApprovalSigner>, ChatError> {
        let known = || self.0.approval_signer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signer) = known().as_ref().filter(|_| !is_resuming) {
            return Ok(Arc::clone(signer));
        }
        let keys = self.0.store.signing_keys().await?;
        let signer = ApprovalSigner::with_keys(keys).lifetime(self.0.approval_timeout);
        let signer = Arc::new(signer);
        *known() = Some(Arc::clone(&signer));
        Ok(signer)
    }

    /// Returns the name under which this chat holds leases.
    pub(crate) fn lease_holder(&self) -> Result<&str, ChatError> {
        if let Some(holder) = self.0.lease_holder.get() {
            return Ok(holder);
        }
        let name = random_hex(8)?;
        Ok(self.0.lease_holder.get_or_init(|| name))
    }

    /// Returns the tools that a caller may see; the same allocation for every request of a snapshot.
    pub(crate) fn visible_tools(
        &self,
        invoker: &Invoker,
        scope: &CallScope,
    ) -> Result<Arc<[ToolEntry]>, ChatError> {
        let snapshot = invoker.snapshot().map_err(ChatError::tools)?;
        let visible = invoker.list(scope).map_err(ChatError::tools)?;
        if visible.len() < snapshot.len() {
            return Ok(visible.into());
        }
        let mut cached = self.0.tool_list.lock().unwrap_or_else(PoisonError::into_inner);
        match &*cached {
            Some((of, tools)) if Arc::ptr_eq(of, &snapshot) => Ok(Arc::clone(tools)),
            _ => {
                let tools: Arc<[ToolEntry]> = visible.into();
                *cached = Some((snapshot, Arc::clone(&tools)));
                Ok(tools)
            }
        }
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat").field("model", self.0.options.model.id()).finish_non_exhaustive()
    }
}

/// Builds a [`Chat`].
pub struct ChatBuilder(ChatInner);

impl ChatBuilder {
    /// Sets the system prompt; without it, requests have none.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.0.options.system = Some(system.into());
        self
    }

    /// Sets the store of conversations; the default is a [`MemoryStore`].
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.0.store = Arc::new(store);
        self
    }

    /// Offers a tool that the vendor runs; left out where the model's vendor does not have it.
    #[must_use]
    pub fn hosted_tool(mut self, hosted: impl Into<HostedTool>) -> Self {
        self.0.options.hosted_tools.push(hosted.into());
        self
    }

    /// Removes the hosted tools that `keep` rejects.
    #[must_use]
    pub fn retain_hosted_tools(mut self, keep: impl FnMut(&HostedTool) -> bool) -> Self {
        self.0.options.hosted_tools.retain(keep);
        self
    }

    /// Sets when the model searches for tools, instead of getting the definitions of all; see [`ToolSearch`].
    #[must_use]
    pub fn tool_search(mut self, search: impl Into<ToolSearch>) -> Self {
        self.0.options.tool_search = search.into();
        self
    }

    /// Sets the sampling options of requests to the model.
    #[must_use]
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.0.options.model_options = options;
        self
    }

    /// Sets the limits of one turn.
    #[must_use]
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.0.options.limits = limits;
        self
    }

    /// Changes some of the limits of one turn.
    #[must_use]
    pub fn configure_limits(mut self, change: impl FnOnce(&mut TurnLimits)) -> Self {
        change(&mut self.0.options.limits);
        self
    }

    /// Sets the window of history that is sent to the model; the default is 30 messages before the current turn.
    #[must_use]
    pub fn window(mut self, window: HistoryWindow) -> Self {
        self.0.options.window = window;
        self
    }

    /// Sets the name under which this process holds leases: restarted under the same name, it re-acquires them at once.
    ///
    /// Use a name in one process at a time. The default is a random name: then the successor of a process that died waits
    /// until its leases have expired.
    #[must_use]
    pub fn node(mut self, name: impl Into<String>) -> Self {
        self.0.lease_holder = OnceLock::from(name.into());
        self
    }

    /// Sets how long a lease outlives a process that died; the default is 30 seconds.
    ///
    /// While a turn runs, the lease is renewed three times in this time. Another process may acquire an expired one.
    #[must_use]
    pub fn lease_duration(mut self, duration: Duration) -> Self {
        self.0.lease_duration = duration;
        self
    }

    /// Sets what happens with the error of a failed tool, in place of each tool's own policy.
    #[must_use]
    pub fn error_policy(mut self, policy: ErrorPolicy) -> Self {
        self.0.options.error_policy = Some(policy);
        self
    }

    /// Sets the approver that decides about calls that need approval while the turn waits.
    ///
    /// Without one, a turn that needs approval pauses.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.0.approver = Some(Arc::new(approver));
        self
    }

    /// Requires approval of every call, whatever the policy of its tool.
    #[must_use]
    pub fn ask_before_each_call(mut self) -> Self {
        self.0.options.approve_every_call = true;
        self
    }

    /// Sets how long an approval may take before the call is denied; the default is 24 hours.
    #[must_use]
    pub fn approval_timeout(mut self, timeout: Duration) -> Self {
        self.0.approval_timeout = timeout;
        self
    }

    /// Adds a resolver of tools that the registry does not have; resolvers are tried in the order they are added.
    #[must_use]
    pub fn resolver(mut self, resolver: impl ToolResolver) -> Self {
        self.0.resolvers.push(Arc::new(resolver));
        self
    }

    /// Adds resolvers that several chats share.
    #[must_use]
    pub fn resolvers(mut self, resolvers: impl IntoIterator<Item = Arc<dyn ToolResolver>>) -> Self {
        self.0.resolvers.extend(resolvers);
        self
    }

    /// Sets the prices of models, for the cost of turns; the default knows none but that `demo` is free.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.0.prices = prices;
        self
    }

    /// Finishes the chat.
    pub fn build(self) -> Chat {
        Chat(Arc::new(self.0))
    }
}
