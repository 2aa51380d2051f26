//! Valid arguments in, the result of the server's tool or prompt out; every failure is a result too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CustomRequest, ErrorCode,
    GetPromptRequest, GetPromptRequestParams, InputRequest, InputResponses, ServerResult,
};
use rmcp::service::ServiceError;
use serde_json::{Map, Value, json};
use toolwright_core::schema::Schema;
use toolwright_core::{ErrorKind, HandlerContext, Outcome, ToolName, ToolResult};

use self::call_state::{CallKey, CallState, CallStates, StoredStage};
use self::ongoing::{CallRun, InFlight, InFlightEvent, InputRound, OngoingCall, Stage};
use self::question::Question;
use self::remote_task::{RunningTask, TaskHandle, TaskStatus, response_json};
use crate::client::connection::RemotePeer;
use crate::client::connection::error_map::{TransportFailure, describe_service_error};
use crate::client::connection::shared_connection::{ConnectionState, SharedConnection};
use crate::import::{convert_result, excerpt, prompt_text, sanitize};

pub(crate) mod call_state;
pub(crate) mod ongoing;
pub(crate) mod question;
pub(crate) mod remote_task;

/// The number of rounds in which a server may request input.
const MAX_INPUT_ROUNDS: usize = 10;

/// The pause before a request is repeated for a server that requests no input, only another round.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// Longer messages about the state of a task are truncated.
const MAX_STATUS_BYTES: usize = 1 << 10;

/// The revision whose tasks are requested by the client.
const LEGACY_TASKS: &str = "2025-11-25";

/// A call of a server's tool or prompt.
pub(crate) struct RemoteCall {
    pub(crate) is_prompt: bool,
    /// The server's name of it.
    pub(crate) name: String,
    /// The output schema of a tool.
    pub(crate) output: Option<Schema>,
    /// How long the server may take for one response.
    pub(crate) timeout: Duration,
    /// True if the call may run twice.
    pub(crate) may_repeat: bool,
    /// The tool that asks the person of a turn, and where calls are stored that wait for the answer or follow a task.
    pub(crate) questions: Option<(ToolName, CallStates)>,
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
        link: &Arc<SharedConnection>,
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

    /// Calls the server, or goes on with a call that was interrupted.
    async fn run(
        &self,
        link: &Arc<SharedConnection>,
        arguments: Map<String, Value>,
        cx: &HandlerContext,
    ) -> Result<ToolResult, LoginNeeded> {
        let key = CallKey::new(&link.server, &self.name, cx);
        let states = self.questions.as_ref().map(|(_, states)| states);
        let call = match (link.parked.take(&key), states) {
            (Some(mut call), _) => {
                call.continue_in(cx.cancel(), cx.progress()).await;
                call
            }
            (None, Some(states)) if cx.is_repeated() => match states.load(&key).await {
                Some(state) => OngoingCall::from_state(state, link, cx.cancel()),
                None if self.may_repeat => OngoingCall::new(),
                None => {
                    let reason =
                        "was interrupted during the call; whether the call ran is not known";
                    return Ok(unknown_result(link, reason));
                }
            },
            _ => OngoingCall::new(),
        };
        let is_resumed = !matches!(call.stage, Stage::Next(_));
        let run = CallRun { link, key, cancel: cx.cancel(), call: Some(call), is_asking: false };
        let mut steps =
            CallSteps { call: self, cx, arguments, run, rounds: 0, is_saved: is_resumed };
        let result = steps.finish().await;
        if let (true, Some(states)) = (steps.is_saved, states) {
            states.remove(&steps.run.key).await;
        }
        result
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

/// The steps of a call to its result.
struct CallSteps<'a> {
    call: &'a RemoteCall,
    cx: &'a HandlerContext,
    arguments: Map<String, Value>,
    run: CallRun<'a>,
    rounds: usize,
    /// True if the call is in the shared state.
    is_saved: bool,
}

/// What follows a step.
enum Step {
    Continue(Stage),
    Done(ToolResult),
    LoginNeeded(ToolResult),
}

impl CallSteps<'_> {
    async fn finish(&mut self) -> Result<ToolResult, LoginNeeded> {
        // Those that an earlier run has asked: their answers are recorded, and calls are numbered.
        for question in self.run.call.as_ref().map(|call| call.asked.clone()).unwrap_or_default() {
            self.ask(&question).await;
        }
        loop {
            let step = match self.run.call.as_mut().map(|call| &mut call.stage) {
                Some(Stage::Next(round)) => {
                    let round = std::mem::take(round);
                    self.send(round).await
                }
                Some(Stage::Sent(_)) => self.wait_response().await,
                Some(Stage::Input(required)) => {
                    let required = (**required).clone();
                    self.give_input(required).await
                }
                Some(Stage::Task(_)) => self.poll_task().await,
                Some(Stage::TaskResult(..)) => self.wait_task_result().await,
                None => Step::Done(server_failure(self.run.link, "lost the call")),
            };
            match step {
                Step::Continue(stage) => {
                    if let Some(call) = &mut self.run.call {
                        call.stage = stage;
                    }
                }
                Step::Done(result) => {
                    self.end_task();
                    return Ok(result);
                }
                Step::LoginNeeded(result) => return Err(LoginNeeded(result)),
            }
        }
    }

