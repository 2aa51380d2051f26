//! GET and DELETE: what a client does with its session beside sending requests.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::headers::{self, AcceptedTypes, SESSION_HEADER, VERSION_HEADER};
use super::responses::{self, rpc_error};
use super::{empty_response, sse};
use crate::server::{
    McpServer, RequestContext, ResponseStream, Revision, Session, SubscriptionFilter,
};
use toolwright_auth::Principal;

impl McpServer {
    /// Finds the session that a request belongs to.
    pub(super) fn find_session(
        &self,
        headers: &HeaderMap,
        visitor: &Principal,
    ) -> Result<Arc<Session>, Response> {
        let text = |name| {
            let value = headers::single_header(headers, name).ok().flatten();
            value.and_then(|value| std::str::from_utf8(value).ok())
        };
        let Some(id) = text(SESSION_HEADER) else {
            let message = "send `initialize` first and repeat its `Mcp-Session-Id`, \
                           or speak 2026-07-28, which has no sessions";
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
        };
        if let Some(version) = text(VERSION_HEADER)
            && Revision::from_date(version).is_none_or(Revision::is_stateless)
        {
            let message = format!("revision `{version}` is not one of a session");
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
        }
        let session = self
            .0
            .http
            .sessions
            .find_active(id, self.0.limits.session_idle_timeout);
        session
            .filter(|session| session.caller == *visitor.caller())
            .ok_or_else(|| {
                let message = "there is no such session, or not any more: send `initialize`";
                rpc_error(StatusCode::NOT_FOUND, -32600, message)
            })
    }

    pub(super) fn get_session_stream(&self, headers: &HeaderMap, visitor: Principal) -> Response {
        if !headers.contains_key(SESSION_HEADER) {
            return responses::method_not_allowed();
        }
        let session = match self.find_session(headers, &visitor) {
            Ok(session) => session,
            Err(refusal) => return refusal,
        };
        if !AcceptedTypes::from_headers(headers).event_stream {
            let message = "say `Accept: text/event-stream`";
            return rpc_error(StatusCode::NOT_ACCEPTABLE, -32600, message);
        }
        let permit = match self.stream_permit() {
            Ok(permit) => permit,
            Err(refusal) => return refusal,
        };
        let last = headers.get("last-event-id");
        let last = last.and_then(|last| last.to_str().ok());
        if let Some((stream, place)) = last.and_then(|last| {
            session
                .replay_buffers
                .resume_after(last, visitor.scoped_tools())
        }) {
            return sse::stream_replay(self, stream, place, false, permit);
        }
        let caller = session.caller.clone();
        let exchange = RequestContext::new(session.revision, session.capabilities, caller);
        let mut exchange = exchange.with_principal(visitor);
        exchange.session = Some(Arc::clone(&session));
        let exchange = Arc::new(exchange);
        let listening = SubscriptionFilter::list_changes().subscribe(self, &exchange);
        let (server, within) = (self.clone(), Arc::clone(&exchange));
        let work = async move { listening.run("null", &server, &within).await };
        // No id on the wire looks like this one: those are JSON.
        let name = format!("listening {:p}", Arc::as_ptr(&exchange));
        let underway = session.in_flight.start(&name, &session.ended);
        if let Some(underway) = &underway {
            session
                .replay_buffers
                .replace_standalone(underway.token.clone());
        }
        sse::stream_notifications(self, ResponseStream::new(work, exchange, underway), permit)
    }

    pub(super) fn delete_session(&self, headers: &HeaderMap, visitor: &Principal) -> Response {
        if !headers.contains_key(SESSION_HEADER) {
            return responses::method_not_allowed();
        }
        match self.find_session(headers, visitor) {
            Ok(session) => {
                self.0.http.sessions.end(&session);
                empty_response(StatusCode::NO_CONTENT)
            }
            Err(refusal) => refusal,
        }
    }
}
