//! GET and DELETE: what a client does with its session beside sending requests.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::answer::{self, refuse};
use super::headers::{self, Accepts, SESSION, VERSION};
use super::{empty, sse};
use crate::access::Visitor;
use crate::server::{Exchange, Listen, McpServer, Revision, Running, Session};

impl McpServer {
    /// Finds the session that a request belongs to.
    pub(super) fn session(
        &self,
        headers: &HeaderMap,
        visitor: &Visitor,
    ) -> Result<Arc<Session>, Response> {
        let text = |name| {
            let value = headers::once(headers, name).ok().flatten();
            value.and_then(|value| std::str::from_utf8(value).ok())
        };
        let Some(id) = text(SESSION) else {
            let message = "send `initialize` first and repeat its `Mcp-Session-Id`, \
                           or speak 2026-07-28, which has no sessions";
            return Err(refuse(StatusCode::BAD_REQUEST, -32600, message));
        };
        if let Some(version) = text(VERSION)
            && Revision::of(version).is_none_or(Revision::is_stateless)
        {
            let message = format!("revision `{version}` is not one of a session");
            return Err(refuse(StatusCode::BAD_REQUEST, -32600, message));
        }
        let session = self.0.http.sessions.find(id, self.0.limits.idle);
        session
            .filter(|session| session.caller == visitor.caller)
            .ok_or_else(|| {
                let message = "there is no such session, or not any more: send `initialize`";
                refuse(StatusCode::NOT_FOUND, -32600, message)
            })
    }

    pub(super) fn get(&self, headers: &HeaderMap, visitor: Visitor) -> Response {
        if !headers.contains_key(SESSION) {
            return answer::not_allowed();
        }
        let session = match self.session(headers, &visitor) {
            Ok(session) => session,
            Err(refusal) => return refusal,
        };
        if !Accepts::read(headers).streams {
            let message = "say `Accept: text/event-stream`";
            return refuse(StatusCode::NOT_ACCEPTABLE, -32600, message);
        }
        let permit = match self.stream_permit() {
            Ok(permit) => permit,
            Err(refusal) => return refusal,
        };
        let last = headers.get("last-event-id");
        let last = last.and_then(|last| last.to_str().ok());
        if let Some((stream, place)) =
            last.and_then(|last| session.streams.after(last, &visitor.reach))
        {
            return sse::of_stream(self, stream, place, false, permit);
        }
        let caller = session.caller.clone();
        let exchange = Exchange::new(session.revision, session.capabilities, caller);
        let mut exchange = exchange.of(visitor);
        exchange.session = Some(Arc::clone(&session));
        let exchange = Arc::new(exchange);
        let listening = Listen::all().open(self, &exchange);
        let (server, within) = (self.clone(), Arc::clone(&exchange));
        let work = async move { listening.run("null", &server, &within).await };
        // No id on the wire looks like this one: those are JSON.
        let name = format!("listening {:p}", Arc::as_ptr(&exchange));
        let underway = session.calls.start(&name, &session.ended);
        if let Some(underway) = &underway {
            session.streams.stand(underway.token.clone());
        }
        sse::of_listening(self, Running::new(work, exchange, underway), permit)
    }

    pub(super) fn delete(&self, headers: &HeaderMap, visitor: &Visitor) -> Response {
        if !headers.contains_key(SESSION) {
            return answer::not_allowed();
        }
        match self.session(headers, visitor) {
            Ok(session) => {
                self.0.http.sessions.end(&session);
                empty(StatusCode::NO_CONTENT)
            }
            Err(refusal) => refusal,
        }
    }
}
