//! A job in, the response out.

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
    /// Does it.
    pub(crate) async fn run(
        self: Box<Self>,
        server: McpServer,
        exchange: Arc<RequestContext>,
    ) -> RpcResponse {
        let Self { id, kind: todo } = *self;
        let done = match todo {
            OperationKind::CallTool(invoker, call) => {
                server.run_call(&id, &invoker, &call, &exchange).await
            }
            OperationKind::GetPrompt(call) => server.run_prompt(&id, &call, &exchange).await,
            OperationKind::ReadResource(number, uri, call) => {
                server
                    .run_read_resource(&id, number, &uri, &call, &exchange)
                    .await
            }
            OperationKind::Subscribe(listen) => {
                let listening = listen.subscribe(&server, &exchange);
                Ok(listening.run(&id, &server, &exchange).await)
            }
        };
        done.unwrap_or_else(|error| RpcResponse::error(&id, &error))
    }
}

impl McpServer {
    async fn run_call(
        &self,
        id: &str,
        invoker: &Invoker,
        call: &ToolCall,
        exchange: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let scope = call_scope(exchange);
        let result = if ClientPeer::new(exchange).supports(ClientCapability::Tasks) {
            exchange.allow_detaching();
            let (invoker, call) = (invoker.clone(), call.clone());
            let mut work: BoxFuture<'static, ToolResult> =
                Box::pin(async move { invoker.invoke_in(&scope, &call).await });
            match exchange.run_until_input_required(&mut work).await {
                Err(Pause::Detached) => return self.start_task(id, work, exchange),
                paused => paused,
            }
        } else {
            exchange
                .run_until_input_required(invoker.invoke_in(&scope, call))
                .await
        };
        let result = match result {
            Ok(result) => result,
            Err(pause) => {
                return self.input_required_response(id, "tools/call", call, exchange, pause);
            }
        };
        self.call_response(id, &result, invoker, call, exchange)
    }

    fn call_response(
        &self,
        id: &str,
        result: &ToolResult,
        invoker: &Invoker,
        call: &ToolCall,
        exchange: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        if result.outcome == Outcome::UnknownTool {
            return Err(RpcError::invalid_params(result.text()));
        }
        check_missing_capability(result, exchange)?;
        check_fatal(result)?;
        let declares_other = || {
            let snapshot = invoker.snapshot().ok();
            let entry = snapshot.as_ref().and_then(|it| it.find(call.name.as_str()));
            let output = entry.and_then(|entry| entry.spec().output.as_ref());
            output.is_some_and(wire::needs_result_wrapper)
        };
        let (revision, tail) = (exchange.revision, self.result_suffix(exchange.revision));
        Ok(RpcResponse::result(id, |body| {
            export::result::write_tool_result(body, result, declares_other, revision, tail);
        }))
    }

    async fn run_prompt(
        &self,
        id: &str,
        call: &ToolCall,
        exchange: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let scope = call_scope(exchange);
        let (name, arguments) = (call.name.clone(), call.arguments.clone());
        let reach = self.scoped_tools(exchange);
        let rendered = reach.invoker().render_prompt_in(&scope, name, arguments);
        let rendered = match exchange.run_until_input_required(rendered).await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(failure)) => {
                check_missing_capability(&failure, exchange)?;
                return Err(match failure.outcome {
                    Outcome::UnknownTool | Outcome::InvalidArguments => {
                        RpcError::invalid_params(failure.text())
                    }
                    _ => RpcError::internal(failure.text()),
                });
            }
            Err(pause) => {
                return self.input_required_response(id, "prompts/get", call, exchange, pause);
            }
        };
        let (revision, tail) = (exchange.revision, self.result_suffix(exchange.revision));
        Ok(RpcResponse::result(id, |body| {
            export::prompt::write_prompt_result(body, &rendered, revision, tail);
        }))
    }

    /// Ends a round with questions, and the seal that the answers have to come back with.
    pub(crate) fn input_required_response(
        &self,
        id: &str,
        method: &str,
        call: &ToolCall,
        exchange: &RequestContext,
        pause: Pause,
    ) -> Result<RpcResponse, RpcError> {
        let Pause::InputRequired(asked) = pause else {
            return Err(RpcError::internal("only a call can go on as a task"));
        };
        let keys = asked.iter().map(|it| it.key.clone()).collect();
        let subject = request_identity(method, call, exchange);
        let state = self
            .0
            .request_states
            .sign(&subject, exchange.answers(), keys);
        let requests: Map<String, Value> = asked.iter().map(InputRequest::to_wire).collect();
        let result = json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": state,
        });
        Ok(RpcResponse::result(id, |body| write_json(body, &result)))
    }
}

/// Tells the client what it lacks, if that is why the call failed and the revision has words for it.
pub(crate) fn check_missing_capability(
    result: &ToolResult,
    exchange: &RequestContext,
) -> Result<(), RpcError> {
    if !result.is_error() || !exchange.revision.is_stateless() {
        return Ok(());
    }
    match exchange.missing_capabilities().as_slice() {
        [] => Ok(()),
        missing => Err(RpcError::missing_capability(missing)),
    }
}

/// Takes an error that ends a turn for one of the protocol: no model is to read it and go on.
pub(crate) fn check_fatal(result: &ToolResult) -> Result<(), RpcError> {
    match result.error {
        Some(ErrorKind::Fatal) => Err(RpcError::internal(result.text())),
        _ => Ok(()),
    }
}

/// Makes the scope of a call: whose it is, which session, who listens.
pub(crate) fn call_scope(exchange: &Arc<RequestContext>) -> CallScope {
    let mut scope = CallScope::new()
        .caller(exchange.caller.clone())
        .extension(Arc::clone(exchange));
    if let Some(session) = &exchange.session {
        scope = scope.session(session.id.clone());
    }
    if exchange.progress_token.is_some() {
        let exchange = Arc::clone(exchange);
        scope = scope.on_event(move |event| exchange.report_progress(event));
    }
    scope
}
