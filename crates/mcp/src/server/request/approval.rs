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

    /// Checks that this approval was not used before: without sessions, a client could send it again.
    async fn check_first_use(&self) -> Result<(), String> {
        let is_first = match self.client.0.input_round() {
            Some(round) => {
                self.server.consume_round(&round).await.map_err(|error| error.message)?
            }
            None => !self.client.revision().is_stateless(),
        };
        match is_first {
            true => Ok(()),
            false => Err("the approval was used before".to_owned()),
        }
    }
}

impl Approver for ElicitingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move {
            let form = json!({ "type": "object", "properties": {} });
            match self.client.elicit(APPROVAL_KEY, &request.question(), form).await {
                Ok(ElicitResponse::Accept(_)) => match self.check_first_use().await {
                    Ok(()) => request.approve(),
                    Err(reason) => request.deny(reason),
                },
                Ok(ElicitResponse::Decline) => request.deny("the person declined"),
                Ok(ElicitResponse::Cancel) => request.deny("the person did not decide"),
                Err(error) => request.deny(error.message()),
            }
        })
    }
}
