//! The client that sent a request, as an extractor for tools: requests for input, log messages, tasks.

use std::future::pending;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use toolwright_core::{CallContext, Param, ToolError};

use crate::elicit_response::ElicitResponse;
use crate::server::{
    ClientCapability, InputRequest, LogLevel, RequestContext, Revision, notification_json,
    set_field,
};

/// The client that sent a call: an extractor for tools that request input from it.
///
/// In revisions with sessions a request goes to the client at once, and the call waits. In those without, the call ends with
/// the request and **starts again** when the client sends the answer: what a tool does before its request is done again, so it
/// should request input first and act then. The key of a request identifies it across these rounds; two requests of one tool
/// need two keys.
///
/// # Examples
///
/// ```
/// use toolwright::json;
/// use toolwright::{ToolError, tool};
/// use toolwright::mcp::{ClientPeer, ElicitResponse};
///
/// /// Greets the user.
/// #[tool]
/// async fn greet(client: ClientPeer) -> Result<String, ToolError> {
///     let form = json!({"type": "object", "properties": {"name": {"type": "string"}}});
///     Ok(match client.elicit("name", "Who are you?", form).await? {
///         ElicitResponse::Accept(form) => format!("Hello, {}!", form["name"]),
///         _ => "Hello!".to_owned(),
///     })
/// }
/// ```
#[derive(Clone)]
pub struct ClientPeer(pub(crate) Arc<RequestContext>);

impl Param for ClientPeer {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        Self::from_extension(cx.extension())
    }
}

impl ClientPeer {
    pub(crate) fn new(context: &Arc<RequestContext>) -> Self {
        Self(Arc::clone(context))
    }

    /// Returns the client of a call, for tools made with a builder.
    ///
    /// # Errors
    ///
    /// When the call did not come over MCP.
    pub fn from_context(context: &toolwright_core::HandlerContext) -> Result<Self, ToolError> {
        Self::from_extension(context.extension())
    }

    fn from_extension(context: Option<Arc<RequestContext>>) -> Result<Self, ToolError> {
        context.map(Self).ok_or_else(|| ToolError::failed("this tool can only be called over MCP"))
    }

    /// Returns the scopes of the call's token, where the server accepts tokens of an authorization server.
    ///
    /// The subject of the token is the [`Caller`](toolwright_core::Caller); tools do not receive the token itself.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.principal.iter().flat_map(|principal| principal.scopes())
    }

    /// Returns the protocol revision of this call.
    pub fn revision(&self) -> Revision {
        self.0.revision
    }

    /// Returns true if the client has this capability and the revision supports it.
    pub fn supports(&self, capability: ClientCapability) -> bool {
        let in_revision = match capability {
            ClientCapability::Elicitation => self.0.revision.has_elicitation(),
            ClientCapability::Tasks => self.0.revision.is_stateless(),
            _ => true,
        };
        // A request in a session goes before the response, so it needs a stream.
        let can_send = self.0.session.is_none() || self.0.can_stream;
        in_revision && can_send && self.0.capabilities.has(capability)
    }

    /// Requires that the client [`supports`](Self::supports) this.
    ///
    /// # Errors
    ///
    /// When it does not. If the call fails because of that, the error names the missing capability to the client.
    pub fn require(&self, capability: ClientCapability) -> Result<(), ToolError> {
        if self.supports(capability) {
            return Ok(());
        }
        self.0.record_missing(capability);
        let name = capability.as_str();
        Err(ToolError::failed(format!("the client does not support {name}")))
    }

    /// Continues the call as a task, if the client supports tasks: it polls for the result, and answers requests meanwhile.
    ///
    /// Without that support the client waits for the result as usual; [`require`](ClientPeer::require) it first to fail instead.
    pub fn run_as_task(&self) {
        if self.supports(ClientCapability::Tasks) {
            self.0.detach();
        }
    }

    /// Sends a log message, if the client has requested those of this level.
    pub fn log(&self, level: LogLevel, logger: &str, data: impl Serialize) {
        let requested = match &self.0.session {
            Some(session) => Some(session.log_level()),
            None => self.0.log_level,
        };
        if requested.is_some_and(|minimum| level >= minimum) {
            self.0.send_lossy(|| {
                let data = serde_json::to_value(data).unwrap_or_default();
                let params = json!({ "level": level, "logger": logger, "data": data });
                notification_json("notifications/message", &params)
            });
        }
    }

    /// Shows a form to the client's user: a flat object schema of strings, numbers, booleans and enums.
    ///
    /// # Errors
    ///
    /// When the client does not support forms, or its response is invalid.
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
        let response =
            self.request_input(ClientCapability::Elicitation, key, "elicitation/create", params);
        let mut answer = response.await?;
        match answer.get("action").and_then(Value::as_str) {
            Some("accept") => Ok(ElicitResponse::Accept(
                answer.get_mut("content").map(Value::take).unwrap_or_default(),
            )),
            Some("decline") => Ok(ElicitResponse::Decline),
            Some("cancel") => Ok(ElicitResponse::Cancel),
            _ => Err(ToolError::failed("the client's answer has no known action")),
        }
    }

    /// Generates a message with the client's model; `params` and the result are those of `sampling/createMessage`.
    ///
    /// # Errors
    ///
    /// When the client does not support sampling.
    pub async fn create_message(&self, key: &str, params: Value) -> Result<Value, ToolError> {
        self.request_input(ClientCapability::Sampling, key, "sampling/createMessage", params).await
    }

    /// Lists the folders that the client works in; the result is that of `roots/list`.
    ///
    /// # Errors
    ///
    /// When the client does not support roots.
    pub async fn list_roots(&self, key: &str) -> Result<Value, ToolError> {
        self.request_input(ClientCapability::Roots, key, "roots/list", json!({})).await
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
        self.0.request_input(InputRequest { key: key.to_owned(), method, params });
        if self.0.is_detached() {
            return Ok(self.0.wait_for_answer(key).await);
        }
        // The call ends here: the client sends the answer in the next round, which starts it again.
        pending().await
    }
}
