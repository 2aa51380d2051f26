//! Whoever sent a request, as a tool meets them: can be asked, and told.

use std::future::pending;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use toolwright_core::{CallContext, Param, ToolError};

use crate::server::request::request_context::{InputRequest, RequestContext};
use crate::server::request::request_state::InputRound;
use crate::server::rpc::capability::ClientCapability;
use crate::server::rpc::log_level::LogLevel;
use crate::server::rpc::response::{notification_json, set_field};
use crate::server::rpc::revision::Revision;

/// The client that a call came from: an extractor for tools that ask it something.
///
/// In revisions with sessions a question goes to the client at once, and the call waits. In those without,
/// the call ends with the question and **begins anew** when the client sends the answer along: what a tool
/// does before it asks is done again, so a tool asks first and acts then. The key of a question names it
/// across those rounds; two questions of one tool have two keys.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolwright::{ToolError, tool};
/// use toolwright_mcp::{Client, ElicitResponse};
///
/// /// Greets whoever is there.
/// #[tool]
/// async fn greet(client: Client) -> Result<String, ToolError> {
///     let form = json!({"type": "object", "properties": {"name": {"type": "string"}}});
///     Ok(match client.elicit("name", "Who are you?", form).await? {
///         ElicitResponse::ValidatedArguments(form) => format!("Hello, {}!", form["name"]),
///         _ => "Hello, whoever you are!".to_owned(),
///     })
/// }
/// ```
#[derive(Clone)]
pub struct ClientPeer(Arc<RequestContext>);

/// What came of asking a person.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitResponse {
    /// The form, filled in.
    Accept(Value),
    /// The person said no.
    Decline,
    /// The person did not answer.
    Cancel,
}

impl Param for ClientPeer {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        cx.extension()
            .map(Self)
            .ok_or_else(|| ToolError::failed("this tool can only be called over MCP"))
    }
}

impl ClientPeer {
    pub(crate) fn new(exchange: &Arc<RequestContext>) -> Self {
        Self(Arc::clone(exchange))
    }

    /// Takes the client out of a builder's context.
    ///
    /// # Errors
    ///
    /// When the call did not come over MCP.
    pub fn from_context(context: &toolwright_core::HandlerContext) -> Result<Self, ToolError> {
        context
            .extension()
            .map(Self)
            .ok_or_else(|| ToolError::failed("this tool can only be called over MCP"))
    }

    /// Returns the scopes of the token that the call came with, where the server takes tokens of an authorization server.
    ///
    /// Who it was given to is the [`Caller`](toolwright_core::Caller); the token itself is not for tools.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.principal.iter().flat_map(|visitor| visitor.scopes())
    }

    /// Returns the revision that this call speaks.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Tells whether the client can be asked for this.
    pub fn supports(&self, capability: ClientCapability) -> bool {
        let known = match capability {
            ClientCapability::Elicitation => self.0.revision.has_elicitation(),
            ClientCapability::Tasks => self.0.revision.is_stateless(),
            _ => true,
        };
        // A question in a session goes before the response, so there has to be a stream for it.
        let heard = self.0.session.is_none() || self.0.can_stream;
        known && heard && self.0.capabilities.has(capability)
    }

    /// Insists that the client can be asked for this.
    ///
    /// # Errors
    ///
    /// When it cannot. If the call fails because of it, the client is told what it lacks.
    pub fn require(&self, capability: ClientCapability) -> Result<(), ToolError> {
        if self.supports(capability) {
            return Ok(());
        }
        self.0.record_missing(capability);
        let name = capability.as_str();
        Err(ToolError::failed(format!(
            "the client does not support {name}"
        )))
    }

    /// Lets the client go on while the call goes on as a task, if the client can do that.
    ///
    /// The client asks for the result later, and answers questions meanwhile. Nothing else changes: a call
    /// whose client cannot do without the result is waited for. To insist, [`require`](Client::require) first.
    pub fn run_as_task(&self) {
        if self.supports(ClientCapability::Tasks) {
            self.0.detach();
        }
    }

    /// Sends a log message, if the client wants those of this level.
    pub fn log(&self, level: LogLevel, logger: &str, data: impl Serialize) {
        let wanted = match &self.0.session {
            Some(session) => Some(session.log_level()),
            None => self.0.log_level,
        };
        if wanted.is_some_and(|least| level >= least) {
            self.0.send_lossy(|| {
                let data = serde_json::to_value(data).unwrap_or_default();
                let params = json!({ "level": level, "logger": logger, "data": data });
                notification_json("notifications/message", &params)
            });
        }
    }

    /// Asks a person to fill in a form: a flat object schema with texts, numbers, truths and choices.
    ///
    /// # Errors
    ///
    /// When the client cannot ask, or its answer is none.
    pub async fn elicit(
        &self,
        key: &str,
        message: &str,
        form: Value,
    ) -> Result<ElicitResponse, ToolError> {
        let mut params = json!({ "message": message, "requestedSchema": form });
        if self.0.revision.has_elicitation_modes() {
            set_field(&mut params, "mode", "form");
        }
        let asked = self.request_input(
            ClientCapability::Elicitation,
            key,
            "elicitation/create",
            params,
        );
        let mut answer = asked.await?;
        match answer.get("action").and_then(Value::as_str) {
            Some("accept") => Ok(ElicitResponse::Accept(
                answer
                    .get_mut("content")
                    .map(Value::take)
                    .unwrap_or_default(),
            )),
            Some("decline") => Ok(ElicitResponse::Decline),
            Some("cancel") => Ok(ElicitResponse::Cancel),
            _ => Err(ToolError::failed("the client's answer has no known action")),
        }
    }

    /// Asks the client's model; `params` and the answer are those of `sampling/createMessage`.
    ///
    /// # Errors
    ///
    /// When the client cannot ask.
    pub async fn create_message(&self, key: &str, params: Value) -> Result<Value, ToolError> {
        self.request_input(
            ClientCapability::Sampling,
            key,
            "sampling/createMessage",
            params,
        )
        .await
    }

    /// Asks which folders the client works in; the answer is that of `roots/list`.
    ///
    /// # Errors
    ///
    /// When the client cannot tell.
    pub async fn list_roots(&self, key: &str) -> Result<Value, ToolError> {
        self.request_input(ClientCapability::Roots, key, "roots/list", json!({}))
            .await
    }

    /// Returns the round of questions that the client answers, in revisions without sessions.
    pub(crate) fn input_round(&self) -> Option<InputRound> {
        self.0.input_round()
    }

    async fn request_input(
        &self,
        capability: ClientCapability,
        key: &str,
        method: &'static str,
        params: Value,
    ) -> Result<Value, ToolError> {
        self.require(capability)?;
        if let Some(session) = &self.0.session {
            return session.send_request(&self.0, method, &params).await;
        }
        if let Some(answer) = self.0.answer(key) {
            return Ok(answer);
        }
        self.0.request_input(InputRequest {
            key: key.to_owned(),
            method,
            params,
        });
        if self.0.is_detached() {
            return Ok(self.0.wait_for_answer(key).await);
        }
        // The call ends here: the next round brings the answer, and starts it anew.
        pending().await
    }
}
