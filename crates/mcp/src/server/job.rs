//! A message in, the job it asks for out.
//!
//! Reading and doing are apart so that a message is read once, where it lies, and the job owns all it needs:
//! it may outlive the buffer it was read from.

use std::sync::Arc;

use toolwright_core::{Invoker, ToolCall};

use super::McpServer;
use super::approve::Asker;
use super::capability::Capability;
use super::client::Client;
use super::error::RpcError;
use super::exchange::Exchange;
use super::listen::Listen;
use super::lists::What;
use super::message::Message;
use super::reply::Reply;
use super::state::{Opened, Subject};

/// What a request asks for.
pub(crate) enum Job {
    /// Nothing: it is answered already.
    Done(Reply),
    /// Something that takes its time.
    Work(Box<Work>),
}

/// Something to do, and the id of who waits for it.
pub(crate) struct Work {
    pub(super) id: Box<str>,
    pub(super) todo: Todo,
}

/// What there is to do.
pub(super) enum Todo {
    Call(Invoker, ToolCall),
    Prompt(ToolCall),
    /// The resource's number, its address, and the call that reads it.
    Read(usize, String, ToolCall),
    Listen(Listen),
}

impl McpServer {
    /// Reads what a request asks for, and answers at once what can be.
    pub(crate) fn job(&self, message: &Message<'_>, exchange: &Arc<Exchange>) -> Job {
        let read = self.read_job(message, exchange);
        read.unwrap_or_else(|error| Job::Done(Reply::error(message.id(), &error)))
    }

    fn read_job(&self, message: &Message<'_>, exchange: &Arc<Exchange>) -> Result<Job, RpcError> {
        let stateless = exchange.revision.is_stateless();
        let reads = !self.0.resources.is_empty();
        let done = Job::Done;
        let later = |todo| {
            let id = message.id().into();
            Job::Work(Box::new(Work { id, todo }))
        };
        match message.method() {
            "tools/call" => self.call(message, exchange).map(later),
            "tools/list" => self.list(What::Tools, message, exchange).map(done),
            "prompts/list" => self.list(What::Prompts, message, exchange).map(done),
            "prompts/get" => {
                let call = ToolCall::new(name(message)?, arguments(message));
                self.check_prompt(call.name.as_str(), exchange)?;
                self.open_state(message, exchange, &call)?;
                Ok(later(Todo::Prompt(call)))
            }
            "resources/list" if reads => Ok(done(self.list_resources(message, exchange, false))),
            "resources/templates/list" if reads => {
                Ok(done(self.list_resources(message, exchange, true)))
            }
            "resources/read" if reads => {
                let uri = message.params.uri.as_deref();
                let uri = uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing"))?;
                let (number, call) = self.find_resource(uri, exchange)?;
                self.open_state(message, exchange, &call)?;
                Ok(later(Todo::Read(number, uri.to_owned(), call)))
            }
            "completion/complete" if exchange.revision.has_completions() => {
                self.complete(message, exchange).map(done)
            }
            "server/discover" if stateless => Ok(done(self.discover(message.id()))),
            "tasks/get" | "tasks/update" | "tasks/cancel" if stateless => {
                self.about_task(message, exchange).map(done)
            }
            "subscriptions/listen" if stateless => {
                Listen::read(message).map(Todo::Listen).map(later)
            }
            "ping" if !stateless => Ok(done(nothing(message.id()))),
            method => match &exchange.session {
                Some(session) => self
                    .session_only(method, message, session, exchange)
                    .map(done),
                None => Err(RpcError::no_such_method(method)),
            },
        }
    }

    fn list(
        &self,
        what: What,
        message: &Message<'_>,
        exchange: &Exchange,
    ) -> Result<Reply, RpcError> {
        let reach = exchange.reach(&self.0.whole);
        let (revision, caller) = (exchange.revision, &exchange.caller);
        let list = reach.lists.get(what, &reach.invoker, revision, caller)?;
        let cursor = message.params.cursor.as_deref();
        let page = list.page(cursor, self.0.limits.page)?;
        Ok(Reply::result(message.id(), |body| {
            body.reserve(page.len() + 256);
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(what.as_str().as_bytes());
            body.extend_from_slice(br#"":"#);
            body.extend_from_slice(page.as_bytes());
            self.end_cached(body, exchange.revision);
        }))
    }

    fn call(&self, message: &Message<'_>, exchange: &Arc<Exchange>) -> Result<Todo, RpcError> {
        let call = ToolCall::new(name(message)?, arguments(message));
        self.check_tool(call.name.as_str(), exchange)?;
        self.open_state(message, exchange, &call)?;
        let invoker = &exchange.reach(&self.0.whole).invoker;
        let snapshot = invoker.snapshot()?;
        let entry = snapshot.find(call.name.as_str());
        let asks = entry.is_some_and(toolwright_core::Entry::needs_approval);
        let client = Client::new(exchange);
        let invoker = match asks && client.can(Capability::Elicitation) {
            true => invoker.with_approver(Asker::new(client, self)),
            false => invoker.clone(),
        };
        Ok(Todo::Call(invoker, call))
    }

    /// Opens the seal that a client brings back with its answers.
    fn open_state(
        &self,
        message: &Message<'_>,
        exchange: &Exchange,
        call: &ToolCall,
    ) -> Result<(), RpcError> {
        let answers = message.params.input_responses.map(|raw| raw.get());
        let Some(state) = message.params.request_state.as_deref() else {
            if let Some(answers) = answers {
                exchange.bring(Opened::unasked(answers));
            }
            return Ok(());
        };
        let subject = subject(message.method(), call, exchange);
        let opened = self.0.seal.open(&subject, state, answers).ok_or_else(|| {
            RpcError::invalid_params("`requestState` is not ours, too old, or for another request")
        })?;
        exchange.bring(opened);
        Ok(())
    }
}

/// Makes the response that says no more than that all is well.
pub(crate) fn nothing(id: &str) -> Reply {
    Reply::result(id, |body| body.extend_from_slice(b"{}"))
}

fn name<'m>(message: &'m Message<'_>) -> Result<&'m str, RpcError> {
    let name = message.params.name.as_deref();
    name.ok_or_else(|| RpcError::invalid_params("`name` is missing"))
}

/// Returns the arguments as they were written.
fn arguments<'m>(message: &Message<'m>) -> &'m str {
    message.params.arguments.map_or("{}", |raw| raw.get())
}

pub(super) fn subject<'a>(
    method: &'a str,
    call: &'a ToolCall,
    exchange: &'a Exchange,
) -> Subject<'a> {
    Subject {
        method,
        name: call.name.as_str(),
        arguments: call.arguments.as_str(),
        caller: &exchange.caller,
    }
}
