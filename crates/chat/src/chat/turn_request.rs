//! A prompt under construction: what is said, with which tools, on whose behalf.

use serde::Serialize;
use serde_json::Value;
use toolwright_core::{
    Bundle, BundleItem, CallScope, Caller, CancellationToken, Content, ContentList, Role,
    ToolResult, ToolSpec,
};

use std::sync::Arc;

use crate::chat::event::ApprovalResponse;
use crate::chat::response::Response;
use crate::chat::stream::{ChatStream, EventSender};
use crate::chat::{Chat, TurnOptions};
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::store::owner::PrincipalRecord;
use crate::journal::window::HistoryWindow;
use crate::model::{Model, ModelOptions, ResponseFormat, ToolChoice};
use crate::turn::TurnLimits;
use crate::turn::runner::run_turn;

/// A prompt; sent with [`call`](Ask::call), [`stream`](Ask::stream) or [`extract`](Ask::extract).
///
/// # Cancellation
///
/// Dropping the future or the stream cancels the request and the calls that run. What was told to the journal until then
/// stays, and the next turn of the conversation takes it from there.
#[derive(Clone)]
#[must_use = "nothing is asked until `call`, `stream` or `extract`"]
pub struct TurnRequest {
    pub(crate) chat: Chat,
    pub(crate) options: TurnOptions,
    pub(crate) conversation: Option<String>,
    /// The journal it goes on with, where it need not be read from a store.
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) inputs: Vec<TurnInput>,
    pub(crate) selection: ToolSelection,
    pub(crate) scope: CallScope,
    /// Recorded with every message and decision.
    pub(crate) principal: Option<PrincipalRecord>,
    pub(crate) cancel: CancellationToken,
    pub(crate) response_format: Option<ResponseFormat>,
}

/// How a prompt opens.
#[derive(Clone)]
pub(crate) enum TurnInput {
    User(Vec<Content>),
    Assistant(Vec<Content>),
    Prompt { name: String, arguments: Value },
    Results(Vec<ToolResult>),
    Approvals(Vec<ApprovalResponse>),
}

impl TurnInput {
    /// Whether something new is said: then no turn goes on.
    pub(crate) fn is_message(&self) -> bool {
        !matches!(self, Self::Results(_) | Self::Approvals(_))
    }
}

/// Which tools a prompt comes with.
#[derive(Clone, Default)]
pub(crate) struct ToolSelection {
    pub(crate) added: Vec<BundleItem>,
    /// Only what was added.
    pub(crate) only_added: bool,
    pub(crate) names: Vec<String>,
    pub(crate) bundles: Vec<String>,
    pub(crate) excluded: Vec<String>,
    /// Whether the caller may use a tool of the chat.
    pub(crate) is_allowed: Option<Arc<ToolPredicate>>,
}

/// Returns true if a tool may be used.
type ToolPredicate = dyn Fn(&ToolSpec) -> bool + Send + Sync;

impl TurnRequest {
    pub(crate) fn new(chat: Chat) -> Self {
        Self {
            options: chat.0.options.clone(),
            chat,
            conversation: None,
            journal: None,
            inputs: Vec::new(),
            selection: ToolSelection::default(),
            scope: CallScope::new(),
            principal: None,
            cancel: CancellationToken::new(),
            response_format: None,
        }
    }

    /// Says something: a text, or a list of texts, pictures and the like.
    pub fn user(mut self, said: impl Into<ContentList>) -> Self {
        self.inputs.push(TurnInput::User(said.into().into()));
        self
    }

    /// Puts words into the model's mouth.
    pub fn assistant(mut self, said: impl Into<ContentList>) -> Self {
        self.inputs.push(TurnInput::Assistant(said.into().into()));
        self
    }

    /// Inserts a prompt of the registry, rendered with these arguments, in its role.
    pub fn prompt_named(mut self, name: impl Into<String>, arguments: impl Serialize) -> Self {
        let name = name.into();
        // What cannot be JSON is refused when the prompt is rendered: its arguments are no object.
        let arguments = serde_json::to_value(arguments).unwrap_or_default();
        self.inputs.push(TurnInput::Prompt { name, arguments });
        self
    }

