//! Runs operations: tool calls, prompts, resources, subscriptions.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::{CallScope, ErrorKind, Invoker, Outcome, ToolCall, ToolResult, wire};

use crate::export;
use crate::server::{
    ClientCapability, ClientPeer, InputRequest, Operation, Pause, Request, RequestContext,
    RpcError, RpcResponse, SubscriptionFilter, request_digest,
};

impl Request {
    /// Runs an operation to its response.
    pub(crate) async fn run(self, operation: Operation) -> RpcResponse {
        let response = match operation {
            Operation::CallTool(invoker, call) => match self.check_call_limit().await {
                Ok(()) => self.run_call(&invoker, &call).await,
                Err(error) => Err(error),
            },
            Operation::GetPrompt(call) => self.run_prompt(&call).await,
            Operation::ReadResource(index, uri, call) => {
                self.run_read_resource(index, &uri, &call).await
            }
            Operation::Subscribe(filter) => Box::pin(self.run_subscription(filter)).await,
            // Boxed, so that the future of a call, which does not need it, stays small.
            Operation::Task(request) => Box::pin(self.run_task_request(request)).await,
            Operation::ChangeSession(session, change) => {
                let changed = Box::pin(self.server.change_session(&session, &change)).await;
                changed.map(|()| self.empty_result())
            }
        };
        response.unwrap_or_else(|error| RpcResponse::error(&self.id, &error))
    }

    async fn run_call(&self, invoker: &Invoker, call: &ToolCall) -> Result<RpcResponse, RpcError> {
        let scope = self.call_scope();
        let result = if ClientPeer::new(&self.context).supports(ClientCapability::Tasks) {
            self.context.allow_detaching();
            let (invoker, call) = (invoker.clone(), call.clone());
            let mut running: BoxFuture<'static, ToolResult> =
                Box::pin(async move { invoker.invoke_in(&scope, &call).await });
            match self.context.run_until_input_required(&mut running).await {
                Err(Pause::Detached) => return Box::pin(self.start_task(running)).await,
                other => other,
            }
        } else {
            self.context.run_until_input_required(invoker.invoke_in(&scope, call)).await
        };
        match result {
            Ok(result) => self.call_response(&result, invoker, call),
            Err(pause) => Box::pin(self.input_required_response("tools/call", call, pause)).await,
        }
    }

    fn call_response(
        &self,
        result: &ToolResult,
        invoker: &Invoker,
        call: &ToolCall,
    ) -> Result<RpcResponse, RpcError> {
        if result.outcome == Outcome::UnknownTool {
            return Err(RpcError::invalid_params(result.text()));
        }
        check_missing_capability(result, &self.context)?;
        check_fatal(result)?;
        let needs_wrapper = || {
            let snapshot = invoker.snapshot().ok();
            let entry = snapshot.as_ref().and_then(|tools| tools.find(call.name.as_str()));
            let output = entry.and_then(|entry| entry.spec().output.as_ref());
            output.is_some_and(wire::needs_result_wrapper)
        };
        let revision = self.context.revision;
        let suffix = self.server.result_suffix(revision);
        Ok(RpcResponse::result(&self.id, |body| {
            export::result::write_tool_result(body, result, needs_wrapper, revision, suffix);
        }))
    }

    async fn run_prompt(&self, call: &ToolCall) -> Result<RpcResponse, RpcError> {
        let scope = self.call_scope();
        let (name, arguments) = (call.name.clone(), call.arguments.clone());
        let rendered = self.tools().invoker().render_prompt_in(&scope, name, arguments);
        let rendered = match self.context.run_until_input_required(rendered).await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(failure)) => {
                check_missing_capability(&failure, &self.context)?;
                return Err(match failure.outcome {
                    Outcome::UnknownTool | Outcome::InvalidArguments => {
                        RpcError::invalid_params(failure.text())
                    }
                    _ => RpcError::internal(failure.text()),
                });
            }
            Err(pause) => {
                return self.input_required_response("prompts/get", call, pause).await;
            }
        };
        let revision = self.context.revision;
        let suffix = self.server.result_suffix(revision);
        Ok(RpcResponse::result(&self.id, |body| {
            export::prompt::write_prompt_result(body, &rendered, revision, suffix);
        }))
    }

    /// Sends notifications until the subscription ends.
    async fn run_subscription(&self, filter: SubscriptionFilter) -> Result<RpcResponse, RpcError> {
        // Other nodes announce changes as well.
        self.server.joined_cluster().await?;
        Ok(filter.subscribe(self).run(self).await)
    }

    /// The scope of a call: its caller, its session, and the receiver of its progress.
    pub(crate) fn call_scope(&self) -> CallScope {
        let context = &self.context;
        let scope = CallScope::new().caller(context.caller.clone()).extension(Arc::clone(context));
        let scope = match &context.session {
            Some(session) => scope.session(session.id.clone()),
            None => scope,
        };
        if context.progress_token.is_none() {
            return scope;
        }
        let context = Arc::clone(context);
        scope.on_event(move |event| context.report_progress(event))
    }

    /// The response that ends a round with requests for input, and the state to send back with the answers.
    pub(crate) async fn input_required_response(
        &self,
        method: &str,
        call: &ToolCall,
        pause: Pause,
    ) -> Result<RpcResponse, RpcError> {
        let Pause::InputRequired(requests) = pause else {
            return Err(RpcError::internal("only a call can go on as a task"));
        };
        // The key that signs the state is one that all nodes share.
        self.server.joined_cluster().await?;
        let keys = requests.iter().map(|request| request.key.clone()).collect();
        let digest = request_digest(method, call, &self.context.caller);
        let state = self.server.0.request_states.sign(digest, self.context.answers(), keys);
        let requests: Map<String, Value> = requests.iter().map(InputRequest::to_wire).collect();
        Ok(self.json_result(&json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": state,
        })))
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
