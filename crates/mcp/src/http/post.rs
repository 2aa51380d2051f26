//! POST: a message in, its response out, as JSON or as the end of an event stream.

use std::sync::Arc;

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;
use toolwright_auth::Principal;

use super::headers::{self, AcceptedTypes, SESSION_HEADER, VERSION_HEADER};
use super::responses::{self, rpc_error};
use super::sse;
use crate::server::{
    Dispatch, McpServer, MessageKind, RequestContext, ResponseStream, RpcError, RpcMessage,
    RpcResponse, StreamItem,
};

/// The parts of a POST request that its handlers need.
pub(super) struct PostRequest<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) accepted_types: AcceptedTypes,
    pub(super) principal: Principal,
    pub(super) permit: OwnedSemaphorePermit,
}

impl McpServer {
    pub(super) async fn post<B>(&self, request: Request<B>, principal: Principal) -> Response
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
            let message = "send `Content-Type: application/json`";
            return rpc_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, message);
        }
        let accepted_types = AcceptedTypes::from_headers(&parts.headers);
        if !accepted_types.json {
            let message = "send `Accept: application/json, text/event-stream`";
            return rpc_error(StatusCode::NOT_ACCEPTABLE, -32600, message);
        }
        let bytes = match self.read_body(&parts.headers, body).await {
            Ok(bytes) => bytes,
            Err(response) => return response,
        };
        let incoming = PostRequest { headers: &parts.headers, accepted_types, principal, permit };
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return self.post_batch(incoming, &bytes).await;
        }
        let message = match RpcMessage::parse(&bytes) {
            Ok(message) => message,
            Err(invalid) => {
                let body = RpcResponse::error(invalid.id(), &invalid.error).body;
                return responses::json(StatusCode::BAD_REQUEST, body);
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

    /// Reads the body, up to the limits of size and time.
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
        let collect = std::pin::pin!(Limited::new(body, limits.max_message_bytes).collect());
        match timeout(limits.read_timeout, collect).await {
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
                let message = "without a session the server sends no requests, so there is nothing to respond to";
                return rpc_error(StatusCode::BAD_REQUEST, -32600, message);
            }
        }
        let PostRequest { headers, principal, .. } = &incoming;
        let checked = headers::check_headers_match_body(self, headers, version, message, principal);
        match checked.and_then(|()| self.stateless_context(message)) {
            Ok(context) => self.answer_request(incoming, context, message).await,
            Err(error) => responses::from_rpc(RpcResponse::error(message.id(), &error)),
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
            Err(response) => return response,
        };
        match message.kind() {
            MessageKind::Response => session.handle_response(message),
            MessageKind::Notification => session.in_flight.handle_notification(message),
            MessageKind::Request => {
                let context = RequestContext::in_session(&session).with_progress(message);
                return self.answer_request(incoming, context, message).await;
            }
        }
        responses::accepted()
    }

    /// Answers a request with JSON or, if there are messages before the response, with an event stream.
    async fn answer_request(
        &self,
        incoming: PostRequest<'_>,
        context: RequestContext,
        message: &RpcMessage<'_>,
    ) -> Response {
        let mut context = context.with_principal(incoming.principal);
        context.can_stream = incoming.accepted_types.event_stream;
        let session = context.session.clone();
        let context = Arc::new(context);
        let respond = match session {
            Some(_) => responses::from_rpc_with_ok_status,
            None => responses::from_rpc,
        };
        let operation = match self.dispatch(message, &context) {
            Dispatch::Response(response) => return respond(response),
            Dispatch::Operation(operation) => operation,
        };
        let in_flight = session.as_ref().map(|session| {
            let in_flight = session.in_flight.start(message.id(), &session.ended);
            in_flight.ok_or_else(|| RpcResponse::error(message.id(), &RpcError::id_in_use()))
        });
        let in_flight = match in_flight.transpose() {
            Ok(in_flight) => in_flight,
            Err(response) => return respond(response),
        };
        let permit = match message.method() {
            // A subscription lasts: it must not hold a permit that other requests need.
            "subscriptions/listen" => match self.stream_permit() {
                Ok(permit) => permit,
                Err(response) => return response,
            },
            _ => incoming.permit,
        };
        let mut stream = ResponseStream::new(operation, context, in_flight);
        let first = match self.first_item(&mut stream, incoming.accepted_types.event_stream).await {
            Some(StreamItem::Response(response)) => return respond(response),
            Some(StreamItem::Cancelled) => return responses::accepted(),
            Some(StreamItem::Message(first)) => Some(first),
            None => None,
        };
        match session {
            Some(session) => sse::stream_resumable(self, &session, first, stream, permit),
            None => sse::stream_request(self, first, stream, permit),
        }
    }

    /// Waits for the first item; `None` when it takes so long that an event stream should be opened to keep the connection.
    async fn first_item(
        &self,
        stream: &mut ResponseStream,
        can_stream: bool,
    ) -> Option<StreamItem> {
        if can_stream {
            timeout(self.0.limits.keep_alive_interval, stream.next()).await.ok()
        } else {
            Some(stream.next().await)
        }
    }

    pub(super) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, Response> {
        let permit = Arc::clone(&self.0.http.stream_permits).try_acquire_owned();
        permit.map_err(|_| responses::service_unavailable("too many streams at once: try again"))
    }

    fn create_session(&self, incoming: PostRequest<'_>, message: &RpcMessage<'_>) -> Response {
        let (response, session) =
            match self.initialize(message, incoming.principal.caller().clone()) {
                Ok(initialized) => initialized,
                Err(error) => {
                    let response = RpcResponse::error(message.id(), &error);
                    return responses::from_rpc_with_ok_status(response);
                }
            };
        let Ok(id) = session.id.as_str().parse() else {
            return responses::service_unavailable("there is no id for a session");
        };
        if !self.0.http.sessions.add(self, session) {
            return responses::service_unavailable("too many sessions at once: try again");
        }
        let mut response = responses::from_rpc_with_ok_status(response);
        response.headers_mut().insert(SESSION_HEADER, id);
        response
    }
}