    /// Remembers that the task has ended, so that it is not cancelled.
    fn end_task(&mut self) {
        if let Some(call) = &mut self.run.call
            && let Stage::Task(task) | Stage::TaskResult(task, _) = &mut call.stage
        {
            task.is_over = true;
        }
    }

    async fn send(&mut self, round: InputRound) -> Step {
        let link = self.run.link;
        self.rounds += 1;
        if self.rounds > MAX_INPUT_ROUNDS {
            let reason = format!("still asks for more after {MAX_INPUT_ROUNDS} rounds");
            return Step::Done(server_failure(link, &reason));
        }
        let remote = match link.connected() {
            Ok(remote) => remote,
            Err(reason) => return Step::Done(ToolResult::failure(reason)),
        };
        if let (true, Some((_, states))) = (self.is_saved, &self.call.questions) {
            // What was asked for is sent once.
            states.remove(&self.run.key).await;
            self.is_saved = false;
        }
        let request = self.call.build_request(self.arguments.clone(), round);
        let sent = InFlight::send(&remote, request, self.cx.progress(), &self.run.key);
        match tokio::time::timeout(self.call.timeout, sent).await {
            Ok(Ok(in_flight)) => Step::Continue(Stage::Sent(in_flight)),
            Ok(Err(error)) => self.failed(&remote, error),
            Err(_) => Step::Done(timed_out(self.call.timeout)),
        }
    }

    /// The end of a call without a response.
    fn failed(&self, remote: &Arc<RemotePeer>, error: ServiceError) -> Step {
        // In a later round, the call has begun.
        let needs_login = self.rounds == 1 && needs_login(&error);
        let result = transport_failure(self.run.link, remote, error);
        if needs_login { Step::LoginNeeded(result) } else { Step::Done(result) }
    }

    async fn wait_response(&mut self) -> Step {
        let started = Instant::now();
        let (remote, response) = match self.next_response().await {
            Ok(response) => response,
            Err(result) => return Step::Done(result),
        };
        let link = self.run.link;
        let is_stateless = remote.is_stateless();
        match response {
            Ok(ServerResult::InputRequiredResult(required)) => {
                self.save(StoredStage::Input(required.clone())).await;
                Step::Continue(Stage::Input(Box::new(required)))
            }
            // The server has rejected the request: its tool can only be called as a task.
            Err(ServiceError::McpError(error))
                if error.code == ErrorCode::METHOD_NOT_FOUND
                    && !self.call.is_prompt
                    && self.rounds == 1
                    && remote.revision() == LEGACY_TASKS =>
            {
                self.send_as_task(&remote).await
            }
            Ok(response) => {
                link.record_latency(started.elapsed());
                let created = match &response {
                    ServerResult::CreateTaskResult(_) => true,
                    ServerResult::CustomResult(other) => {
                        !is_stateless && other.0.get("task").is_some()
                    }
                    _ => false,
                };
                match created && !self.call.is_prompt {
                    true => self.begin_task(&response_json(response), !is_stateless).await,
                    false => Step::Done(self.call.parse_response(link, response)),
                }
            }
            Err(error) => self.failed(&remote, error),
        }
    }

    /// Sends the request of a tool that can only be called as a task of revision 2025-11-25.
    async fn send_as_task(&mut self, remote: &Arc<RemotePeer>) -> Step {
        let params = json!({ "name": self.call.name, "arguments": self.arguments, "task": {} });
        let request = CustomRequest::new("tools/call", Some(params)).into();
        self.rounds += 1;
        let sent = InFlight::send(remote, request, self.cx.progress(), &self.run.key);
        match tokio::time::timeout(self.call.timeout, sent).await {
            Ok(Ok(in_flight)) => Step::Continue(Stage::Sent(in_flight)),
            Ok(Err(error)) => self.failed(remote, error),
            Err(_) => Step::Done(timed_out(self.call.timeout)),
        }
    }

