//! The context of a request: from the handshake of its session, or from its own `_meta`.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_core::__internal::random_hex;
use toolwright_core::{Caller, SessionId};

use crate::server::error::{RpcError, TASKS_EXTENSION};
use crate::server::request::dispatch::empty_result;
use crate::server::request::request_context::RequestContext;
use crate::server::rpc::log_level::LogLevel;
use crate::server::rpc::message::RpcMessage;
use crate::server::rpc::response::{RpcResponse, set_field, write_json};
use crate::server::rpc::revision::Revision;
use crate::server::session::Session;
use crate::server::{McpServer, ServerState};

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
        caller: Caller,
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
        let log_level = match meta.log_level.as_deref() {
            None => None,
            Some(name) => Some(LogLevel::from_name(name).ok_or_else(|| unknown_log_level(name))?),
        };
        let mut context = RequestContext::new(revision, capabilities, caller);
        context.log_level = log_level;
        context.progress_token = meta.progress_token.map(|raw| raw.get().into());
        Ok(context)
    }

    /// Makes the context of a request in a session.
    pub(crate) fn session_context(
        &self,
        session: &Arc<Session>,
        message: &RpcMessage<'_>,
    ) -> RequestContext {
        let caller = session.caller.clone();
        let mut context = RequestContext::new(session.revision, session.capabilities, caller);
        context.session = Some(Arc::clone(session));
        context.progress_token = message.params.meta.progress_token.map(|raw| raw.get().into());
        context
    }

    /// Handles the methods that only sessions have.
    pub(crate) fn handle_session_method(
        &self,
        method: &str,
        message: &RpcMessage<'_>,
        session: &Session,
        context: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        let has_resources = !self.0.resources.is_empty();
        let uri = || {
            let uri = message.params.uri.as_deref();
            uri.ok_or_else(|| RpcError::invalid_params("`uri` is missing"))
        };
        match method {
            "logging/setLevel" => {
                let name = message.params.level.as_deref().unwrap_or_default();
                session.set_log_level(
                    LogLevel::from_name(name).ok_or_else(|| unknown_log_level(name))?,
                );
            }
            "resources/subscribe" if has_resources => {
                self.find_resource(uri()?, context)?;
                session.subscribe(uri()?);
            }
            "resources/unsubscribe" if has_resources => session.unsubscribe(uri()?),
            method => return Err(RpcError::method_not_found(method)),
        }
        Ok(empty_result(message.id()))
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

impl ServerState {
    /// Returns the `serverInfo` object.
    pub(crate) fn server_info(&self, revision: Revision) -> Value {
        let mut info = json!({ "name": self.name, "version": self.version });
        if let Some(title) = self.title.as_deref().filter(|_| revision.has_structured_content()) {
            set_field(&mut info, "title", title);
        }
        info
    }
}

fn unknown_log_level(name: &str) -> RpcError {
    RpcError::invalid_params(format!("there is no log level `{name}`"))
}
