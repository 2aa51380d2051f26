//! Valid arguments in, the result of the server's tool or prompt out; every failure is a result too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, GetPromptRequest, GetPromptRequestParams, InputRequest, InputRequiredResult,
    InputResponses, ProgressToken, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Map, Value, json};
use toolwright_core::schema::Schema;
use toolwright_core::{HandlerContext, Outcome, Progress, ToolName, ToolResult};

use crate::client::connection::RemotePeer;
use crate::client::connection::error_map::{TransportFailure, describe_service_error};
use crate::client::connection::shared_connection::SharedConnection;
use crate::import::{convert_result, excerpt, prompt_text};

/// The number of rounds in which a server may request input.
const MAX_INPUT_ROUNDS: usize = 10;

/// The pause before a request is repeated for a server that requests no input, only another round.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// The timeout of a cancellation notification.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// A call of a server's tool or prompt.
pub(crate) struct RemoteCall {
    pub(crate) is_prompt: bool,
    /// The server's name of it.
    pub(crate) name: String,
    /// The output schema of a tool.
    pub(crate) output: Option<Schema>,
}

impl RemoteCall {
    fn build_request(&self, arguments: Map<String, Value>, round: InputRound) -> ClientRequest {
        if self.is_prompt {
            let mut params = GetPromptRequestParams::new(self.name.clone());
            params.arguments = Some(arguments);
            (params.input_responses, params.request_state) = (round.responses, round.state);
            return GetPromptRequest::new(params).into();
        }
        let mut params = CallToolRequestParams::new(self.name.clone());
        params.arguments = Some(arguments);
        (params.input_responses, params.request_state) = (round.responses, round.state);
        CallToolRequest::new(params).into()
    }

    /// Calls the server. If the login has ended, calls `login_tool`, and then the server again.
    pub(crate) async fn run_with_login(
        &self,
        link: &SharedConnection,
        arguments: Map<String, Value>,
        cx: &HandlerContext,
        login_tool: Option<&ToolName>,
    ) -> ToolResult {
        let result = match self.run(link, arguments.clone(), cx).await {
            Ok(result) => return result,
            Err(LoginNeeded(result)) => result,
        };
        let Some(login_tool) = login_tool else {
            return result;
        };
        // The server has rejected the request, so the call has had no effect. A turn pauses here, and makes the call again.
        let login = cx.tools().call_before_effect(login_tool.clone(), json!({})).await;
        if login.is_error() {
            let reason = format!("{}\n{}", result.text(), login.text());
            return ToolResult::failure(reason);
        }
        let again = self.run(link, arguments, cx).await;
        again.unwrap_or_else(|LoginNeeded(result)| result)
    }

    /// Calls the server, in several rounds if it requests input.
    async fn run(
        &self,
        link: &SharedConnection,
        arguments: Map<String, Value>,
        cx: &HandlerContext,
    ) -> Result<ToolResult, LoginNeeded> {
        let remote = match link.connected() {
            Ok(remote) => remote,
            Err(reason) => return Ok(ToolResult::failure(reason)),
        };
        let mut round = InputRound::default();
        for number in 0..MAX_INPUT_ROUNDS {
            let request = self.build_request(arguments.clone(), round);
            let started = Instant::now();
            let response = send_cancellable(&remote, request, cx.progress().clone()).await;
            match response {
                Ok(ServerResult::InputRequiredResult(required)) => {
                    round = match collect_input_responses(&remote, required).await {
                        Ok(round) => round,
                        Err(reason) => return Ok(server_failure(link, &reason)),
                    };
                }
                Ok(response) => {
                    link.record_latency(started.elapsed());
                    return Ok(self.parse_response(link, response));
                }
                Err(error) => {
                    // In a later round, the call has begun.
                    let needs_login = number == 0 && needs_login(&error);
                    let result = transport_failure(link, &remote, error);
                    return if needs_login { Err(LoginNeeded(result)) } else { Ok(result) };
                }
            }
        }
        let reason = format!("still asks for more after {MAX_INPUT_ROUNDS} rounds");
        Ok(server_failure(link, &reason))
    }

    fn parse_response(&self, link: &SharedConnection, response: ServerResult) -> ToolResult {
        let output = self.output.as_ref();
        let result = match (self.is_prompt, response) {
            (false, ServerResult::CallToolResult(result)) => {
                serde_json::to_value(result).ok().and_then(|result| convert_result(result, output))
            }
            (false, ServerResult::CustomResult(result)) => convert_result(result.0, output),
            (true, ServerResult::GetPromptResult(result)) => {
                Some(ToolResult::success(prompt_text(&result)))
            }
            (_, ServerResult::CreateTaskResult(_)) => {
                let reason = "made a task of the call, which it was not asked to";
                return server_failure(link, reason);
            }
            _ => None,
        };
        result.unwrap_or_else(|| server_failure(link, "sent something that is no result"))
    }
}

