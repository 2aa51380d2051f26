//! Arguments that are valid in, whatever becomes of them at the server out: always a result, never a hang of ours.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ErrorData, GetPromptRequest, GetPromptRequestParams, InputRequest,
    InputRequiredResult, InputResponses, ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value, json};
use toolwright_core::schema::Schema;
use toolwright_core::{ErrorKind, HandlerContext, Outcome, Progress, ToolResult};

use crate::client::connection::error_map::{TransportFailure, describe_service_error};
use crate::client::connection::shared_connection::{LiveConnection, SharedConnection};
use crate::import::{convert_raw_result, convert_result, excerpt, prompt_text};

/// How often a server may ask for more before it answers.
const MAX_INPUT_ROUNDS: usize = 10;

/// How long to wait before asking a server again that only wants to be asked again.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// How long telling a server that nobody waits any more may take.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// What is asked of a server.
pub(crate) struct RemoteCall {
    pub(crate) kind: CallKind,
    /// The name that the server knows.
    pub(crate) name: String,
}

pub(crate) enum CallKind {
    /// What the tool declares to return goes with it.
    Tool(Option<Schema>),
    Prompt,
}

impl RemoteCall {
    fn build_request(&self, arguments: Map<String, Value>, more: InputRound) -> ClientRequest {
        match self.kind {
            CallKind::Tool(_) => {
                let mut params = CallToolRequestParams::new(self.name.clone());
                params.arguments = Some(arguments);
                (params.input_responses, params.request_state) = (more.responses, more.state);
                CallToolRequest::new(params).into()
            }
            CallKind::Prompt => {
                let mut params = GetPromptRequestParams::new(self.name.clone());
                params.arguments = Some(arguments);
                (params.input_responses, params.request_state) = (more.responses, more.state);
                GetPromptRequest::new(params).into()
            }
        }
    }

    /// Asks the server, in as many rounds as it needs.
    pub(crate) async fn run(
        &self,
        link: Arc<SharedConnection>,
        arguments: Map<String, Value>,
        cx: HandlerContext,
    ) -> ToolResult {
        let live = match link.connected() {
            Ok(live) => live,
            Err(why) => return ToolResult::failure(why),
        };
        let mut more = InputRound::default();
        for _ in 0..MAX_INPUT_ROUNDS {
            let request = self.build_request(arguments.clone(), more);
            let started = Instant::now();
            let answer = send_cancellable(&live, request, cx.progress().clone()).await;
            match answer {
                Ok(ServerResult::InputRequiredResult(wanted)) => {
                    more = match collect_input_responses(&live, wanted).await {
                        Ok(more) => more,
                        Err(why) => return self.server_failure(&link, &why),
                    };
                }
                Ok(answer) => {
                    link.record_latency(started.elapsed());
                    return self.parse_response(&link, answer);
                }
                Err(error) => return self.transport_failure(&link, &live, error),
            }
        }
        self.server_failure(
            &link,
            &format!("still asks for more after {MAX_INPUT_ROUNDS} rounds"),
        )
    }

    fn parse_response(&self, link: &SharedConnection, answer: ServerResult) -> ToolResult {
        match (&self.kind, answer) {
            (CallKind::Tool(output), ServerResult::CallToolResult(sent)) => {
                convert_result(sent, output.as_ref())
            }
            (CallKind::Prompt, ServerResult::GetPromptResult(sent)) => {
                ToolResult::success(prompt_text(&sent))
            }
            (CallKind::Tool(output), ServerResult::CustomResult(sent)) => {
                convert_raw_result(&sent.0, output.as_ref()).unwrap_or_else(|| {
                    self.server_failure(link, "sent something that is no result")
                })
            }
            (_, ServerResult::CreateTaskResult(_)) => {
                self.server_failure(link, "made a task of the call, which it was not asked to")
            }
            _ => self.server_failure(link, "sent something that is no result"),
        }
    }

    fn server_failure(&self, link: &SharedConnection, why: &str) -> ToolResult {
        ToolResult::failure(format!("the MCP server `{}` {why}", link.server))
    }

