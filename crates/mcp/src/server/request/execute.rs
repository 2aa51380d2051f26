//! Runs operations: tool calls, prompts, resources, subscriptions.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::{CallScope, ErrorKind, Invoker, Outcome, ToolCall, ToolResult, wire};

use crate::export;
use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::request::client_peer::ClientPeer;
use crate::server::request::dispatch::{Operation, OperationKind, request_identity};
use crate::server::request::request_context::{InputRequest, Pause, RequestContext};
use crate::server::rpc::capability::ClientCapability;
use crate::server::rpc::response::{RpcResponse, write_json};

impl Operation {
    /// Runs it to its response.
    pub(crate) async fn run(
        self: Box<Self>,
        server: McpServer,
        context: Arc<RequestContext>,
    ) -> RpcResponse {
        let Self { id, kind } = *self;
        let response = match kind {
            OperationKind::CallTool(invoker, call) => {
                server.run_call(&id, &invoker, &call, &context).await
            }
            OperationKind::GetPrompt(call) => server.run_prompt(&id, &call, &context).await,
            OperationKind::ReadResource(index, uri, call) => {
                server.run_read_resource(&id, index, &uri, &call, &context).await
            }
            OperationKind::Subscribe(filter) => {
                let subscription = filter.subscribe(&server, &context);
                Ok(subscription.run(&id, &server, &context).await)
            }
        };
        response.unwrap_or_else(|error| RpcResponse::error(&id, &error))
    }
}

impl McpServer {
    async fn run_call(
        &self,
        id: &str,
        invoker: &Invoker,
        call: &ToolCall,
        context: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let scope = call_scope(context);
        let result = if ClientPeer::new(context).supports(ClientCapability::Tasks) {
            context.allow_detaching();
            let (invoker, call) = (invoker.clone(), call.clone());
            let mut running: BoxFuture<'static, ToolResult> =
                Box::pin(async move { invoker.invoke_in(&scope, &call).await });
            match context.run_until_input_required(&mut running).await {
                Err(Pause::Detached) => return self.start_task(id, running, context),
                other => other,
            }
        } else {
            context.run_until_input_required(invoker.invoke_in(&scope, call)).await
        };
        let result = match result {
            Ok(result) => result,
            Err(pause) => {
                return self.input_required_response(id, "tools/call", call, context, pause);
            }
        };
        self.call_response(id, &result, invoker, call, context)
    }

    fn call_response(
        &self,
        id: &str,
        result: &ToolResult,
        invoker: &Invoker,
        call: &ToolCall,
        context: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        if result.outcome == Outcome::UnknownTool {
            return Err(RpcError::invalid_params(result.text()));
        }
        check_missing_capability(result, context)?;
        check_fatal(result)?;
        let needs_wrapper = || {
            let snapshot = invoker.snapshot().ok();
            let entry = snapshot.as_ref().and_then(|tools| tools.find(call.name.as_str()));
            let output = entry.and_then(|entry| entry.spec().output.as_ref());
            output.is_some_and(wire::needs_result_wrapper)
        };
        let (revision, suffix) = (context.revision, self.result_suffix(context.revision));
        Ok(RpcResponse::result(id, |body| {
            export::result::write_tool_result(body, result, needs_wrapper, revision, suffix);
        }))
    }

    async fn run_prompt(
        &self,
        id: &str,
        call: &ToolCall,
        context: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let scope = call_scope(context);
        let (name, arguments) = (call.name.clone(), call.arguments.clone());
        let tools = self.scoped_tools(context);
        let rendered = tools.invoker().render_prompt_in(&scope, name, arguments);
        let rendered = match context.run_until_input_required(rendered).await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(failure)) => {
                check_missing_capability(&failure, context)?;
                return Err(match failure.outcome {
                    Outcome::UnknownTool | Outcome::InvalidArguments => {
                        RpcError::invalid_params(failure.text())
                    }
                    _ => RpcError::internal(failure.text()),
                });
            }
            Err(pause) => {
                return self.input_required_response(id, "prompts/get", call, context, pause);
            }
        };
        let (revision, suffix) = (context.revision, self.result_suffix(context.revision));
        Ok(RpcResponse::result(id, |body| {
            export::prompt::write_prompt_result(body, &rendered, revision, suffix);
        }))
    }

    /// The response that ends a round with requests for input, and the state to send back with the answers.
    pub(crate) fn input_required_response(
        &self,
        id: &str,
        method: &str,
        call: &ToolCall,
        context: &RequestContext,
        pause: Pause,
    ) -> Result<RpcResponse, RpcError> {
        let Pause::InputRequired(requests) = pause else {
            return Err(RpcError::internal("only a call can go on as a task"));
        };
        let keys = requests.iter().map(|request| request.key.clone()).collect();
        let identity = request_identity(method, call, context);
        let state = self.0.request_states.sign(&identity, context.answers(), keys);
        let requests: Map<String, Value> = requests.iter().map(InputRequest::to_wire).collect();
        let result = json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": state,
        });
        Ok(RpcResponse::result(id, |body| write_json(body, &result)))
    }
}

/// Returns the error that names the missing capabilities, if the call failed because of them and the revision has that error.
pub(crate) fn check_missing_capability(
    result: &ToolResult,
    context: &RequestContext,
) -> Result<(), RpcError> {
    if !result.is_error() || !context.revision.is_stateless() {
        return Ok(());
    }
    match context.missing_capabilities().as_slice() {
        [] => Ok(()),
        missing => Err(RpcError::missing_capability(missing)),
    }
}

/// Makes a fatal error a protocol error, which the client's model does not see as a result.
pub(crate) fn check_fatal(result: &ToolResult) -> Result<(), RpcError> {
    match result.error {
        Some(ErrorKind::Fatal) => Err(RpcError::internal(result.text())),
        _ => Ok(()),
    }
}

/// The scope of a call: its caller, its session, and the receiver of its progress.
pub(crate) fn call_scope(context: &Arc<RequestContext>) -> CallScope {
    let mut scope = CallScope::new().caller(context.caller.clone()).extension(Arc::clone(context));
    if let Some(session) = &context.session {
        scope = scope.session(session.id.clone());
    }
    if context.progress_token.is_some() {
        let context = Arc::clone(context);
        scope = scope.on_event(move |event| context.report_progress(event));
    }
    scope
}
