//! Questions in, answers out: a model, the tools it may call, and the terms of their conversation.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;
use toolwright_core::{
    ApprovalSigner, Approver, BoxFuture, CallScope, ErrorPolicy, Invoker,
    RegisteredTool as ToolEntry, Snapshot, Tool,
};

use crate::chat::event::ApprovalResponse;
use crate::chat::turn_request::TurnRequest;
use crate::error::ChatError;
use crate::journal::store::lease::{ConversationQueues, DEFAULT_LEASE_DURATION};
use crate::journal::store::{Lease, MemoryStore, Store, random_hex};
use crate::journal::window::HistoryWindow;
use crate::model::price::Prices;
use crate::model::{HostedTool, Model, ModelOptions, ToolChoice};
use crate::turn::TurnLimits;

pub(crate) mod event;
pub(crate) mod response;
pub(crate) mod stream;
mod structured_output;
pub(crate) mod tool_selection;
pub(crate) mod turn_request;

/// How long a decision may take, unless said otherwise.
const DEFAULT_APPROVAL_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Asks a model, runs the tools it calls, and goes on until there is an answer; cheap to clone.
///
/// # Examples
///
/// ```
/// use toolwright::chat::testing::ScriptedModel;
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
///     .says("It is 5.");
/// let chat = Chat::new(model, &Invoker::new(&registry)?);
/// let response = chat.prompt().user("What is 2 + 3?").call().await?;
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
    approval_signer: OnceCell<Arc<ApprovalSigner>>,
    /// The tools of the last snapshot as a request carries them: the same list means the same plan.
    tool_list: Mutex<Option<CachedToolList>>,
    pub(crate) queues: ConversationQueues,
    /// Under which name it holds leases.
    pub(crate) lease_holder: OnceLock<String>,
    pub(crate) lease_duration: Duration,
}

type CachedToolList = (Arc<Snapshot>, Arc<[ToolEntry]>);

/// What a chat decides for all its prompts, and a prompt for itself.
#[derive(Clone)]
pub(crate) struct TurnOptions {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) system: Option<String>,
    pub(crate) hosted_tools: Vec<HostedTool>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) model_options: ModelOptions,
    pub(crate) limits: TurnLimits,
    pub(crate) window: HistoryWindow,
    pub(crate) error_policy: Option<ErrorPolicy>,
    pub(crate) approve_every_call: bool,
    pub(crate) manual_calls: bool,
}

/// Somebody who knows tools that a registry does not have.
///
/// Names given to a prompt are looked up in the registry, then in each resolver in turn. A turn's tools are fixed when it
/// begins.
///
/// # Cancellation
///
/// The future is dropped when nobody waits for the turn any more.
pub trait ToolResolver: Send + Sync + 'static {
    /// Finds the tool of a name.
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Tool>>;
}

impl<F: Fn(&str) -> Option<Tool> + Send + Sync + 'static> ToolResolver for F {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Option<Tool>> {
        let found = self(name);
        Box::pin(async move { found })
    }
}

impl Chat {
    /// Makes a chat of a model and the tools it may call, with everything else as it is by default.
    pub fn new(model: impl Model, tools: &Invoker) -> Self {
        Self::builder(model, tools).build()
    }

