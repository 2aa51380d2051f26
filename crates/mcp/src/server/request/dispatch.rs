//! A message in, the job it asks for out.
//!
//! Reading and doing are apart so that a message is read once, where it lies, and the job owns all it needs:
//! it may outlive the buffer it was read from.

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

/// What a request asks for.
pub(crate) enum Dispatch {
    /// Nothing: it is answered already.
    Response(RpcResponse),
    /// Something that takes its time.
    Operation(Box<Operation>),
}

/// Something to do, and the id of who waits for it.
pub(crate) struct Operation {
    pub(crate) id: Box<str>,
    pub(crate) kind: OperationKind,
}

/// What there is to do.
pub(crate) enum OperationKind {
    CallTool(Invoker, ToolCall),
    GetPrompt(ToolCall),
    /// The resource's number, its address, and the call that reads it.
    ReadResource(usize, String, ToolCall),
    Subscribe(SubscriptionFilter),
}

impl McpServer {
    /// Reads what a request asks for, and answers at once what can be.
    pub(crate) fn dispatch(
        &self,
        message: &RpcMessage<'_>,
        exchange: &Arc<RequestContext>,
    ) -> Dispatch {
        let read = self.route_method(message, exchange);
        read.unwrap_or_else(|error| Dispatch::Response(RpcResponse::error(message.id(), &error)))
    }

    fn route_method(
        &self,
        message: &RpcMessage<'_>,
        exchange: &Arc<RequestContext>,
    ) -> Result<Dispatch, RpcError> {
        let stateless = exchange.revision.is_stateless();
        let reads = !self.0.resources.is_empty();
        let done = Dispatch::Response;
        let later = |todo| {
            let id = message.id().into();
            Dispatch::Operation(Box::new(Operation { id, kind: todo }))
        };
        match message.method() {
            "tools/call" => self.prepare_call(message, exchange).map(later),
            "tools/list" => self.list_page(ListKind::Tools, message, exchange).map(done),
            "prompts/list" => self
                .list_page(ListKind::Prompts, message, exchange)
                .map(done),
            "prompts/get" => {
                let call = ToolCall::new(required_name(message)?, raw_arguments(message));
                self.check_prompt_scope(call.name.as_str(), exchange)?;
                self.restore_request_state(message, exchange, &call)?;
                Ok(later(OperationKind::GetPrompt(call)))
            }
            "resources/list" if reads => Ok(done(self.list_resources(message, exchange, false))),
            "resources/templates/list" if reads => {
                Ok(done(self.list_resources(message, exchange, true)))
            }
            "resources/read" if reads => {
                let uri = message.params.uri.as_deref();
                let uri = uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing"))?;
                let (number, call) = self.find_resource(uri, exchange)?;
                self.restore_request_state(message, exchange, &call)?;
                Ok(later(OperationKind::ReadResource(
                    number,
                    uri.to_owned(),
                    call,
                )))
            }
            "completion/complete" if exchange.revision.has_completions() => {
                self.complete(message, exchange).map(done)
            }
            "server/discover" if stateless => Ok(done(self.discover(message.id()))),
            "tasks/get" | "tasks/update" | "tasks/cancel" if stateless => {
                self.handle_task_method(message, exchange).map(done)
            }
            "subscriptions/listen" if stateless => SubscriptionFilter::parse(message)
                .map(OperationKind::Subscribe)
                .map(later),
            "ping" if !stateless => Ok(done(empty_result(message.id()))),
            method => match &exchange.session {
                Some(session) => self
                    .handle_session_method(method, message, session, exchange)
                    .map(done),
                None => Err(RpcError::method_not_found(method)),
            },
        }
    }

    fn list_page(
        &self,
        what: ListKind,
        message: &RpcMessage<'_>,
        exchange: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        let reach = self.scoped_tools(exchange);
        let (revision, caller) = (exchange.revision, &exchange.caller);
        let list = self.0.lists.get_or_render(what, reach, revision, caller)?;
        let cursor = message.params.cursor.as_deref();
        let page = list.page(cursor, self.0.limits.page_size)?;
        Ok(RpcResponse::result(message.id(), |body| {
            body.reserve(page.len() + 256);
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(what.as_str().as_bytes());
            body.extend_from_slice(br#"":"#);
            body.extend_from_slice(page.as_bytes());
            self.write_cacheable_end(body, exchange.revision);
        }))
    }

    fn prepare_call(
        &self,
        message: &RpcMessage<'_>,
        exchange: &Arc<RequestContext>,
    ) -> Result<OperationKind, RpcError> {
        let call = ToolCall::new(required_name(message)?, raw_arguments(message));
        self.check_tool_scope(call.name.as_str(), exchange)?;
        self.restore_request_state(message, exchange, &call)?;
        let invoker = self.scoped_tools(exchange).invoker();
        let snapshot = invoker.snapshot()?;
        let entry = snapshot.find(call.name.as_str());
        let asks = entry.is_some_and(toolwright_core::RegisteredTool::needs_approval);
        let client = ClientPeer::new(exchange);
        let invoker = match asks && client.supports(ClientCapability::Elicitation) {
            true => invoker.with_approver(ElicitingApprover::new(client, self)),
            false => invoker.clone(),
        };
        Ok(OperationKind::CallTool(invoker, call))
    }

    /// Opens the seal that a client brings back with its answers.
    fn restore_request_state(
        &self,
        message: &RpcMessage<'_>,
        exchange: &RequestContext,
        call: &ToolCall,
    ) -> Result<(), RpcError> {
        let answers = message.params.input_responses.map(|raw| raw.get());
        let Some(state) = message.params.request_state.as_deref() else {
            if let Some(answers) = answers {
                exchange.restore_answers(VerifiedState::without_state(answers));
            }
            return Ok(());
        };
        let subject = request_identity(message.method(), call, exchange);
        let opened = self
            .0
            .request_states
            .verify(&subject, state, answers)
            .ok_or_else(|| {
                RpcError::invalid_params(
                    "`requestState` is not ours, too old, or for another request",
                )
            })?;
        exchange.restore_answers(opened);
        Ok(())
    }
}

/// Makes the response that says no more than that all is well.
pub(crate) fn empty_result(id: &str) -> RpcResponse {
    RpcResponse::result(id, |body| body.extend_from_slice(b"{}"))
}

fn required_name<'m>(message: &'m RpcMessage<'_>) -> Result<&'m str, RpcError> {
    let name = message.params.name.as_deref();
    name.ok_or_else(|| RpcError::invalid_params("`name` is missing"))
}

/// Returns the arguments as they were written.
fn raw_arguments<'m>(message: &RpcMessage<'m>) -> &'m str {
    message.params.arguments.map_or("{}", |raw| raw.get())
}

pub(crate) fn request_identity<'a>(
    method: &'a str,
    call: &'a ToolCall,
    exchange: &'a RequestContext,
) -> RequestIdentity<'a> {
    RequestIdentity {
        method,
        name: call.name.as_str(),
        arguments: call.arguments.as_str(),
        caller: &exchange.caller,
    }
}
