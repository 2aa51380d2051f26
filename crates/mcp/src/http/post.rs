//! POST: one message in, one response out, or the stream that leads to it.

use std::sync::Arc;

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::headers::{self, AcceptedTypes, SESSION_HEADER, VERSION_HEADER};
use super::responses::{self, rpc_error};
use super::sse;
use crate::server::rpc::response::RpcResponse;
use crate::server::{
    Dispatch, McpServer, MessageKind, RequestContext, ResponseStream, RpcError, RpcMessage,
    Session, StreamItem,
};
use toolwright_auth::Principal;

/// A request on its way to its answer.
pub(super) struct PostRequest<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) accepted_types: AcceptedTypes,
    pub(super) principal: Principal,
    pub(super) permit: OwnedSemaphorePermit,
}

impl McpServer {
    pub(super) async fn post<B>(&self, request: Request<B>, visitor: Principal) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        if self.0.shutdown.is_cancelled() {
            return responses::service_unavailable("the server is shutting down");
        }
        let Ok(permit) = Arc::clone(&self.0.http.request_permits).try_acquire_owned() else {
            return responses::service_unavailable("too many requests at once: try again");
        };
        let (parts, body) = request.into_parts();
        if !headers::has_json_body(&parts.headers) {
            let message = "say `Content-Type: application/json`";
            return rpc_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, message);
        }
        let accepts = AcceptedTypes::from_headers(&parts.headers);
        if !accepts.json {
            let message = "say `Accept: application/json, text/event-stream`";
            return rpc_error(StatusCode::NOT_ACCEPTABLE, -32600, message);
        }
        let bytes = match self.read_body(&parts.headers, body).await {
            Ok(bytes) => bytes,
            Err(refusal) => return refusal,
        };
        let incoming = PostRequest {
            headers: &parts.headers,
            accepted_types: accepts,
            principal: visitor,
            permit,
        };
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return self.post_batch(incoming, &bytes).await;
        }
        let message = match RpcMessage::parse(&bytes) {
            Ok(message) => message,
            Err(unreadable) => {
                let status = StatusCode::BAD_REQUEST;
                return responses::json(
                    status,
                    RpcResponse::error(unreadable.id(), &unreadable.error).body,
                );
            }
        };
        let version = match headers::single_header(&parts.headers, VERSION_HEADER) {
            Ok(version) => version,
            Err(error) => return responses::from_rpc(RpcResponse::error(message.id(), &error)),
        };
        if headers::is_stateless_request(version, &message) {
            self.post_stateless(incoming, version, &message).await
        } else {
            self.post_in_session(incoming, &message).await
        }
    }

    /// Reads a body that is neither too long nor too slow.
    async fn read_body<B>(&self, headers: &HeaderMap, body: B) -> Result<Bytes, Response>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>>,
    {
        let limits = &self.0.limits;
        let too_large = || {
            let message = format!("a message may have {} bytes", limits.max_message_bytes);
            rpc_error(StatusCode::PAYLOAD_TOO_LARGE, -32600, message)
        };
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > limits.max_message_bytes as u64) {
            return Err(too_large());
        }
        let collecting = std::pin::pin!(Limited::new(body, limits.max_message_bytes).collect());
        match timeout(limits.read_timeout, collecting).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => {
                let message = "the message did not arrive whole";
                Err(rpc_error(StatusCode::BAD_REQUEST, -32700, message))
            }
            Err(_) => {
                let message = "the message took too long to arrive";
                Err(rpc_error(StatusCode::REQUEST_TIMEOUT, -32600, message))
            }
        }
    }

    async fn post_stateless(
        &self,
        incoming: PostRequest<'_>,
        version: Option<&[u8]>,
        message: &RpcMessage<'_>,
    ) -> Response {
        match message.kind() {
            MessageKind::Request => {}
            MessageKind::Notification => return responses::accepted(),
            MessageKind::Response => {
                let message = "without a session nobody asks, so nobody answers";
                return rpc_error(StatusCode::BAD_REQUEST, -32600, message);
            }
        }
        let visitor = incoming.principal;
        let checked =
            headers::check_headers_match_body(self, incoming.headers, version, message, &visitor);
        let exchange =
            checked.and_then(|()| self.stateless_context(message, visitor.caller().clone()));
        let mut exchange = match exchange {
            Ok(exchange) => exchange.with_principal(visitor),
            Err(error) => return responses::from_rpc(RpcResponse::error(message.id(), &error)),
        };
        exchange.can_stream = incoming.accepted_types.event_stream;
        let exchange = Arc::new(exchange);
        let work = match self.dispatch(message, &exchange) {
            Dispatch::Response(reply) => return responses::from_rpc(reply),
            Dispatch::Operation(work) => work,
        };
        let permit = match message.method() {
            // A stream of changes lasts; it must not keep a request from being answered.
            "subscriptions/listen" => match self.stream_permit() {
                Ok(permit) => permit,
                Err(refusal) => return refusal,
            },
            _ => incoming.permit,
        };
        let work = work.run(self.clone(), Arc::clone(&exchange));
        let mut running = ResponseStream::new(work, exchange, None);
        match self
            .first_item(&mut running, incoming.accepted_types.event_stream)
            .await
        {
            Some(StreamItem::Response(reply)) => responses::from_rpc(reply),
            Some(StreamItem::Cancelled) => responses::accepted(),
            Some(StreamItem::Message(first)) => {
                sse::stream_request(self, Some(first), running, permit)
            }
            None => sse::stream_request(self, None, running, permit),
        }
    }

    async fn post_in_session(
        &self,
        incoming: PostRequest<'_>,
        message: &RpcMessage<'_>,
    ) -> Response {
        if message.method() == "initialize" && message.kind() == MessageKind::Request {
            return self.create_session(incoming, message);
        }
        let session = match self.find_session(incoming.headers, &incoming.principal) {
            Ok(session) => session,
            Err(refusal) => return refusal,
        };
        match message.kind() {
            MessageKind::Response => session.handle_response(message),
            MessageKind::Notification => handle_notification(&session, message),
            MessageKind::Request => {
                return self.request_in_session(incoming, &session, message).await;
            }
        }
        responses::accepted()
    }

    async fn request_in_session(
        &self,
        incoming: PostRequest<'_>,
        session: &Arc<Session>,
        message: &RpcMessage<'_>,
    ) -> Response {
        let mut exchange = self
            .session_context(session, message)
            .with_principal(incoming.principal);
        exchange.can_stream = incoming.accepted_types.event_stream;
        let exchange = Arc::new(exchange);
        let work = match self.dispatch(message, &exchange) {
            Dispatch::Response(reply) => return responses::from_rpc_with_ok_status(reply),
            Dispatch::Operation(work) => work,
        };
        let Some(underway) = session.in_flight.start(message.id(), &session.ended) else {
            let error = RpcError::invalid_request("another request with this id is under way");
            return responses::from_rpc_with_ok_status(RpcResponse::error(message.id(), &error));
        };
        let work = work.run(self.clone(), Arc::clone(&exchange));
        let mut running = ResponseStream::new(work, exchange, Some(underway));
        match self
            .first_item(&mut running, incoming.accepted_types.event_stream)
            .await
        {
            Some(StreamItem::Response(reply)) => responses::from_rpc_with_ok_status(reply),
            Some(StreamItem::Cancelled) => responses::accepted(),
            Some(StreamItem::Message(first)) => {
                sse::stream_resumable(self, session, Some(first), running, incoming.permit)
            }
            None => sse::stream_resumable(self, session, None, running, incoming.permit),
        }
    }

    /// Waits for the first step; `None` when it takes so long that a stream should show signs of life.
    async fn first_item(&self, running: &mut ResponseStream, streams: bool) -> Option<StreamItem> {
        if streams {
            timeout(self.0.limits.keep_alive_interval, running.next())
                .await
                .ok()
        } else {
            Some(running.next().await)
        }
    }

    pub(super) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, Response> {
        let permit = Arc::clone(&self.0.http.stream_permits).try_acquire_owned();
        permit.map_err(|_| responses::service_unavailable("too many streams at once: try again"))
    }

    fn create_session(&self, incoming: PostRequest<'_>, message: &RpcMessage<'_>) -> Response {
        let (reply, session) = match self.initialize(message, incoming.principal.caller().clone()) {
            Ok(opened) => opened,
            Err(error) => {
                return responses::from_rpc_with_ok_status(RpcResponse::error(
                    message.id(),
                    &error,
                ));
            }
        };
        let Ok(id) = session.id.as_str().parse() else {
            return responses::service_unavailable("there is no id for a session");
        };
        if !self.0.http.sessions.add(self, session) {
            return responses::service_unavailable("too many sessions at once: try again");
        }
        let mut response = responses::from_rpc_with_ok_status(reply);
        response.headers_mut().insert(SESSION_HEADER, id);
        response
    }
}

/// Takes note of what a client says; what is of no interest is dropped.
pub(super) fn handle_notification(session: &Session, message: &RpcMessage<'_>) {
    if message.method() == "notifications/cancelled"
        && let Some(id) = message.params.request_id
    {
        session.in_flight.cancel(id.get());
    }
}

/// Makes the exchange of one message of a batch, which cannot say anything before its response.
pub(super) fn without_streaming(mut exchange: RequestContext) -> Arc<RequestContext> {
    exchange.can_stream = false;
    Arc::new(exchange)
}