    /// Starts a chat of a model and the tools it may call.
    pub fn builder(model: impl Model, tools: &Invoker) -> ChatBuilder {
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
                model_options: ModelOptions::default(),
                limits: TurnLimits::default(),
                window: HistoryWindow::default(),
                error_policy: None,
                approve_every_call: false,
                manual_calls: false,
            },
            approval_timeout: DEFAULT_APPROVAL_TIMEOUT,
            approval_signer: OnceCell::new(),
            tool_list: Mutex::default(),
            queues: ConversationQueues::default(),
            lease_holder: OnceLock::new(),
            lease_duration: DEFAULT_LEASE_DURATION,
        })
    }

    /// Starts a prompt.
    pub fn message(&self) -> TurnRequest {
        TurnRequest::new(self.clone())
    }

    /// Goes on with a conversation whose turn waits for decisions.
    ///
    /// Each has to bring the token that its [`Asked`](crate::Asked) came with: one that was changed, used before, has expired
    /// or belongs to another call is refused, and then nothing is decided at all.
    ///
    /// A journal does not keep what a prompt said about tools, terms and its caller: say it again here. An approval is for the
    /// caller it was asked for.
    pub fn submit_approvals(
        &self,
        conversation: impl Into<String>,
        decided: Vec<ApprovalResponse>,
    ) -> TurnRequest {
        self.message()
            .conversation(conversation)
            .approval_responses(decided)
    }

    /// Goes on with a conversation whose turn was interrupted: by a crash, a dropped future, or a failure of the store.
    pub fn resume(&self, conversation: impl Into<String>) -> TurnRequest {
        self.message().conversation(conversation)
    }

    /// What this chat was given and its model's vendor does not have, in words for a person.
    pub fn warnings(&self) -> Vec<String> {
        let terms = &self.0.options;
        let missing = terms
            .hosted_tools
            .iter()
            .filter(|hosted| !terms.model.supports_hosted_tool(hosted));
        let missing = missing.map(|hosted| {
            let (what, name) = match hosted {
                HostedTool::WebSearch(_) => ("hosted web search", String::new()),
                HostedTool::Mcp(group) => ("hosted MCP servers", format!(" (`{}`)", group.name)),
            };
            format!("{} has no {what}{name}: it is left out", terms.model.id())
        });
        missing.collect()
    }

    pub(crate) async fn approval_signer(&self) -> Result<Arc<ApprovalSigner>, ChatError> {
        let made = self.0.approval_signer.get_or_try_init(async || {
            let key = self.0.store.signing_key().await?;
            Ok::<_, ChatError>(Arc::new(
                ApprovalSigner::with_key(key.expose()).lifetime(self.0.approval_timeout),
            ))
        });
        made.await.cloned()
    }

    /// The lease of a conversation, in this chat's name.
    pub(crate) fn lease_for(&self, conversation: &str) -> Result<Lease, ChatError> {
        let holder = match self.0.lease_holder.get() {
            Some(holder) => holder,
            None => {
                let drawn = random_hex(8)?;
                self.0.lease_holder.get_or_init(|| drawn)
            }
        };
        Ok(Lease::new(conversation, holder))
    }

    /// The tools that a caller may see, in one list per snapshot.
    pub(crate) fn visible_tools(
        &self,
        invoker: &Invoker,
        scope: &CallScope,
    ) -> Result<Arc<[ToolEntry]>, ChatError> {
        let snapshot = invoker.snapshot().map_err(ChatError::tools)?;
        let shown = invoker.list(scope).map_err(ChatError::tools)?;
        if shown.len() < snapshot.len() {
            return Ok(shown.into());
        }
        let mut listed = self
            .0
            .tool_list
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        match &*listed {
            Some((of, tools)) if Arc::ptr_eq(of, &snapshot) => Ok(Arc::clone(tools)),
            _ => {
                let tools: Arc<[ToolEntry]> = shown.into();
                *listed = Some((snapshot, Arc::clone(&tools)));
                Ok(tools)
            }
        }
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("model", self.0.options.model.id())
            .finish_non_exhaustive()
    }
}

/// A chat under construction.
pub struct ChatBuilder(ChatInner);

impl ChatBuilder {
    /// Says what the model should keep to.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.0.options.system = Some(system.into());
        self
    }

    /// Sets where conversations are kept; without one, in memory.
    #[must_use]
    pub fn store(mut self, store: impl Store) -> Self {
        self.0.store = Arc::new(store);
        self
    }

    /// Offers a tool that the vendor runs, where it has one.
    #[must_use]
    pub fn hosted_tool(mut self, hosted: HostedTool) -> Self {
        self.0.options.hosted_tools.push(hosted);
        self
    }

    /// Says how the model answers.
    #[must_use]
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.0.options.model_options = options;
        self
    }

    /// Says how far one turn may go.
    #[must_use]
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.0.options.limits = limits;
        self
    }

    /// Says how much of a conversation the model is told; the default is 30 messages before the current turn.
    #[must_use]
    pub fn window(mut self, window: HistoryWindow) -> Self {
        self.0.options.window = window;
        self
    }

    /// Names the node that this process is: restarted under the same name, it takes its conversations back at once.
    ///
    /// Give the name to one process at a time. Without one, a process is known by a random name, and whoever comes after it
    /// when it dies waits until its leases have ended.
    #[must_use]
    pub fn node(mut self, name: impl Into<String>) -> Self {
        self.0.lease_holder = OnceLock::from(name.into());
        self
    }

    /// Sets how long conversations stay in the hands of a process that died; the default is 30 seconds.
    ///
    /// While a turn runs the lease is renewed three times in this time; another process may take it from one that falls behind.
    #[must_use]
    pub fn lease_duration(mut self, life: Duration) -> Self {
        self.0.lease_duration = life;
        self
    }

    /// Says what becomes of a failed tool's error, whatever the tools say.
    #[must_use]
    pub fn error_policy(mut self, errors: ErrorPolicy) -> Self {
        self.0.options.error_policy = Some(errors);
        self
    }

    /// Asks `approver` before calls that need approval, while the turn waits.
    ///
    /// Without one, a turn that needs approval pauses.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.0.approver = Some(Arc::new(approver));
        self
    }

    /// Has every call approved, whatever the tools say.
    #[must_use]
    pub fn ask_before_each_call(mut self) -> Self {
        self.0.options.approve_every_call = true;
        self
    }

    /// Sets how long a decision may take.
    #[must_use]
    pub fn approval_timeout(mut self, patience: Duration) -> Self {
        self.0.approval_timeout = patience;
        self
    }

    /// Adds somebody who knows tools that the registry does not have; asked in the order they are added.
    #[must_use]
    pub fn resolver(mut self, resolver: impl ToolResolver) -> Self {
        self.0.resolvers.push(Arc::new(resolver));
        self
    }

    /// Sets what models cost.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        self.0.prices = prices;
        self
    }

    /// Makes the chat.
    pub fn build(self) -> Chat {
        Chat(Arc::new(self.0))
    }
}