    /// Waits for the response of the request in flight, and answers the questions that come before it.
    async fn next_response(
        &mut self,
    ) -> Result<(Arc<RemotePeer>, Result<ServerResult, ServiceError>), ToolResult> {
        loop {
            let timeout = self.call.timeout;
            let Some(in_flight) = self.in_flight() else {
                return Err(server_failure(self.run.link, "lost the call"));
            };
            let question = match tokio::time::timeout(timeout, in_flight.next()).await {
                Err(_) => return Err(timed_out(timeout)),
                Ok(InFlightEvent::Response(response)) => {
                    return Ok((Arc::clone(&in_flight.remote), *response));
                }
                Ok(InFlightEvent::Question) => {
                    in_flight.question.as_ref().map(|asked| asked.question.clone())
                }
            };
            let question = question.unwrap_or_default();
            let result = self.ask(&question).await;
            if let Some(asked) = self.in_flight().and_then(|in_flight| in_flight.question.take()) {
                // The server may have withdrawn it.
                let _ = asked.reply.send(result);
            }
            self.add_asked(question);
        }
    }

    fn in_flight(&mut self) -> Option<&mut InFlight> {
        match &mut self.run.call.as_mut()?.stage {
            Stage::Sent(in_flight) | Stage::TaskResult(_, in_flight) => Some(in_flight),
            _ => None,
        }
    }

    fn add_asked(&mut self, question: Value) {
        if let Some(call) = &mut self.run.call {
            call.asked.push(question);
        }
    }

    /// Asks the person of the turn, which may pause for the answer: then the future is dropped, and the call waits.
    async fn ask(&mut self, question: &Value) -> ToolResult {
        let Some((tool, _)) = &self.call.questions else {
            return ToolResult::failure("there is nobody to ask");
        };
        self.run.is_asking = true;
        let result = self.cx.tools().call(tool.clone(), question.clone()).await;
        self.run.is_asking = false;
        if result.is_error() {
            let (server, reason) = (&*self.run.link.server, result.text());
            tracing::warn!(server, "a question of an MCP server has no answer: {reason}");
        }
        result
    }

    /// Answers a request for input; the error is why that is not possible.
    async fn answer(&mut self, request: InputRequest) -> Result<Value, String> {
        let state = match self.run.link.connected() {
            Ok(remote) => Arc::clone(&remote.handler_state),
            Err(reason) => return Err(reason),
        };
        match request {
            InputRequest::Elicitation(elicitation) if state.asks_callers() => {
                let Some(question) = Question::from_elicitation(elicitation.params) else {
                    return Ok(json!({ "action": "decline" }));
                };
                let arguments = question.arguments();
                let result = self.ask(&arguments).await;
                self.add_asked(arguments);
                Ok(serde_json::to_value(question.elicit_result(&result)).unwrap_or_default())
            }
            InputRequest::Elicitation(elicitation) => {
                let response = state.answer_elicitation(elicitation.params).await;
                Ok(serde_json::to_value(response).unwrap_or_default())
            }
            InputRequest::CreateMessage(sampling) if state.asks_callers() => {
                let question = Question::from_sampling(&sampling.params);
                let arguments = question.arguments();
                let result = self.ask(&arguments).await;
                self.add_asked(arguments);
                question.sampled_message(&result)
            }
            // No folders are shared with the server.
            InputRequest::ListRoots(_) => Ok(json!({ "roots": [] })),
            _ => Err("asks for a model's answer, which it does not get here".to_owned()),
        }
    }

    /// Answers requests for input in their order.
    ///
    /// The questions of an incomplete round are asked again if the call runs again.
    async fn answer_all(
        &mut self,
        requests: impl IntoIterator<Item = (String, InputRequest)>,
    ) -> Result<InputResponses, String> {
        let asked = self.run.call.as_ref().map_or(0, |call| call.asked.len());
        let mut responses = InputResponses::new();
        let mut round = Vec::new();
        for (key, request) in requests {
            let response = self.answer(request).await?;
            responses.insert(key, response);
            if let Some(call) = &mut self.run.call {
                round.extend(call.asked.drain(asked..));
            }
        }
        if let Some(call) = &mut self.run.call {
            call.asked.append(&mut round);
        }
        Ok(responses)
    }

