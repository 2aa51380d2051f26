//! [`TurnRequest`]: the inputs of a turn, its tools, options and caller.

use serde::Serialize;
use serde_json::Value;
use toolwright_core::{
    CallScope, Caller, CancellationToken, ContentList, Role, ToolResult, ToolSelection, ToolSpec,
};

use std::sync::Arc;

use crate::chat::event::{ApprovalResponse, PendingApproval};
use crate::chat::response::Response;
use crate::chat::stream::EventSender;
use crate::chat::tool_search::ToolSearch;
use crate::chat::{Chat, TurnOptions};
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::entry::EntryBody;
use crate::journal::store::inbox::InboxItem;
use crate::journal::store::lease::HeldLease;
use crate::journal::store::owner::PrincipalRecord;
use crate::journal::window::HistoryWindow;
use crate::model::{Message, Model, ModelOptions, ResponseFormat, ToolChoice};
use crate::turn::TurnLimits;
use crate::turn::runner::{load_pending_approvals, run_turn};

/// A request for a turn: messages, approval responses or results; sent with [`call`](Self::call), [`stream`](Self::stream) or
/// [`extract`](Self::extract).
///
/// # Cancellation
///
/// Dropping the future or the stream cancels the request to the model and the calls that run. Entries that were appended to
/// the journal stay, and the next request of the conversation continues from them.
#[derive(Clone)]
#[must_use = "nothing is sent until `call`, `stream` or `extract`"]
pub struct TurnRequest {
    pub(crate) chat: Chat,
    pub(crate) options: TurnOptions,
    pub(crate) conversation: Option<String>,
    /// The journal of the response that this request follows, unless it has to be read from a store.
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) inputs: Vec<TurnInput>,
    /// The tools, out of those of the chat and its resolvers and those that the request adds.
    pub(crate) selection: ToolSelection,
    /// The names of tools to add, from the registry or a resolver.
    pub(crate) added_names: Vec<String>,
    /// Decides which tools of the chat the caller may use; all, if `None`.
    pub(crate) is_allowed: Option<Arc<ToolPredicate>>,
    pub(crate) scope: CallScope,
    /// Recorded with every message and approval.
    pub(crate) principal: Option<PrincipalRecord>,
    pub(crate) cancel: CancellationToken,
    pub(crate) response_format: Option<ResponseFormat>,
    /// Changes the messages of each request to the model.
    pub(crate) map_messages: Option<Arc<MessagesMap>>,
    /// The lease of the conversation, if the caller holds it.
    pub(crate) held_lease: Option<Arc<HeldLease>>,
    /// The inbox item that the messages or approval responses are taken from.
    pub(crate) inbox_item: Option<InboxItem>,
    /// The id of the entry that the messages follow.
    pub(crate) after: Option<String>,
}

/// One input of a turn.
#[derive(Clone)]
pub(crate) enum TurnInput {
    /// An [`EntryBody::User`] or [`EntryBody::Assistant`].
    Message(EntryBody),
    Prompt {
        name: String,
        arguments: Value,
    },
    Results(Vec<ToolResult>),
    Approvals(Vec<ApprovalResponse>),
}

impl TurnInput {
    /// Returns true if the input is a message, which starts a turn; the others resume one.
    pub(crate) fn is_message(&self) -> bool {
        !matches!(self, Self::Results(_) | Self::Approvals(_))
    }
}

/// Returns true if a tool may be used.
type ToolPredicate = dyn Fn(&ToolSpec) -> bool + Send + Sync;

type MessagesMap = dyn Fn(Vec<Message>) -> Vec<Message> + Send + Sync;

toolwright_core::delegate_tool_selection!(TurnRequest);

impl TurnRequest {
    pub(crate) fn new(chat: Chat) -> Self {
        Self {
            options: chat.0.options.clone(),
            chat,
            conversation: None,
            journal: None,
            inputs: Vec::new(),
            selection: ToolSelection::default(),
            added_names: Vec::new(),
            is_allowed: None,
            scope: CallScope::new(),
            principal: None,
            cancel: CancellationToken::new(),
            response_format: None,
            map_messages: None,
            held_lease: None,
            inbox_item: None,
            after: None,
        }
    }

    /// Adds a user message: a text, or a list of texts, images and other content.
    pub fn user(self, content: impl Into<ContentList>) -> Self {
        self.message_in_role(Role::User, content)
    }

    /// Adds an assistant message that the model did not write.
    pub fn assistant(self, content: impl Into<ContentList>) -> Self {
        self.message_in_role(Role::Assistant, content)
    }

    /// Adds a message of the user, or one of the assistant that the model did not write.
    pub fn message_in_role(mut self, role: Role, content: impl Into<ContentList>) -> Self {
        let message = EntryBody::message(role, content.into().into());
        self.inputs.push(TurnInput::Message(message));
        self
    }

    /// Adds a prompt of the registry, rendered with these arguments, as a message of its role.
    pub fn prompt_named(mut self, name: impl Into<String>, arguments: impl Serialize) -> Self {
        let name = name.into();
        // Arguments that cannot be JSON become `null`, which is rejected when the prompt is rendered.
        let arguments = serde_json::to_value(arguments).unwrap_or_default();
        self.inputs.push(TurnInput::Prompt { name, arguments });
        self
    }