    /// Tells what became of a call that was not answered, and whether it may have run.
    fn transport_failure(
        &self,
        link: &SharedConnection,
        live: &Arc<LiveConnection>,
        error: ServiceError,
    ) -> ToolResult {
        let server = &link.server;
        match error {
            ServiceError::McpError(error) => rejected(server, &error),
            ServiceError::TransportSend(error) => {
                let lost = TransportFailure::from_error(error.error.as_ref());
                if lost.is_broken {
                    link.mark_broken(live, &lost.message);
                }
                let told = format!("the MCP server `{server}` did not answer: {}", lost.message);
                match lost.may_have_run {
                    false => ToolResult::failure(told),
                    true => outcome_unknown(told),
                }
            }
            ServiceError::TransportClosed => {
                link.mark_broken(live, "it closed the connection");
                outcome_unknown(format!(
                    "the MCP server `{server}` closed the connection before it answered; whether the call ran is not known"
                ))
            }
            other => self.server_failure(
                link,
                &format!("did not answer: {}", describe_service_error(&other)),
            ),
        }
    }
}

fn outcome_unknown(told: String) -> ToolResult {
    ToolResult::from_outcome(Outcome::OutcomeUnknown, ErrorKind::Failed, told)
}

fn rejected(server: &str, error: &ErrorData) -> ToolResult {
    let (code, message) = (error.code.0, excerpt(&error.message));
    ToolResult::failure(format!(
        "the MCP server `{server}` refused the call: {message} ({code})"
    ))
}

/// What a server wants to see again.
#[derive(Default)]
struct InputRound {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// Provides what a server wants before it answers.
async fn collect_input_responses(
    live: &LiveConnection,
    wanted: InputRequiredResult,
) -> Result<InputRound, String> {
    let requests = wanted.input_requests.unwrap_or_default();
    if requests.is_empty() {
        if wanted.request_state.is_none() {
            return Err("asks for more, but not for what".to_owned());
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        let response = match request {
            InputRequest::Elicitation(asked) => {
                serde_json::to_value(live.handler_state.answer_elicitation(asked.params).await)
            }
            // There is nothing of ours that it may look at.
            InputRequest::ListRoots(_) => Ok(json!({"roots": []})),
            _ => return Err("asks for a model's answer, which it does not get here".to_owned()),
        };
        responses.insert(key, response.unwrap_or_default());
    }
    Ok(InputRound {
        responses: (!responses.is_empty()).then_some(responses),
        state: wanted.request_state,
    })
}

async fn send_cancellable(
    live: &Arc<LiveConnection>,
    request: ClientRequest,
    progress: Progress,
) -> Result<ServerResult, ServiceError> {
    let mut waiting = live.handler_state.progress.lock().await;
    let options = PeerRequestOptions::no_options();
    let handle = live.peer.send_request_with_option(request, options).await?;
    waiting.insert(handle.progress_token.clone(), progress);
    drop(waiting);
    let mut sent = CancelOnDrop {
        live: Arc::clone(live),
        id: handle.id.clone(),
        token: handle.progress_token.clone(),
        is_answered: false,
    };
    let answer = handle.await_response().await;
    sent.is_answered = true;
    answer
}

/// A request under way: given up, its server is told so.
struct CancelOnDrop {
    live: Arc<LiveConnection>,
    id: RequestId,
    token: ProgressToken,
    is_answered: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (live, token) = (Arc::clone(&self.live), self.token.clone());
        let given_up = (!self.is_answered).then(|| {
            let reason = Some("nobody waits for it any more".to_owned());
            CancelledNotification::new(CancelledNotificationParam::new(
                Some(self.id.clone()),
                reason,
            ))
        });
        runtime.spawn(async move {
            live.handler_state.progress.lock().await.remove(&token);
            if let Some(given_up) = given_up {
                // A server that reads nothing does not read this either.
                let told = live.peer.send_notification(given_up.into());
                let _ = tokio::time::timeout(CANCEL_TIMEOUT, told).await;
            }
        });
    }
}
