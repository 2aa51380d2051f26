//! A job in, the response out.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use toolwright_core::{ErrorKind, Invoker, Outcome, Scope, ToolCall, ToolResult, wire};

use super::McpServer;
use super::capability::Capability;
use super::client::Client;
use super::error::RpcError;
use super::exchange::{Asked, Exchange, Pause};
use super::job::{Todo, Work, subject};
use super::reply::{Reply, write_json};
use crate::export;

impl Work {
    /// Does it.
    pub(crate) async fn run(self: Box<Self>, server: McpServer, exchange: Arc<Exchange>) -> Reply {
        let Self { id, todo } = *self;
        let done = match todo {
            Todo::Call(invoker, call) => server.run_call(&id, &invoker, &call, &exchange).await,
            Todo::Prompt(call) => server.run_prompt(&id, &call, &exchange).await,
            Todo::Read(number, uri, call) => {
                server.run_read(&id, number, &uri, &call, &exchange).await
            }
            Todo::Listen(listen) => {
                let listening = listen.open(&server, &exchange);
                Ok(listening.run(&id, &server, &exchange).await)
            }
        };
        done.unwrap_or_else(|error| Reply::error(&id, &error))
    }
}

impl McpServer {
    async fn run_call(
        &self,
        id: &str,
        invoker: &Invoker,
        call: &ToolCall,
        exchange: &Arc<Exchange>,
    ) -> Result<Reply, RpcError> {
        let scope = scope(exchange);
        let result = if Client::new(exchange).can(Capability::Tasks) {
            exchange.allow_detaching();
            let (invoker, call) = (invoker.clone(), call.clone());
            let mut work: BoxFuture<'static, ToolResult> =
                Box::pin(async move { invoker.invoke_in(&scope, &call).await });
            match exchange.until_asked(&mut work).await {
                Err(Pause::Detached) => return self.begin_task(id, work, exchange),
                paused => paused,
            }
        } else {
            exchange.until_asked(invoker.invoke_in(&scope, call)).await
        };
        let result = match result {
            Ok(result) => result,
            Err(pause) => return self.pause(id, "tools/call", call, exchange, pause),
        };
        self.finished(id, &result, invoker, call, exchange)
    }

    fn finished(
        &self,
        id: &str,
        result: &ToolResult,
        invoker: &Invoker,
        call: &ToolCall,
        exchange: &Exchange,
    ) -> Result<Reply, RpcError> {
        if result.outcome == Outcome::UnknownTool {
            return Err(RpcError::invalid_params(result.text()));
        }
        check_missing(result, exchange)?;
        check_fatal(result)?;
        let declares_other = || {
            let snapshot = invoker.snapshot().ok();
            let entry = snapshot.as_ref().and_then(|it| it.find(call.name.as_str()));
            let output = entry.and_then(|entry| entry.spec().output.as_ref());
            output.is_some_and(wire::needs_wrap)
        };
        let (revision, tail) = (exchange.revision, self.tail(exchange.revision));
        Ok(Reply::result(id, |body| {
            export::result::write(body, result, declares_other, revision, tail);
        }))
    }

    async fn run_prompt(
        &self,
        id: &str,
        call: &ToolCall,
        exchange: &Arc<Exchange>,
    ) -> Result<Reply, RpcError> {
        let scope = scope(exchange);
        let (name, arguments) = (call.name.clone(), call.arguments.clone());
        let reach = exchange.reach(&self.0.whole);
        let rendered = reach.invoker.render_in(&scope, name, arguments);
        let rendered = match exchange.until_asked(rendered).await {
            Ok(Ok(rendered)) => rendered,
            Ok(Err(failure)) => {
                check_missing(&failure, exchange)?;
                return Err(match failure.outcome {
                    Outcome::UnknownTool | Outcome::InvalidArguments => {
                        RpcError::invalid_params(failure.text())
                    }
                    _ => RpcError::internal(failure.text()),
                });
            }
            Err(pause) => return self.pause(id, "prompts/get", call, exchange, pause),
        };
        let (revision, tail) = (exchange.revision, self.tail(exchange.revision));
        Ok(Reply::result(id, |body| {
            export::prompt::write(body, &rendered, revision, tail);
        }))
    }

    /// Ends a round with questions, and the seal that the answers have to come back with.
    pub(crate) fn pause(
        &self,
        id: &str,
        method: &str,
        call: &ToolCall,
        exchange: &Exchange,
        pause: Pause,
    ) -> Result<Reply, RpcError> {
        let Pause::Asked(asked) = pause else {
            return Err(RpcError::internal("only a call can go on as a task"));
        };
        let keys = asked.iter().map(|it| it.key.clone()).collect();
        let subject = subject(method, call, exchange);
        let state = self.0.seal.close(&subject, exchange.answers(), keys);
        let requests: Map<String, Value> = asked.iter().map(Asked::request).collect();
        let result = json!({
            "resultType": "input_required",
            "inputRequests": requests,
            "requestState": state,
        });
        Ok(Reply::result(id, |body| write_json(body, &result)))
    }
}

/// Tells the client what it lacks, if that is why the call failed and the revision has words for it.
pub(crate) fn check_missing(result: &ToolResult, exchange: &Exchange) -> Result<(), RpcError> {
    if !result.is_error() || !exchange.revision.is_stateless() {
        return Ok(());
    }
    match exchange.missing().as_slice() {
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
pub(crate) fn scope(exchange: &Arc<Exchange>) -> Scope {
    let mut scope = Scope::new()
        .caller(exchange.caller.clone())
        .bring(Arc::clone(exchange));
    if let Some(session) = &exchange.session {
        scope = scope.session(session.id.clone());
    }
    if exchange.progress.is_some() {
        let exchange = Arc::clone(exchange);
        scope = scope.on_event(move |event| exchange.report(event));
    }
    scope
}
