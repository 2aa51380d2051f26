//! GET opens the notification stream of a session or resumes a response, DELETE ends the session.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use tokio::sync::OwnedSemaphorePermit;
use toolwright_auth::Principal;

use super::headers::{self, AcceptedTypes, SESSION_HEADER, VERSION_HEADER};
use super::responses::{self, rejection, rpc_error};
use super::sse;
use crate::server::cluster::{Announcement, NodeReply, NodeRequest};
use crate::server::{
    AnsweredRequest, EventId, McpServer, Revision, RpcMessage, Session, client_answer,
};

/// The id of a request that is longer is cancelled at its own node only, in bytes.
const MAX_CANCELLED_ID: usize = 1024;

impl McpServer {
    /// Finds the session of a request; only its own caller may use it.
    pub(super) async fn find_session(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
    ) -> Result<Arc<Session>, Response> {
        let text = |name| {
            let value = headers::single_header(headers, name).ok().flatten();
            value.and_then(|value| std::str::from_utf8(value).ok())
        };
        let Some(id) = text(&SESSION_HEADER) else {
            let message = "send `initialize` first and repeat its `Mcp-Session-Id`, \
                           or use 2026-07-28, which has no sessions";
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
        };
        if let Some(version) = text(&VERSION_HEADER)
            && Revision::from_date(version).is_none_or(Revision::is_stateless)
        {
            let message = format!("revision `{version}` is not one of a session");
            return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
        }
        let session = match self.0.sessions.find_active(id, self.0.limits.session_idle_timeout) {
            Some(session) => {
                self.refresh_if_due(&session);
                Some(session)
            }
            None if self.0.cluster.is_some() => {
                let loaded = Box::pin(self.load_session(id, principal.caller())).await;
                loaded.map_err(|error| rejection(&error))?
            }
            None => None,
        };
        session.filter(|session| session.caller == *principal.caller()).ok_or_else(|| {
            let message = "there is no such session, or not any more: send `initialize`";
            rpc_error(StatusCode::NOT_FOUND, -32600, message)
        })
    }

    /// Passes a response of the client to the node that waits for it; it is dropped if none does.
    pub(super) async fn deliver_answer(
        &self,
        session: &Session,
        message: &RpcMessage<'_>,
    ) -> Result<(), Response> {
        match (session.answered_request(message.id()), &self.0.cluster) {
            (Some(AnsweredRequest::Own(request)), _) => {
                session.resolve_request(request, client_answer(message));
            }
            (Some(AnsweredRequest::Remote(node, request)), Some(cluster)) => {
                let session = session.id.as_str().to_owned();
                let answer = client_answer(message);
                let request = NodeRequest::DeliverAnswer { session, request, answer };
                let delivered = cluster.ask(node, request, Duration::ZERO).await;
                if let Some(NodeReply::TooLarge) = delivered.map_err(|error| rejection(&error))? {
                    let message = "the response is too large to be sent to another node";
                    return Err(rpc_error(StatusCode::PAYLOAD_TOO_LARGE, -32600, message));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Handles a notification; a request of the session that is cancelled may run at another node.
    pub(super) fn handle_notification(
        &self,
        session: &Session,
        message: &RpcMessage<'_>,
    ) -> Result<(), Response> {
        if let Some(request) = session.in_flight.handle_notification(message)
            && let Some(cluster) = self.0.cluster.as_ref()
            && request.len() <= MAX_CANCELLED_ID
        {
            cluster.check_bus().map_err(|error| rejection(&error))?;
            let session = session.id.as_str().to_owned();
            let request = request.to_owned();
            cluster.announce(&Announcement::RequestCancelled { session, request });
        }
        Ok(())
    }

    pub(super) async fn get_session_stream(
        &self,
        headers: &HeaderMap,
        principal: Principal,
    ) -> Result<Response, Response> {
        if !headers.contains_key(&SESSION_HEADER) {
            return Err(responses::method_not_allowed());
        }
        let session = self.find_session(headers, &principal).await?;
        if !AcceptedTypes::from_headers(headers).event_stream {
            let message = "send `Accept: text/event-stream`";
            return Err(rpc_error(StatusCode::NOT_ACCEPTABLE, -32600, message));
        }
        let permit = self.stream_permit()?;
        let last_event = headers.get("last-event-id");
        let last_event = last_event.and_then(|id| EventId::parse(id.to_str().ok()?));
        let permit = match last_event {
            Some(event) => match self.resume_stream(&session, &principal, event, permit).await? {
                Ok(resumed) => return Ok(resumed),
                Err(permit) => permit,
            },
            None => permit,
        };
        let ended = session.ended.child_token();
        session.replay_buffers.replace_standalone(ended.clone());
        if let Some(cluster) = self.0.cluster.as_ref() {
            let session = session.id.as_str().to_owned();
            cluster.announce(&Announcement::NotificationStreamOpened { session });
        }
        let stream = self.session_notifications(&session, Some(principal), &ended);
        // The session has sent no request for these notifications, so they end without a response.
        Ok(sse::stream_items(self, Some(sse::KEEP_ALIVE), stream, permit, false))
    }

    /// Resumes the stream of an event, at whichever node it is; returns the permit if that is not possible.
    async fn resume_stream(
        &self,
        session: &Session,
        principal: &Principal,
        event: EventId,
        permit: OwnedSemaphorePermit,
    ) -> Result<Result<Response, OwnedSemaphorePermit>, Response> {
        let tools = principal.scoped_tools();
        let is_own = event.origin.as_ref().map(|origin| &origin.node) == session.node();
        if is_own {
            let buffer = session.replay_buffers.find(event.stream, tools.scopes());
            return Ok(match buffer {
                Some(buffer) => Ok(sse::stream_replay(self, buffer, event.position, false, permit)),
                None => Err(permit),
            });
        }
        let stream = self.open_remote_stream(session, event, tools).await;
        Ok(match stream.map_err(|error| rejection(&error))? {
            Some(stream) => Ok(sse::stream_remote(stream, permit)),
            None => Err(permit),
        })
    }

    pub(super) async fn delete_session(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
    ) -> Result<Response, Response> {
        if !headers.contains_key(&SESSION_HEADER) {
            return Err(responses::method_not_allowed());
        }
        let session = self.find_session(headers, principal).await?;
        self.end_session(&session).await.map_err(|error| rejection(&error))?;
        Ok(responses::empty(StatusCode::NO_CONTENT))
    }
}
