//! The context of a request: from the handshake of its session, or from its own `_meta`.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_auth::Principal;
use toolwright_core::__internal::random_hex;
use toolwright_core::{Caller, CancellationToken, SessionId};

use crate::server::error::TASKS_EXTENSION;
use crate::server::{
    LogLevel, McpServer, Request, RequestContext, ResponseStream, Revision, RpcError, RpcMessage,
    RpcResponse, ServerState, Session, SessionChange, SubscriptionFilter, set_field, write_json,
};

impl McpServer {
    /// Handles `initialize`: opens a session.
    pub(crate) fn initialize(
        &self,
        message: &RpcMessage<'_>,
        caller: Caller,
    ) -> Result<(RpcResponse, Session), RpcError> {
        let params = &message.params;
        let requested = params.protocol_version.as_deref();
        let requested =
            requested.ok_or_else(|| RpcError::invalid_params("`protocolVersion` is missing"))?;
        let capabilities = params.capabilities;
        let capabilities =
            capabilities.ok_or_else(|| RpcError::invalid_params("`capabilities` are missing"))?;
        // The answer to an unknown revision is the newest one; the client may disconnect then.
        let revision = Revision::from_date(requested)
            .filter(|revision| !revision.is_stateless())
            .unwrap_or(Revision::NEWEST_WITH_SESSIONS);
        let id = random_hex(16)
            .map_err(|_| RpcError::internal("there are no random numbers for a session id"))?;
        let mut result = json!({
            "protocolVersion": revision.as_str(),
            "capabilities": self.server_capabilities(revision),
            "serverInfo": self.0.server_info(revision),
        });
        if let Some(instructions) = &self.0.instructions {
            set_field(&mut result, "instructions", instructions.as_str());
        }
        let response = RpcResponse::result(message.id(), |body| write_json(body, &result));
        let session = Session::new(SessionId::from(id), revision, capabilities, caller);
        Ok((response, session))
    }

    /// Handles `server/discover`, the counterpart of `initialize` without sessions.
    pub(crate) fn discover(&self, id: &str) -> RpcResponse {
        let revision = Revision::V2026_07_28;
        let versions = [revision.as_str()];
        RpcResponse::result(id, |body| {
            body.extend_from_slice(br#"{"supportedVersions":"#);
            write_json(body, &versions);
            body.extend_from_slice(br#","capabilities":"#);
            write_json(body, &self.server_capabilities(revision));
            if let Some(instructions) = &self.0.instructions {
                body.extend_from_slice(br#","instructions":"#);
                write_json(body, instructions);
            }
            self.write_cacheable_end(body, revision);
        })
    }

    /// Makes the context of a request without a session, from its `_meta`.
    pub(crate) fn stateless_context(
        &self,
        message: &RpcMessage<'_>,
    ) -> Result<RequestContext, RpcError> {
        let meta = &message.params.meta;
        let missing = |field: &str| {
            let message = format!("`_meta` lacks `io.modelcontextprotocol/{field}`");
            RpcError::invalid_params(message).with_status(400)
        };
        let version = meta.protocol_version.as_deref();
        let version = version.ok_or_else(|| missing("protocolVersion"))?;
        let revision = Revision::from_date(version)
            .filter(|revision| revision.is_stateless())
            .ok_or_else(|| RpcError::unsupported_version(version))?;
        let capabilities = meta.capabilities;
        let capabilities = capabilities.ok_or_else(|| missing("clientCapabilities"))?;
        let log_level = meta.log_level.as_deref().map(parse_log_level).transpose()?;
        let mut context = RequestContext::new(revision, capabilities).with_progress(message);
        context.log_level = log_level;
        Ok(context)
    }

    /// The notifications of a session that belong to no request, until `ended` is cancelled.
    pub(crate) fn session_notifications(
        &self,
        session: &Arc<Session>,
        principal: Option<Principal>,
        ended: &CancellationToken,
    ) -> ResponseStream {
        let mut context = RequestContext::in_session(session);
        if let Some(principal) = principal {
            context = context.with_principal(principal);
        }
        let context = Arc::new(context);
        let request = Request::new(self, &context, "null");
        let subscription = SubscriptionFilter::list_changes().subscribe(&request);
        let operation = async move { subscription.run(&request).await };
        // Not JSON, so no request of the client has this id.
        let id = format!("listening {:p}", Arc::as_ptr(&context));
        let in_flight = session.in_flight.start(&id, ended);
        ResponseStream::new(Box::pin(operation), context, in_flight)
    }

    fn server_capabilities(&self, revision: Revision) -> Value {
        let mut capabilities = json!({
            "tools": { "listChanged": true },
            "prompts": { "listChanged": true },
            "logging": {},
        });
        if revision.has_completions() {
            set_field(&mut capabilities, "completions", json!({}));
        }
        if revision.is_stateless() {
            set_field(&mut capabilities, "extensions", json!({ TASKS_EXTENSION: {} }));
        }
        if !self.0.resources.is_empty() {
            set_field(&mut capabilities, "resources", json!({ "subscribe": true }));
        }
        capabilities
    }
}

impl Request {
    /// Returns the change of its session that a request demands.
    pub(crate) fn session_change(
        &self,
        message: &RpcMessage<'_>,
    ) -> Result<SessionChange, RpcError> {
        let has_resources = !self.server.0.resources.is_empty();
        Ok(match message.method() {
            "logging/setLevel" => {
                let name = message.params.level.as_deref().unwrap_or_default();
                SessionChange::SetLogLevel(parse_log_level(name)?)
            }
            "resources/subscribe" if has_resources => {
                self.find_resource(message.uri()?)?;
                SessionChange::Subscribe(message.uri()?.to_owned())
            }
            "resources/unsubscribe" if has_resources => {
                SessionChange::Unsubscribe(message.uri()?.to_owned())
            }
            method => return Err(RpcError::method_not_found(method)),
        })
    }
}

impl ServerState {
    /// Returns the `serverInfo` object.
    pub(crate) fn server_info(&self, revision: Revision) -> Value {
        let mut info = json!({ "name": self.name, "version": self.version });
        if let Some(title) = self.title.as_deref().filter(|_| revision.has_structured_content()) {
            set_field(&mut info, "title", title);
        }
        // Came with icons, in the same revision.
        if let Some(description) = self.description.as_deref().filter(|_| revision.has_icons()) {
            set_field(&mut info, "description", description);
        }
        info
    }
}

fn parse_log_level(name: &str) -> Result<LogLevel, RpcError> {
    serde_json::from_value(name.into())
        .map_err(|_| RpcError::invalid_params(format!("there is no log level `{name}`")))
}