    /// Says what the model should keep to, in place of what the chat says.
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.options.system = Some(system.into());
        self
    }

    /// Goes on with a conversation, or begins one under this name; without, nothing is kept after the answer.
    pub fn conversation(mut self, id: impl Into<String>) -> Self {
        self.conversation = Some(id.into());
        self
    }

    /// Asks another model.
    pub fn model(mut self, model: impl Model) -> Self {
        self.options.model = Arc::new(model);
        self
    }

    /// Adds tools that only this prompt has.
    pub fn tools(mut self, bundle: impl Bundle) -> Self {
        self.selection.added.extend(bundle.into_items());
        self
    }

    /// Leaves only these tools.
    pub fn only_tools(mut self, bundle: impl Bundle) -> Self {
        self.selection.only_added = true;
        self.tools(bundle)
    }

    /// Leaves only the tools of these names, from the registry or from whoever resolves them.
    pub fn only_tools_named<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.selection
            .names
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// Leaves only the tools of these bundles.
    pub fn bundles<N: Into<String>>(mut self, bundles: impl IntoIterator<Item = N>) -> Self {
        self.selection
            .bundles
            .extend(bundles.into_iter().map(Into::into));
        self
    }

    /// Leaves these tools out, whatever else is said.
    pub fn exclude<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.selection
            .excluded
            .extend(names.into_iter().map(Into::into));
        self
    }

    /// Leaves only the tools of the chat that `allowed` accepts; tools that this prompt adds are not asked about.
    ///
    /// The test is applied to the tools that are there when the turn begins, not when this is called.
    pub fn allow(mut self, allowed: impl Fn(&ToolSpec) -> bool + Send + Sync + 'static) -> Self {
        self.selection.is_allowed = Some(Arc::new(allowed));
        self
    }

    /// Says whether a tool must be called; after its results, the model answers as it sees fit.
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.options.tool_choice = choice;
        self
    }

    /// Says how the model answers.
    pub fn model_options(mut self, options: ModelOptions) -> Self {
        self.options.model_options = options;
        self
    }

    /// Says how far the turn may go.
    pub fn limits(mut self, limits: TurnLimits) -> Self {
        self.options.limits = limits;
        self
    }

    /// Says how much of the conversation the model is told.
    pub fn window(mut self, window: HistoryWindow) -> Self {
        self.options.window = window;
        self
    }

    /// Has every call approved, whatever the tools say.
    pub fn ask_before_each_call(mut self) -> Self {
        self.options.approve_every_call = true;
        self
    }

    /// Runs no tool: the response has the calls, and [`Response::resume`] takes their results.
    pub fn manual_calls(mut self) -> Self {
        self.options.manual_calls = true;
        self
    }

    /// Says on whose behalf tools are called.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.scope = self.scope.caller(caller);
        self
    }

    /// Records this principal with every message and decision of the prompt.
    ///
    /// A decision of another principal than the one whose message began the turn is refused, and changes nothing.
    pub fn principal(mut self, principal: Option<PrincipalRecord>) -> Self {
        self.principal = principal;
        self
    }

    /// Ends the turn when the token is cancelled, and tells the journal so.
    pub fn cancel_on(mut self, token: CancellationToken) -> Self {
        self.cancel = token;
        self
    }

    /// Brings decisions about the calls that the turn waits for.
    pub fn approval_responses(mut self, decided: Vec<ApprovalResponse>) -> Self {
        self.inputs.push(TurnInput::Approvals(decided));
        self
    }

    pub(crate) fn call_results(mut self, results: Vec<ToolResult>) -> Self {
        self.inputs.push(TurnInput::Results(results));
        self
    }

    pub(crate) fn message_in_role(role: Role, text: String) -> TurnInput {
        let content = vec![Content::text(text)];
        match role {
            Role::User => TurnInput::User(content),
            _ => TurnInput::Assistant(content),
        }
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    ///
    /// When nothing could be asked, the model failed, or the turn was ended by a limit or a fatal error. A turn that waits
    /// for a decision or for results is no error: see [`Response::asked`] and [`Response::calls`].
    pub async fn call(self) -> Result<Response, ChatError> {
        run_turn(self, EventSender::disabled()).await
    }

    /// Asks, and streams what happens.
    pub fn stream(self) -> ChatStream {
        ChatStream::new(self)
    }
}
