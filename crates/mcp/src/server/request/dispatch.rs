//! A request in, its response or the operation that produces it out.
//!
//! A message borrows from the buffer it was parsed from; an operation owns its data, so that it can outlive the buffer.

use std::sync::Arc;

use toolwright_core::{Invoker, ToolCall};

use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::methods::list_cache::ListKind;
use crate::server::methods::subscriptions::SubscriptionFilter;
use crate::server::request::approval::ElicitingApprover;
use crate::server::request::client_peer::ClientPeer;
use crate::server::request::request_context::RequestContext;
use crate::server::request::request_state::{RequestIdentity, VerifiedState};
use crate::server::rpc::capability::ClientCapability;
use crate::server::rpc::message::RpcMessage;
use crate::server::rpc::response::RpcResponse;

/// How a request is answered.
pub(crate) enum Dispatch {
    /// At once.
    Response(RpcResponse),
    /// By an operation that takes time.
    Operation(Box<Operation>),
}

/// An operation, and the id of its request as raw JSON.
pub(crate) struct Operation {
    pub(crate) id: Box<str>,
    pub(crate) kind: OperationKind,
}

pub(crate) enum OperationKind {
    CallTool(Invoker, ToolCall),
    GetPrompt(ToolCall),
    /// The index of the resource, its address, and the call that reads it.
    ReadResource(usize, String, ToolCall),
    Subscribe(SubscriptionFilter),
}

impl McpServer {
    /// Answers a request, or prepares the operation that will.
    pub(crate) fn dispatch(
        &self,
        message: &RpcMessage<'_>,
        context: &Arc<RequestContext>,
    ) -> Dispatch {
        let dispatched = self.route_method(message, context);
        dispatched
            .unwrap_or_else(|error| Dispatch::Response(RpcResponse::error(message.id(), &error)))
    }

    fn route_method(
        &self,
        message: &RpcMessage<'_>,
        context: &Arc<RequestContext>,
    ) -> Result<Dispatch, RpcError> {
        let stateless = context.revision.is_stateless();
        let has_resources = !self.0.resources.is_empty();
        let respond = Dispatch::Response;
        let run = |kind| {
            let id = message.id().into();
            Dispatch::Operation(Box::new(Operation { id, kind }))
        };
        match message.method() {
            "tools/call" => self.prepare_call(message, context).map(run),
            "tools/list" => self.list_page(ListKind::Tools, message, context).map(respond),
            "prompts/list" => self.list_page(ListKind::Prompts, message, context).map(respond),
            "prompts/get" => {
                let call = ToolCall::new(required_name(message)?, raw_arguments(message));
                self.check_prompt_scope(call.name.as_str(), context)?;
                self.restore_request_state(message, context, &call)?;
                Ok(run(OperationKind::GetPrompt(call)))
            }
            "resources/list" if has_resources => {
                Ok(respond(self.list_resources(message, context, false)))
            }
            "resources/templates/list" if has_resources => {
                Ok(respond(self.list_resources(message, context, true)))
            }
            "resources/read" if has_resources => {
                let uri = message.params.uri.as_deref();
                let uri = uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing"))?;
                let (index, call) = self.find_resource(uri, context)?;
                self.restore_request_state(message, context, &call)?;
                Ok(run(OperationKind::ReadResource(index, uri.to_owned(), call)))
            }
            "completion/complete" if context.revision.has_completions() => {
                self.complete(message, context).map(respond)
            }
            "server/discover" if stateless => Ok(respond(self.discover(message.id()))),
            "tasks/get" | "tasks/update" | "tasks/cancel" if stateless => {
                self.handle_task_method(message, context).map(respond)
            }
            "subscriptions/listen" if stateless => {
                SubscriptionFilter::parse(message).map(OperationKind::Subscribe).map(run)
            }
            "ping" if !stateless => Ok(respond(empty_result(message.id()))),
            method => match &context.session {
                Some(session) => {
                    self.handle_session_method(method, message, session, context).map(respond)
                }
                None => Err(RpcError::method_not_found(method)),
            },
        }
    }

    fn list_page(
        &self,
        kind: ListKind,
        message: &RpcMessage<'_>,
        context: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        let tools = self.scoped_tools(context);
        let (revision, caller) = (context.revision, &context.caller);
        let list = self.0.lists.get_or_render(kind, tools, revision, caller)?;
        let cursor = message.params.cursor.as_deref();
        let page = list.page(cursor, self.0.limits.page_size)?;
        Ok(RpcResponse::result(message.id(), |body| {
            body.reserve(page.len() + 256);
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(kind.as_str().as_bytes());
            body.extend_from_slice(br#"":"#);
            body.extend_from_slice(page.as_bytes());
            self.write_cacheable_end(body, context.revision);
        }))
    }

    fn prepare_call(
        &self,
        message: &RpcMessage<'_>,
        context: &Arc<RequestContext>,
    ) -> Result<OperationKind, RpcError> {
        let call = ToolCall::new(required_name(message)?, raw_arguments(message));
        self.check_tool_scope(call.name.as_str(), context)?;
        self.restore_request_state(message, context, &call)?;
        let invoker = self.scoped_tools(context).invoker();
        let snapshot = invoker.snapshot()?;
        let entry = snapshot.find(call.name.as_str());
        let needs_approval = entry.is_some_and(toolwright_core::RegisteredTool::needs_approval);
        let client = ClientPeer::new(context);
        let invoker = match needs_approval && client.supports(ClientCapability::Elicitation) {
            true => invoker.with_approver(ElicitingApprover::new(client, self)),
            false => invoker.clone(),
        };
        Ok(OperationKind::CallTool(invoker, call))
    }

    /// Verifies the request state that a client sends back, and restores the answers of earlier rounds.
    fn restore_request_state(
        &self,
        message: &RpcMessage<'_>,
        context: &RequestContext,
        call: &ToolCall,
    ) -> Result<(), RpcError> {
        let answers = message.params.input_responses.map(|raw| raw.get());
        let Some(state) = message.params.request_state.as_deref() else {
            if let Some(answers) = answers {
                context.restore_answers(VerifiedState::without_state(answers));
            }
            return Ok(());
        };
        let identity = request_identity(message.method(), call, context);
        let verified =
            self.0.request_states.verify(&identity, state, answers).ok_or_else(|| {
                RpcError::invalid_params(
                    "`requestState` is not ours, too old, or for another request",
                )
            })?;
        context.restore_answers(verified);
        Ok(())
    }
}

/// The response of a method without a result.
pub(crate) fn empty_result(id: &str) -> RpcResponse {
    RpcResponse::result(id, |body| body.extend_from_slice(b"{}"))
}

fn required_name<'m>(message: &'m RpcMessage<'_>) -> Result<&'m str, RpcError> {
    let name = message.params.name.as_deref();
    name.ok_or_else(|| RpcError::invalid_params("`name` is missing"))
}

/// Returns the arguments as the client sent them.
fn raw_arguments<'m>(message: &RpcMessage<'m>) -> &'m str {
    message.params.arguments.map_or("{}", |raw| raw.get())
}

pub(crate) fn request_identity<'a>(
    method: &'a str,
    call: &'a ToolCall,
    context: &'a RequestContext,
) -> RequestIdentity<'a> {
    RequestIdentity {
        method,
        name: call.name.as_str(),
        arguments: call.arguments.as_str(),
        caller: &context.caller,
    }
}
