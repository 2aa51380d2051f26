//! A call that needs approval in, a question to the person at the client out.
//!
//! A client that lies about its person is not found out, here or in any other server. What is made sure of is that a yes
//! is for exactly this call, and for one.

use rmcp::RoleServer;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::*;
use rmcp::service::{Peer, RequestContext};
use toolwright::{ApprovalDecision, ApprovalRequest, ApprovalToken, Approver, BoxFuture};

/// What the question is called when its answer comes with another request.
const INPUT_REQUEST_KEY: &str = "toolwright/approval";

/// The person at the client.
pub(crate) enum ClientApprover {
    /// Can be asked while the call waits.
    Interactive(Peer<RoleServer>),
    /// Cannot; a yes that came with the call has brought the grant along that was made with the question.
    Stateless(Option<ApprovalToken>),
}

/// Returns true if the request is of a revision in which a server can ask while a call waits.
pub(crate) fn supports_elicitation_during_call(request: &RequestContext<RoleServer>) -> bool {
    let version = request.protocol_version();
    version.is_none_or(|version| version.has_initialize())
}

impl ClientApprover {
    /// Finds the person; `Err` ends the call with the question, and the client makes it again with the answer.
    pub(crate) fn from_request<S>(
        cx: &ToolCallContext<'_, S>,
        asked: &ApprovalRequest<'_>,
    ) -> Result<Self, Box<InputRequiredResult>> {
        let request = &cx.request_context;
        let modes = request.client_capabilities().and_then(|it| it.elicitation);
        // A client that names no mode means forms.
        if !modes.is_some_and(|modes| modes.form.is_some() || modes.url.is_none()) {
            return Ok(Self::Stateless(None));
        }
        if supports_elicitation_during_call(request) {
            return Ok(Self::Interactive(request.peer.clone()));
        }
        let Some(answer) = cx.input_responses.as_ref().and_then(|it| it.get(INPUT_REQUEST_KEY))
        else {
            let question = InputRequest::Elicitation(elicit_request(asked));
            let grant = serde_json::to_string(&asked.issue_token()).ok();
            let questions = [(INPUT_REQUEST_KEY.to_owned(), question)].into();
            return Err(InputRequiredResult::new(Some(questions), grant).into());
        };
        let is_yes = answer.get("action") == Some(&"accept".into());
        let state = cx.request_state.as_deref().filter(|_| is_yes);
        let grant = state.and_then(|state| serde_json::from_str(state).ok());
        Ok(Self::Stateless(grant))
    }
}

fn elicit_request(request: &ApprovalRequest<'_>) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: request.question(),
        requested_schema: ElicitationSchema::new(Default::default()),
    })
}

impl Approver for ClientApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            let grant = match self {
                Self::Stateless(grant) => grant.clone(),
                Self::Interactive(peer) => {
                    let question = ServerRequest::ElicitRequest(elicit_request(&request));
                    let answer = peer.send_request(question).await;
                    let is_yes = |it: &ElicitResult| it.action == ElicitationAction::Accept;
                    matches!(answer, Ok(ClientResult::ElicitResult(it)) if is_yes(&it))
                        .then(|| request.issue_token())
                }
            };
            let no = || request.deny("the person at the client has not approved it");
            grant.map_or_else(no, ApprovalDecision::Approve)
        })
    }
}
