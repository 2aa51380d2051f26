//! A call that needs approval in, a question to the client's person out.

use futures::future::BoxFuture;
use serde_json::json;
use toolwright_core::{ApprovalRequest, Approve, Decision};

use super::McpServer;
use super::client::{Client, Elicited};

/// The question's name, across the rounds of a call.
const KEY: &str = "toolwright/approval";

/// Asks the person at the client before a call runs.
pub(crate) struct Asker {
    client: Client,
    server: McpServer,
}

impl Asker {
    pub(crate) fn new(client: Client, server: &McpServer) -> Self {
        let server = server.clone();
        Self { client, server }
    }
}

impl Approve for Asker {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        Box::pin(async move {
            let form = json!({ "type": "object", "properties": {} });
            match self.client.elicit(KEY, &request.question(), form).await {
                Ok(Elicited::Accepted(_)) if self.is_fresh() => request.approve(),
                Ok(Elicited::Accepted(_)) => request.deny("the approval was used before"),
                Ok(Elicited::Declined) => request.deny("the person declined"),
                Ok(Elicited::Cancelled) => request.deny("the person did not decide"),
                Err(error) => request.deny(error.message()),
            }
        })
    }
}

impl Asker {
    /// Tells whether this yes was not heard before: without sessions, a client could send it again.
    fn is_fresh(&self) -> bool {
        let round = self.client.round();
        let spent = round.map(|round| self.server.0.seal.spend(&round));
        spent.unwrap_or(!self.client.revision().is_stateless())
    }
}