/// The failure of a call that the server has rejected, because a person has to log in first.
struct LoginNeeded(ToolResult);

fn needs_login(error: &ServiceError) -> bool {
    match error {
        ServiceError::TransportSend(error) => {
            TransportFailure::from_error(error.error.as_ref()).needs_login
        }
        _ => false,
    }
}

fn server_failure(link: &SharedConnection, reason: &str) -> ToolResult {
    ToolResult::failure(format!("the MCP server `{}` {reason}", link.server))
}

/// The result of a call without a response; it reports whether the call may have run.
fn transport_failure(
    link: &SharedConnection,
    remote: &Arc<RemotePeer>,
    error: ServiceError,
) -> ToolResult {
    let (reason, may_have_run) = match error {
        ServiceError::McpError(error) => {
            let (code, message) = (error.code.0, excerpt(&error.message));
            (format!("refused the call: {message} ({code})"), false)
        }
        ServiceError::TransportSend(error) => {
            let failure = TransportFailure::from_error(error.error.as_ref());
            if failure.is_broken {
                link.mark_broken(remote, &failure.message);
            }
            (format!("did not answer: {}", failure.message), failure.may_have_run)
        }
        ServiceError::TransportClosed => {
            link.mark_broken(remote, "it closed the connection");
            let reason =
                "closed the connection before it answered; whether the call ran is not known";
            (reason.to_owned(), true)
        }
        other => (format!("did not answer: {}", describe_service_error(&other)), false),
    };
    let mut result = server_failure(link, &reason);
    if may_have_run {
        result.outcome = Outcome::OutcomeUnknown;
    }
    result
}

/// The answers of a round, and the state to send back with them.
#[derive(Default)]
struct InputRound {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// Answers the requests for input of a server.
async fn collect_input_responses(
    remote: &RemotePeer,
    required: InputRequiredResult,
) -> Result<InputRound, String> {
    let requests = required.input_requests.unwrap_or_default();
    if requests.is_empty() {
        if required.request_state.is_none() {
            return Err("asks for more, but not for what".to_owned());
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        let response = match request {
            InputRequest::Elicitation(elicitation) => {
                let handler = &remote.handler_state;
                serde_json::to_value(handler.answer_elicitation(elicitation.params).await)
            }
            // No folders are shared with the server.
            InputRequest::ListRoots(_) => Ok(json!({"roots": []})),
            _ => return Err("asks for a model's answer, which it does not get here".to_owned()),
        };
        responses.insert(key, response.unwrap_or_default());
    }
    Ok(InputRound {
        responses: (!responses.is_empty()).then_some(responses),
        state: required.request_state,
    })
}

async fn send_cancellable(
    remote: &Arc<RemotePeer>,
    request: ClientRequest,
    progress: Progress,
) -> Result<ServerResult, ServiceError> {
    let mut receivers = remote.handler_state.progress.lock().await;
    let options = PeerRequestOptions::no_options();
    let handle = remote.peer.send_request_with_option(request, options).await?;
    receivers.insert(handle.progress_token.clone(), progress);
    drop(receivers);
    let mut guard = CancelOnDrop {
        remote: Arc::clone(remote),
        id: handle.id.clone(),
        token: handle.progress_token.clone(),
        is_answered: false,
    };
    let response = handle.await_response().await;
    guard.is_answered = true;
    response
}

/// Cancels the request at the server when it is dropped before the response.
struct CancelOnDrop {
    remote: Arc<RemotePeer>,
    id: RequestId,
    token: ProgressToken,
    is_answered: bool,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (remote, token) = (Arc::clone(&self.remote), self.token.clone());
        let cancelled = (!self.is_answered).then(|| {
            let reason = Some("nobody waits for it any more".to_owned());
            CancelledNotification::new(CancelledNotificationParam::new(
                Some(self.id.clone()),
                reason,
            ))
        });
        runtime.spawn(async move {
            remote.handler_state.progress.lock().await.remove(&token);
            if let Some(cancelled) = cancelled {
                // With a timeout: the server may not read at all.
                let notification = remote.peer.send_notification(cancelled.into());
                let _ = tokio::time::timeout(CANCEL_TIMEOUT, notification).await;
            }
        });
    }
}