    /// Sets the system prompt, in place of the chat's.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.options.system = Some(system.into());
        self
    }

    /// Sets the name of the stored conversation, which is created if it does not exist; without it, nothing is stored.
    pub fn conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// Continues the conversation after the entry of this id, the end of a turn, instead of the newest; an empty id begins
    /// again before the first one. What follows that entry stays in the journal, as another branch.
    pub fn after(mut self, entry: impl Into<String>) -> Self {
        self.after = Some(entry.into());
        self
    }

    /// Runs the turn with a lease that the caller holds and renews, instead of acquiring it.
    pub fn held_lease(mut self, lease: Arc<HeldLease>) -> Self {
        self.held_lease = Some(lease);
        self
    }

    /// Removes this item from the inbox of the conversation when its messages or decisions are appended to the journal.
    pub fn inbox_item(mut self, item: InboxItem) -> Self {
        self.inbox_item = Some(item);
        self
    }

    /// Sets the model, in place of the chat's.
    pub fn model(mut self, model: impl Model) -> Self {
        self.options.model = Arc::new(model);
        self
    }

    /// Adds the tools of these names that a [`ToolResolver`](crate::ToolResolver) has.
    pub fn tools_named<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.added_names.extend(names.into_iter().map(Into::into));
        self
    }

    /// Offers only the tools of the chat and its resolvers that `allowed` accepts, in addition to earlier filters; tools that
    /// this request adds are not filtered.
    ///
    /// The filter is applied to the tools of the registry when the turn begins, not when this is called.
    pub fn allow(mut self, allowed: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        self.is_allowed = Some(match self.is_allowed.take() {
            None => Arc::new(allowed),
            Some(earlier) => Arc::new(move |spec: &ToolSpec| earlier(spec) && allowed(spec)),
        });
        self
    }

    /// Sets whether the model must call a tool; applies to the first step of the turn.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.options.tool_choice = choice;
        self
    }

    /// Sets when the model searches for tools, in place of the chat's setting.
    pub fn tool_search(mut self, search: impl Into<ToolSearch>) -> Self {
        self.options.tool_search = search.into();
        self
    }

    /// Sets the sampling options of the request to the model.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options.model_options = options;
        self
    }

    /// Sets the limits of the turn.
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Changes the messages of each request to the model, for a client that sends the history itself; the journal does not have
    /// what it adds.
    pub fn map_messages(
        mut self,
        change: impl Fn(Vec<Message>) -> Vec<Message> + Send + Sync + 'static,
    ) -> Self {
        self.map_messages = Some(Arc::new(change));
        self
    }

    /// Lets no model be called whose price is not known: its cost is limited outside of the turn.
    pub fn require_price(mut self) -> Self {
        self.options.requires_price = true;
        self
    }

    /// Sets the window of history that is sent to the model.
    pub fn window(mut self, window: HistoryWindow) -> Self {
        self.options.window = window;
        self
    }

    /// Requires approval of every call, whatever the policy of its tool.
    pub fn ask_before_each_call(mut self) -> Self {
        self.options.approve_every_call = true;
        self
    }

    /// Runs no tool: the response has the calls, and [`Response::submit_results`] takes their results.
    pub fn manual_calls(mut self) -> Self {
        self.options.manual_calls = true;
        self
    }

    /// Sets the caller that tools are called for.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.scope = self.scope.caller(caller);
        self
    }

    /// Records this principal with every message and approval response of the request.
    ///
    /// A response of another principal than the one whose message started the turn is rejected, and changes nothing.
    pub fn principal(mut self, principal: Option<PrincipalRecord>) -> Self {
        self.principal = principal;
        self
    }

    /// Ends the turn when the token is cancelled, and records that in the journal.
    pub fn cancel_on(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Adds responses about the calls that wait for approval.
    pub fn approval_responses(mut self, responses: Vec<ApprovalResponse>) -> Self {
        self.inputs.push(TurnInput::Approvals(responses));
        self
    }

    pub(crate) fn call_results(mut self, results: Vec<ToolResult>) -> Self {
        self.inputs.push(TurnInput::Results(results));
        self
    }

    /// Runs the turn, and returns its response.
    ///
    /// # Errors
    ///
    /// When the request is invalid, the model or the store failed, or the turn was ended by a limit or a fatal error. A turn
    /// that waits for approvals or results is no error: see [`Response::pending_approvals`] and [`Response::calls`].
    pub async fn call(self) -> Result<Response, ChatError> {
        run_turn(Box::new(self), EventSender::disabled()).await
    }

    /// Returns the approvals that the stored conversation waits for, as its journal has them; empty if its turn does not wait.
    ///
    /// The turn is not resumed, so this needs no lease: any node may read what another one has asked.
    ///
    /// # Errors
    ///
    /// When the store or the tools cannot be read.
    pub async fn pending_approvals(self) -> Result<Vec<PendingApproval>, ChatError> {
        load_pending_approvals(Box::new(self)).await
    }
}
