//! A request in, its response or the operation that produces it out.
//!
//! A message borrows from the buffer it was parsed from; an operation owns its data, so that it can outlive the buffer.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright_core::{Invoker, RegisteredTool, ToolCall};

use crate::server::{
    ClientCapability, ClientPeer, ElicitingApprover, GatewayCall, ListKind, McpServer, Request,
    RequestContext, RpcError, RpcMessage, RpcResponse, Session, SessionChange, SubscriptionFilter,
    TaskRequest, VerifiedState, request_digest,
};

/// How a request is answered.
pub(crate) enum Dispatch {
    /// At once.
    Response(RpcResponse),
    /// By an operation that takes time.
    Operation(BoxFuture<'static, RpcResponse>),
}

pub(crate) enum Operation {
    CallTool(Invoker, ToolCall),
    GetPrompt(ToolCall),
    /// The index of the resource, its address, and the call that reads it.
    ReadResource(usize, String, ToolCall),
    Subscribe(SubscriptionFilter),
    /// `tasks/get`, `tasks/update` and `tasks/cancel`.
    Task(TaskRequest),
    ChangeSession(Arc<Session>, SessionChange),
}

impl McpServer {
    /// Prepares for a request that sends a state back: the key that verifies it is one that all nodes share.
    pub(crate) async fn prepare_request_state(&self) -> Result<(), RpcError> {
        self.joined_cluster().await.map(|_| ())
    }

    /// Answers a request, or prepares the operation that will.
    pub(crate) fn dispatch(
        &self,
        message: &RpcMessage<'_>,
        context: &Arc<RequestContext>,
    ) -> Dispatch {
        let dispatched = Request::new(self, context, message.id()).dispatch(message);
        dispatched
            .unwrap_or_else(|error| Dispatch::Response(RpcResponse::error(message.id(), &error)))
    }
}

impl Request {
    fn dispatch(self, message: &RpcMessage<'_>) -> Result<Dispatch, RpcError> {
        let stateless = self.context.revision.is_stateless();
        let has_resources = !self.server.0.resources.is_empty();
        let operation = match message.method() {
            "tools/call" => self.prepare_call(message)?,
            "prompts/get" => {
                let call = tool_call(message)?;
                let name = call.name.as_str();
                self.check_named_scope(|all| all.prompt(name).map(|prompt| prompt.spec()))?;
                self.restore_request_state(message, &call)?;
                Operation::GetPrompt(call)
            }
            "resources/read" if has_resources => {
                let uri = message.uri()?;
                let (index, call) = self.find_resource(uri)?;
                self.restore_request_state(message, &call)?;
                Operation::ReadResource(index, uri.to_owned(), call)
            }
            "subscriptions/listen" if stateless => {
                Operation::Subscribe(SubscriptionFilter::parse(message)?)
            }
            "tasks/get" | "tasks/update" | "tasks/cancel" if stateless => {
                Operation::Task(self.parse_task_request(message)?)
            }
            _ => match &self.context.session {
                Some(session) if session.is_shared() && is_session_change(message) => {
                    Operation::ChangeSession(Arc::clone(session), self.session_change(message)?)
                }
                _ => return self.respond(message).map(Dispatch::Response),
            },
        };
        Ok(Dispatch::Operation(Box::pin(self.run(operation))))
    }

    /// Answers the methods that need no operation.
    fn respond(&self, message: &RpcMessage<'_>) -> Result<RpcResponse, RpcError> {
        let revision = self.context.revision;
        let stateless = revision.is_stateless();
        let has_resources = !self.server.0.resources.is_empty();
        match message.method() {
            "tools/list" => self.list_page(ListKind::Tools, message),
            "prompts/list" => self.list_page(ListKind::Prompts, message),
            "resources/list" if has_resources => Ok(self.list_resources(false)),
            "resources/templates/list" if has_resources => Ok(self.list_resources(true)),
            "completion/complete" if revision.has_completions() => self.complete(message),
            "server/discover" if stateless => Ok(self.server.discover(message.id())),
            "ping" if !stateless => Ok(self.empty_result()),
            method => match &self.context.session {
                // At once: a client on the other side of stdio does not wait before it sends the next request.
                Some(session) if is_session_change(message) => {
                    session.change(&self.session_change(message)?)?;
                    Ok(self.empty_result())
                }
                _ => Err(RpcError::method_not_found(method)),
            },
        }
    }

    /// The response of a method without a result.
    pub(crate) fn empty_result(&self) -> RpcResponse {
        RpcResponse::result(&self.id, |body| body.extend_from_slice(b"{}"))
    }

    fn list_page(&self, kind: ListKind, message: &RpcMessage<'_>) -> Result<RpcResponse, RpcError> {
        let list = self.rendered_list(kind)?;
        let cursor = message.params.cursor.as_deref();
        let page = list.page(cursor, self.server.0.limits.page_size)?;
        Ok(self.cacheable_result(kind.as_str(), |body| {
            body.reserve(page.len() + 256);
            body.extend_from_slice(&page);
        }))
    }

    fn prepare_call(&self, message: &RpcMessage<'_>) -> Result<Operation, RpcError> {
        let call = match self.resolve_gateway_call(tool_call(message)?)? {
            GatewayCall::Tool(call) => call,
            GatewayCall::Gateway(invoker, call) => return Ok(Operation::CallTool(invoker, call)),
        };
        let name = call.name.as_str();
        self.check_named_scope(|all| all.find(name).map(RegisteredTool::spec))?;
        self.restore_request_state(message, &call)?;
        let invoker = self.tools().invoker();
        let snapshot = invoker.snapshot()?;
        let tool = snapshot.find(name).filter(|tool| tool.needs_approval());
        let may_approve = tool.is_some_and(|tool| self.context.may_approve(tool.approvers()));
        let client = ClientPeer::new(&self.context);
        // The user of the client is asked only about calls that it may approve; the others are denied.
        let invoker = match may_approve && client.supports(ClientCapability::Elicitation) {
            true => invoker.with_approver(ElicitingApprover::new(client, &self.server)),
            false => invoker.clone(),
        };
        Ok(Operation::CallTool(invoker, call))
    }

    /// Verifies the request state that a client sends back, and restores the answers of earlier rounds.
    fn restore_request_state(
        &self,
        message: &RpcMessage<'_>,
        call: &ToolCall,
    ) -> Result<(), RpcError> {
        let answers = message.params.input_responses.map(|raw| raw.get());
        let Some(state) = message.params.request_state.as_deref() else {
            if let Some(answers) = answers {
                self.context.restore_answers(VerifiedState::without_state(answers));
            }
            return Ok(());
        };
        let digest = request_digest(message.method(), call, &self.context.caller);
        let verified = self.server.0.request_states.verify(&digest, state, answers);
        let invalid = "`requestState` is not ours, too old, or for another request";
        self.context.restore_answers(verified.ok_or_else(|| RpcError::invalid_params(invalid))?);
        Ok(())
    }
}

/// Returns true for the methods that change a session.
fn is_session_change(message: &RpcMessage<'_>) -> bool {
    matches!(message.method(), "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe")
}

/// The call of a tool or prompt, with the arguments as the client sent them.
fn tool_call(message: &RpcMessage<'_>) -> Result<ToolCall, RpcError> {
    let name = message.params.name.as_deref();
    let name = name.ok_or_else(|| RpcError::invalid_params("`name` is missing"))?;
    Ok(ToolCall::new(name, message.params.arguments.map_or("{}", |raw| raw.get())))
}