    /// Answers what the server requires for the next round.
    async fn give_input(&mut self, required: rmcp::model::InputRequiredResult) -> Step {
        let requests = required.input_requests.unwrap_or_default();
        if requests.is_empty() {
            if required.request_state.is_none() {
                let reason = "asks for more, but not for what";
                return Step::Done(server_failure(self.run.link, reason));
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
        match self.answer_all(requests).await {
            Ok(responses) => Step::Continue(Stage::Next(InputRound {
                responses: (!responses.is_empty()).then_some(responses),
                state: required.request_state,
            })),
            Err(reason) => Step::Done(server_failure(self.run.link, &reason)),
        }
    }

    /// Saves what the call goes on with if it is interrupted now; returns false if it cannot go on then.
    async fn save(&mut self, stage: StoredStage) -> bool {
        let Some((_, states)) = &self.call.questions else {
            return false;
        };
        let asked = self.run.call.as_ref().map(|call| call.asked.clone()).unwrap_or_default();
        let is_saved = states.save(&self.run.key, &CallState { asked, stage }).await;
        self.is_saved |= is_saved;
        is_saved
    }

    /// Follows the task that the server has made of the call.
    async fn begin_task(&mut self, created: &Value, is_legacy: bool) -> Step {
        let Some(handle) = TaskHandle::from_created(created, is_legacy) else {
            let reason = "made a task of the call, and did not say which";
            return Step::Done(server_failure(self.run.link, reason));
        };
        let mut task = RunningTask::new(handle.clone(), self.run.link, self.cx.cancel());
        task.is_saved = self.save(StoredStage::Task(handle)).await;
        let sent = self
            .run
            .call
            .as_mut()
            .map(|call| std::mem::replace(&mut call.stage, Stage::Next(InputRound::default())));
        if let Some(Stage::Sent(in_flight)) = sent {
            task.request = Some(in_flight.into_guard());
        }
        Step::Continue(Stage::Task(task))
    }

    /// Asks for the state of the task, and waits until the next poll.
    async fn poll_task(&mut self) -> Step {
        let Some(Stage::Task(task)) = self.run.call.as_ref().map(|call| &call.stage) else {
            return Step::Done(server_failure(self.run.link, "lost the task"));
        };
        let handle = task.handle.clone();
        let response = match self.request(handle.get_request()).await {
            Ok(response) => response,
            Err(result) => return Step::Done(result),
        };
        let Some(status) = TaskStatus::from_response(&response) else {
            let reason = "does not say how far the task is that it made of the call";
            return Step::Done(unknown_result(self.run.link, reason));
        };
        match status {
            TaskStatus::Working(message) => {
                if let Some(message) = message {
                    self.cx.progress().report_message(sanitize(&message, MAX_STATUS_BYTES));
                }
            }
            TaskStatus::InputRequired(requests) if !handle.is_legacy && !requests.is_empty() => {
                if let Err(reason) = self.give_task_input(&handle, requests).await {
                    return Step::Done(reason);
                }
                return self.keep_task();
            }
            // Its requests come while the result is requested.
            TaskStatus::InputRequired(_) | TaskStatus::Completed(None) if handle.is_legacy => {
                return self.request_task_result(&handle).await;
            }
            TaskStatus::Failed(_) if handle.is_legacy => {
                return self.request_task_result(&handle).await;
            }
            TaskStatus::InputRequired(_) => {}
            TaskStatus::Completed(result) => {
                let result = result.unwrap_or_default();
                let result = convert_result(result, self.call.output.as_ref());
                return Step::Done(result.unwrap_or_else(|| {
                    server_failure(self.run.link, "sent something that is no result")
                }));
            }
            TaskStatus::Failed(message) => {
                let reason = format!("could not finish the task: {}", excerpt(&message));
                return Step::Done(server_failure(self.run.link, &reason));
            }
            TaskStatus::Cancelled => {
                let mut result = server_failure(self.run.link, "has cancelled the task");
                result.outcome = Outcome::Cancelled;
                return Step::Done(result);
            }
        }
        if let Some(Stage::Task(task)) = self.run.call.as_mut().map(|call| &mut call.stage) {
            let interval = task.handle.poll_interval(&response);
            tokio::time::sleep(interval).await;
        }
        self.keep_task()
    }

    /// Goes on with the task of the call.
    fn keep_task(&mut self) -> Step {
        let stage = self
            .run
            .call
            .as_mut()
            .map(|call| std::mem::replace(&mut call.stage, Stage::Next(InputRound::default())));
        match stage {
            Some(Stage::Task(task) | Stage::TaskResult(task, _)) => {
                Step::Continue(Stage::Task(task))
            }
            _ => Step::Done(server_failure(self.run.link, "lost the task")),
        }
    }

    /// Answers the requests for input of a task.
    async fn give_task_input(
        &mut self,
        handle: &TaskHandle,
        requests: Map<String, Value>,
    ) -> Result<(), ToolResult> {
        let mut known = Vec::new();
        for (key, request) in requests {
            match serde_json::from_value(request) {
                Ok(request) => known.push((key, request)),
                Err(_) => {
                    let reason = "asks for something that is not known";
                    return Err(server_failure(self.run.link, reason));
                }
            }
        }
        let responses = self.answer_all(known).await;
        let responses = responses.map_err(|reason| server_failure(self.run.link, &reason))?;
        self.request(handle.update_request(responses)).await?;
        self.save(StoredStage::Task(handle.clone())).await;
        Ok(())
    }

    /// Requests the result of a task of revision 2025-11-25.
    async fn request_task_result(&mut self, handle: &TaskHandle) -> Step {
        let remote = match self.wait_connected().await {
            Ok(remote) => remote,
            Err(result) => return Step::Done(result),
        };
        let request = handle.result_request();
        let sent = InFlight::send(&remote, request, self.cx.progress(), &self.run.key).await;
        match (sent, self.keep_task()) {
            (Ok(in_flight), Step::Continue(Stage::Task(task))) => {
                Step::Continue(Stage::TaskResult(task, in_flight))
            }
            (Ok(_), step) => step,
            (Err(error), step) => {
                if let Some(result) = self.poll_failure(&remote, error) {
                    return Step::Done(result);
                }
                step
            }
        }
    }

    async fn wait_task_result(&mut self) -> Step {
        let (remote, response) = match self.next_response().await {
            Ok(response) => response,
            // The task may run longer than one response takes.
            Err(result) if result.outcome == Outcome::TimedOut => return self.keep_task(),
            Err(result) => return Step::Done(result),
        };
        match response {
            Ok(response) => Step::Done(self.call.parse_response(self.run.link, response)),
            Err(error) => match self.poll_failure(&remote, error) {
                Some(result) => Step::Done(result),
                None => self.keep_task(),
            },
        }
    }

    /// Sends a request about a task. While the server is away, it waits until the server is back.
    async fn request(&mut self, request: ClientRequest) -> Result<Value, ToolResult> {
        loop {
            let remote = self.wait_connected().await?;
            let response = remote.peer.send_request(request.clone());
            match tokio::time::timeout(self.call.timeout, response).await {
                Ok(Ok(response)) => return Ok(response_json(response)),
                Ok(Err(error)) => {
                    if let Some(result) = self.poll_failure(&remote, error) {
                        return Err(result);
                    }
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                Err(_) => return Err(timed_out(self.call.timeout)),
            }
        }
    }

    /// Waits until the server is connected; the error is the result of a call whose server is not attached any more.
    async fn wait_connected(&mut self) -> Result<Arc<RemotePeer>, ToolResult> {
        let mut states = self.run.link.subscribe();
        let connected =
            |state: &ConnectionState| !matches!(state, ConnectionState::Disconnected(_));
        let _ = states.wait_for(connected).await;
        self.run.link.connected().map_err(|reason| {
            let mut result = ToolResult::failure(reason);
            result.outcome = Outcome::OutcomeUnknown;
            result
        })
    }

    /// The result of a call whose task the server does not know any more; `None` if the connection is broken, and the task goes on.
    fn poll_failure(&self, remote: &Arc<RemotePeer>, error: ServiceError) -> Option<ToolResult> {
        let link = self.run.link;
        match error {
            ServiceError::McpError(error) => {
                let (code, message) = (error.code.0, excerpt(&error.message));
                let reason = format!("refused to go on with the task: {message} ({code})");
                Some(unknown_result(link, &reason))
            }
            ServiceError::TransportClosed => {
                link.mark_broken(remote, "it closed the connection");
                None
            }
            ServiceError::TransportSend(error) => {
                let failure = TransportFailure::from_error(error.error.as_ref());
                if !failure.is_broken {
                    return Some(unknown_result(
                        link,
                        &format!("did not answer: {}", failure.message),
                    ));
                }
                link.mark_broken(remote, &failure.message);
                None
            }
            other => {
                let reason = format!("did not answer: {}", describe_service_error(&other));
                Some(unknown_result(link, &reason))
            }
        }
    }
}

/// The result of a call that may have run.
fn unknown_result(link: &SharedConnection, reason: &str) -> ToolResult {
    let mut result = server_failure(link, reason);
    result.outcome = Outcome::OutcomeUnknown;
    result
}

fn timed_out(limit: Duration) -> ToolResult {
    let message = format!("timed out after {limit:?}");
    ToolResult::from_outcome(Outcome::TimedOut, ErrorKind::Failed, message)
}
