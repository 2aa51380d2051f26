//! Asks the client's user to approve a call, by an elicitation.

use futures::future::BoxFuture;
use serde_json::json;
use toolwright_core::{ApprovalDecision, ApprovalRequest, Approver};

use crate::elicit_response::ElicitResponse;
use crate::server::{ClientPeer, McpServer};

/// The key of the elicitation across the rounds of a call.
const APPROVAL_KEY: &str = "toolwright/approval";

pub(crate) struct ElicitingApprover {
    client: ClientPeer,
    server: McpServer,
}

impl ElicitingApprover {
    pub(crate) fn new(client: ClientPeer, server: &McpServer) -> Self {
        let server = server.clone();
        Self { client, server }
    }

    /// Returns true if this approval was not used before: without sessions, a client could send it again.
    fn is_first_use(&self) -> bool {
        let round = self.client.0.input_round();
        let is_first = round.map(|round| self.server.0.request_states.consume_round(&round));
        is_first.unwrap_or(!self.client.revision().is_stateless())
    }
}

impl Approver for ElicitingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            let form = json!({ "type": "object", "properties": {} });
            match self.client.elicit(APPROVAL_KEY, &request.question(), form).await {
                Ok(ElicitResponse::Accept(_)) if self.is_first_use() => request.approve(),
                Ok(ElicitResponse::Accept(_)) => request.deny("the approval was used before"),
                Ok(ElicitResponse::Decline) => request.deny("the person declined"),
                Ok(ElicitResponse::Cancel) => request.deny("the person did not decide"),
                Err(error) => request.deny(error.message()),
            }
        })
    }
}
