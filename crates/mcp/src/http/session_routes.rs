//! GET opens the notification stream of a session or resumes a response, DELETE ends the session.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use toolwright_auth::Principal;

use super::headers::{self, AcceptedTypes, SESSION_HEADER, VERSION_HEADER};
use super::responses::{self, rpc_error};
use super::sse;
use crate::server::{McpServer, Revision, Session};

impl McpServer {
    /// Finds the session of a request; only its own caller may use it.
    pub(super) fn find_session(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
    ) -> Result<Arc<Session>, Response> {
        let text = |name| {
            let value = headers::single_header(headers, name).ok().flatten();
            value.and_then(|value| std::str::from_utf8(value).ok())
        };
        let Some(id) = text(SESSION_HEADER) else {
            let message = "send `initialize` first and repeat its `Mcp-Session-Id`, \
                           or use 2026-07-28, which has no sessions";
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
        };
        if let Some(version) = text(VERSION_HEADER)
            && Revision::from_date(version).is_none_or(Revision::is_stateless)
        {
            let message = format!("revision `{version}` is not one of a session");
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
        }
        let session = self.0.http.sessions.find_active(id, self.0.limits.session_idle_timeout);
        session.filter(|session| session.caller == *principal.caller()).ok_or_else(|| {
            let message = "there is no such session, or not any more: send `initialize`";
            rpc_error(StatusCode::NOT_FOUND, -32600, message)
        })
    }

    pub(super) fn get_session_stream(
        &self,
        headers: &HeaderMap,
        principal: Principal,
    ) -> Result<Response, Response> {
        if !headers.contains_key(SESSION_HEADER) {
            return Err(responses::method_not_allowed());
        }
        let session = self.find_session(headers, &principal)?;
        if !AcceptedTypes::from_headers(headers).event_stream {
            let message = "send `Accept: text/event-stream`";
            return Err(rpc_error(StatusCode::NOT_ACCEPTABLE, -32600, message));
        }
        let permit = self.stream_permit()?;
        let last_event = headers.get("last-event-id");
        let last_event = last_event.and_then(|id| id.to_str().ok());
        if let Some((buffer, index)) = last_event.and_then(|last_event| {
            session.replay_buffers.resume_after(last_event, principal.scoped_tools())
        }) {
            return Ok(sse::stream_replay(self, buffer, index, false, permit));
        }
        let ended = session.ended.child_token();
        session.replay_buffers.replace_standalone(ended.clone());
        let stream = self.session_notifications(&session, Some(principal), &ended);
        // The session has sent no request for these notifications, so they end without a response.
        Ok(sse::stream_items(self, Some(sse::KEEP_ALIVE), stream, permit, false))
    }

    pub(super) fn delete_session(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
    ) -> Result<Response, Response> {
        if !headers.contains_key(SESSION_HEADER) {
            return Err(responses::method_not_allowed());
        }
        self.0.http.sessions.end(&*self.find_session(headers, principal)?);
        Ok(responses::empty(StatusCode::NO_CONTENT))
    }
}
