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
use toolwright_core::{Context, ErrorKind, Outcome, Progress, ToolResult};

use super::link::{Link, Live};
use super::trouble::{Lost, service};
use crate::import::{result, said, short, unknown_result};

/// How often a server may ask for more before it answers.
const ROUNDS: usize = 10;

/// How long to wait before asking a server again that only wants to be asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// How long telling a server that nobody waits any more may take.
const TELLING: Duration = Duration::from_secs(5);

/// What is asked of a server.
pub(super) struct Ask {
    pub(super) kind: Kind,
    /// The name that the server knows.
    pub(super) name: String,
}

pub(super) enum Kind {
    /// What the tool declares to return goes with it.
    Tool(Option<Schema>),
    Prompt,
}

impl Ask {
    fn request(&self, arguments: Map<String, Value>, more: More) -> ClientRequest {
        match self.kind {
            Kind::Tool(_) => {
                let mut params = CallToolRequestParams::new(self.name.clone());
                params.arguments = Some(arguments);
                (params.input_responses, params.request_state) = (more.responses, more.state);
                CallToolRequest::new(params).into()
            }
            Kind::Prompt => {
                let mut params = GetPromptRequestParams::new(self.name.clone());
                params.arguments = Some(arguments);
                (params.input_responses, params.request_state) = (more.responses, more.state);
                GetPromptRequest::new(params).into()
            }
        }
    }

    /// Asks the server, in as many rounds as it needs.
    pub(super) async fn put(
        &self,
        link: Arc<Link>,
        arguments: Map<String, Value>,
        cx: Context,
    ) -> ToolResult {
        let live = match link.live() {
            Ok(live) => live,
            Err(why) => return ToolResult::failure(why),
        };
        let mut more = More::default();
        for _ in 0..ROUNDS {
            let request = self.request(arguments.clone(), more);
            let started = Instant::now();
            let answer = send(&live, request, cx.progress().clone()).await;
            match answer {
                Ok(ServerResult::InputRequiredResult(wanted)) => {
                    more = match provide(&live, wanted).await {
                        Ok(more) => more,
                        Err(why) => return self.failed(&link, &why),
                    };
                }
                Ok(answer) => {
                    link.took(started.elapsed());
                    return self.read(&link, answer);
                }
                Err(error) => return self.broken(&link, &live, error),
            }
        }
        self.failed(&link, &format!("still asks for more after {ROUNDS} rounds"))
    }

    fn read(&self, link: &Link, answer: ServerResult) -> ToolResult {
        match (&self.kind, answer) {
            (Kind::Tool(output), ServerResult::CallToolResult(sent)) => {
                result(sent, output.as_ref())
            }
            (Kind::Prompt, ServerResult::GetPromptResult(sent)) => ToolResult::success(said(&sent)),
            (Kind::Tool(output), ServerResult::CustomResult(sent)) => {
                unknown_result(&sent.0, output.as_ref())
                    .unwrap_or_else(|| self.failed(link, "sent something that is no result"))
            }
            (_, ServerResult::CreateTaskResult(_)) => {
                self.failed(link, "made a task of the call, which it was not asked to")
            }
            _ => self.failed(link, "sent something that is no result"),
        }
    }

    fn failed(&self, link: &Link, why: &str) -> ToolResult {
        ToolResult::failure(format!("the MCP server `{}` {why}", link.server))
    }

    /// Tells what became of a call that was not answered, and whether it may have run.
    fn broken(&self, link: &Link, live: &Arc<Live>, error: ServiceError) -> ToolResult {
        let server = &link.server;
        match error {
            ServiceError::McpError(error) => refused(server, &error),
            ServiceError::TransportSend(error) => {
                let lost = Lost::of(error.error.as_ref());
                if lost.is_broken {
                    link.broke(live, &lost.told);
                }
                let told = format!("the MCP server `{server}` did not answer: {}", lost.told);
                match lost.may_have_run {
                    false => ToolResult::failure(told),
                    true => unknown(told),
                }
            }
            ServiceError::TransportClosed => {
                link.broke(live, "it closed the connection");
                unknown(format!(
                    "the MCP server `{server}` closed the connection before it answered; whether the call ran is not known"
                ))
            }
            other => self.failed(link, &format!("did not answer: {}", service(&other))),
        }
    }
}

fn unknown(told: String) -> ToolResult {
    ToolResult::refused(Outcome::OutcomeUnknown, ErrorKind::Failed, told)
}

fn refused(server: &str, error: &ErrorData) -> ToolResult {
    let (code, message) = (error.code.0, short(&error.message));
    ToolResult::failure(format!(
        "the MCP server `{server}` refused the call: {message} ({code})"
    ))
}

/// What a server wants to see again.
#[derive(Default)]
struct More {
    responses: Option<InputResponses>,
    state: Option<String>,
}

/// Provides what a server wants before it answers.
async fn provide(live: &Live, wanted: InputRequiredResult) -> Result<More, String> {
    let requests = wanted.input_requests.unwrap_or_default();
    if requests.is_empty() {
        if wanted.request_state.is_none() {
            return Err("asks for more, but not for what".to_owned());
        }
        tokio::time::sleep(PAUSE).await;
    }
    let mut responses = InputResponses::new();
    for (key, request) in requests {
        let response = match request {
            InputRequest::Elicitation(asked) => {
                serde_json::to_value(live.ears.ask(asked.params).await)
            }
            // There is nothing of ours that it may look at.
            InputRequest::ListRoots(_) => Ok(json!({"roots": []})),
            _ => return Err("asks for a model's answer, which it does not get here".to_owned()),
        };
        responses.insert(key, response.unwrap_or_default());
    }
    Ok(More {
        responses: (!responses.is_empty()).then_some(responses),
        state: wanted.request_state,
    })
}

async fn send(
    live: &Arc<Live>,
    request: ClientRequest,
    progress: Progress,
) -> Result<ServerResult, ServiceError> {
    let mut waiting = live.ears.progress.lock().await;
    let options = PeerRequestOptions::no_options();
    let handle = live.peer.send_request_with_option(request, options).await?;
    waiting.insert(handle.progress_token.clone(), progress);
    drop(waiting);
    let mut sent = Sent {
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
struct Sent {
    live: Arc<Live>,
    id: RequestId,
    token: ProgressToken,
    is_answered: bool,
}

impl Drop for Sent {
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
            live.ears.progress.lock().await.remove(&token);
            if let Some(given_up) = given_up {
                // A server that reads nothing does not read this either.
                let told = live.peer.send_notification(given_up.into());
                let _ = tokio::time::timeout(TELLING, told).await;
            }
        });
    }
}
