//! A call that needs approval in, a question to the client's person out.

use futures::future::BoxFuture;
use serde_json::json;
use toolwright_core::{ApprovalDecision, ApprovalRequest, Approver};

use crate::server::McpServer;
use crate::server::request::client_peer::{ClientPeer, ElicitResponse};

/// The question's name, across the rounds of a call.
const APPROVAL_KEY: &str = "toolwright/approval";

/// Asks the person at the client before a call runs.
pub(crate) struct ElicitingApprover {
    client: ClientPeer,
    server: McpServer,
}

impl ElicitingApprover {
    pub(crate) fn new(client: ClientPeer, server: &McpServer) -> Self {
        let server = server.clone();
        Self { client, server }
    }
}

impl Approver for ElicitingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            let form = json!({ "type": "object", "properties": {} });
            match self
                .client
                .elicit(APPROVAL_KEY, &request.question(), form)
                .await
            {
                Ok(ElicitResponse::Accept(_)) if self.is_first_use() => request.approve(),
                Ok(ElicitResponse::Accept(_)) => request.deny("the approval was used before"),
                Ok(ElicitResponse::Decline) => request.deny("the person declined"),
                Ok(ElicitResponse::Cancel) => request.deny("the person did not decide"),
                Err(error) => request.deny(error.message()),
            }
        })
    }
}

impl ElicitingApprover {
    /// Tells whether this yes was not heard before: without sessions, a client could send it again.
    fn is_first_use(&self) -> bool {
        let round = self.client.input_round();
        let spent = round.map(|round| self.server.0.request_states.consume_round(&round));
        spent.unwrap_or(!self.client.revision().is_stateless())
    }
}
