//! Handles the requests and notifications of a server: elicitations, progress, changed lists.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as SyncMutex};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorCode, ErrorData, ExtensionCapabilities, FormElicitationCapability,
    Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion, RequestId,
    SamplingCapability, TASKS_EXTENSION_ID, UrlElicitationCapability,
};
#[expect(deprecated, reason = "older servers request sampling")]
use rmcp::model::{CreateMessageRequestParams, CreateMessageResult};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use toolwright_core::__internal::program;
use toolwright_core::{ErrorKind, Outcome, Progress, ToolResult};

use crate::client::catalogue::remote_call::question::Question;
use crate::client::elicit::{ElicitHandler, answer_elicitation};
use crate::client::setup::validated_server::ValidatedServer;
use crate::import::sanitize;
use crate::lock::lock;

/// The code of the error if the user rejects a request for a model's message.
const REJECTED_BY_USER: ErrorCode = ErrorCode(-1);

/// Longer progress messages are truncated.
const MAX_MESSAGE_BYTES: usize = 1 << 10;

/// The state of one connection's handler.
pub(crate) struct HandlerState {
    server: Arc<str>,
    elicit: Option<Arc<dyn ElicitHandler>>,
    /// Elicitations are answered one at a time, since there is one user.
    elicit_permit: Semaphore,
    /// The receivers of progress. Locked while a call is sent, so that none of its progress is missed.
    pub(crate) progress: Mutex<HashMap<ProgressToken, Progress>>,
    /// Notified when the server's lists have changed.
    pub(crate) list_changed: Arc<Notify>,
    revision: ProtocolVersion,
    /// True if the person is asked whose turn has made the call.
    asks_callers: bool,
    /// The requests in flight whose callers can be asked.
    callers: SyncMutex<Vec<QuestionSender>>,
}

/// A question of the server, for the caller of a request in flight.
pub(crate) struct AskedQuestion {
    /// The arguments of the tool that asks.
    pub(crate) question: Value,
    /// Receives the result of that tool.
    pub(crate) reply: oneshot::Sender<ToolResult>,
}

/// Sends questions to the caller of a request in flight.
struct QuestionSender {
    request: RequestId,
    /// The same for all calls of one person in one conversation.
    owner: String,
    sender: mpsc::UnboundedSender<AskedQuestion>,
}

impl HandlerState {
    pub(crate) fn new(config: &ValidatedServer, list_changed: &Arc<Notify>) -> Arc<Self> {
        let newest = ProtocolVersion::LATEST_WITH_INITIALIZE;
        Arc::new(Self {
            server: Arc::clone(&config.name),
            elicit: config.elicit.clone(),
            elicit_permit: Semaphore::new(1),
            progress: Mutex::default(),
            list_changed: Arc::clone(list_changed),
            revision: config.revision.clone().unwrap_or(newest),
            asks_callers: config.call_states.is_some() && config.elicit.is_none(),
            callers: SyncMutex::default(),
        })
    }

    /// Returns true if the person is asked whose turn has made the call.
    pub(crate) fn asks_callers(&self) -> bool {
        self.asks_callers
    }

    /// Receives the questions that the server asks before it answers a request.
    pub(crate) fn receive_questions(
        &self,
        request: RequestId,
        owner: &str,
    ) -> mpsc::UnboundedReceiver<AskedQuestion> {
        let (sender, questions) = mpsc::unbounded_channel();
        if self.asks_callers {
            let owner = owner.to_owned();
            lock(&self.callers).push(QuestionSender { request, owner, sender });
        }
        questions
    }

    pub(crate) fn forget_questions(&self, request: &RequestId) {
        lock(&self.callers).retain(|caller| caller.request != *request);
    }

    /// Asks the caller of a request in flight; `None` if it is not known whose call the question is about.
    async fn ask_caller(&self, question: Value, origin: Option<RequestId>) -> Option<ToolResult> {
        let (reply, result) = oneshot::channel();
        {
            let callers = lock(&self.callers);
            let caller = match &origin {
                Some(origin) => callers.iter().find(|caller| caller.request == *origin),
                None => {
                    // A question must not reach a person whose call it is not about.
                    let is_of_one = |last: &&QuestionSender| {
                        callers.iter().all(|caller| caller.owner == last.owner)
                    };
                    callers.last().filter(is_of_one)
                }
            };
            let Some(caller) = caller else {
                let server = &*self.server;
                tracing::warn!(
                    server,
                    "a question of an MCP server is declined: it is not known whose call it is about"
                );
                return None;
            };
            caller.sender.send(AskedQuestion { question, reply }).ok()?;
        }
        // The call was given up before the answer.
        let given_up = || ToolResult::from_outcome(Outcome::Cancelled, ErrorKind::Failed, "");
        Some(result.await.unwrap_or_else(|_| given_up()))
    }

    pub(crate) async fn answer_elicitation(&self, params: ElicitRequestParams) -> ElicitResult {
        // The semaphore is never closed, so this does not fail.
        let _permit = self.elicit_permit.acquire().await;
        answer_elicitation(self.elicit.as_deref(), &self.server, params).await
    }
}

/// The handler that rmcp calls.
pub(crate) struct McpClientHandler(pub(crate) Arc<HandlerState>);

impl ClientHandler for McpClientHandler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let tasks = (TASKS_EXTENSION_ID.to_owned(), Default::default());
        capabilities.extensions = Some(ExtensionCapabilities::from([tasks]));
        if self.0.asks_callers {
            capabilities.sampling = Some(SamplingCapability::default());
        }
        if self.0.elicit.is_some() || self.0.asks_callers {
            let form = FormElicitationCapability::new().with_schema_validation(true);
            let elicitation = ElicitationCapability::new()
                .with_form(form)
                .with_url(UrlElicitationCapability::default());
            capabilities.elicitation = Some(elicitation);
        }
        let (name, version) = program();
        let implementation = Implementation::new(name, version);
        ClientConfig::new(capabilities, implementation)
            .with_protocol_version(self.0.revision.clone())
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        if !self.0.asks_callers {
            return Ok(self.0.answer_elicitation(params).await);
        }
        let declined = ElicitResult::new(ElicitationAction::Decline);
        let Some(question) = Question::from_elicitation(params) else {
            return Ok(declined);
        };
        let result = self.0.ask_caller(question.arguments(), origin_of(&context)).await;
        Ok(result.map_or(declined, |result| question.elicit_result(&result)))
    }

    #[expect(deprecated, reason = "older servers request it")]
    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let rejected = |reason: String| ErrorData::new(REJECTED_BY_USER, reason, None);
        let question = Question::from_sampling(&params);
        let result = self.0.ask_caller(question.arguments(), origin_of(&context)).await;
        let result = result.ok_or_else(|| rejected("there is nobody to ask".to_owned()))?;
        let message = question.sampled_message(&result).map_err(rejected)?;
        serde_json::from_value(message).map_err(|error| rejected(error.to_string()))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let receivers = self.0.progress.lock().await;
        if let Some(receiver) = receivers.get(&progress.progress_token).cloned() {
            drop(receivers);
            let message = progress.message.map(|message| sanitize(&message, MAX_MESSAGE_BYTES));
            receiver.forward(Some(progress.progress), progress.total, message);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.list_changed.notify_one();
    }
}

/// The request in flight on whose stream a request of the server came, if the transport has streams.
fn origin_of(context: &RequestContext<RoleClient>) -> Option<RequestId> {
    match context.extensions.get::<InboundStreamOrigin>()? {
        InboundStreamOrigin::OutboundRequest(id) => Some(id.clone()),
        InboundStreamOrigin::Unassociated => None,
    }
}
