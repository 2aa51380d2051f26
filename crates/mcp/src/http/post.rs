//! POST: a message in, its response out, as JSON or as the end of an event stream. A rejected request is an `Err`.

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
    RpcResponse, StreamItem, StreamOrigin,
};

/// The parts of a POST request that its handlers need.
pub(super) struct PostRequest<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) accepted_types: AcceptedTypes,
    pub(super) principal: Principal,
    pub(super) permit: OwnedSemaphorePermit,
}

impl McpServer {
    pub(super) async fn post<B>(
        &self,
        request: Request<B>,
        principal: Principal,
    ) -> Result<Response, Response>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        if self.0.shutdown.is_cancelled() {
            return Err(responses::service_unavailable("the server is shutting down"));
        }
        let permit = Arc::clone(&self.0.http.request_permits).try_acquire_owned();
        let permit = permit
            .map_err(|_| responses::service_unavailable("too many requests at once: try again"))?;
        let (parts, body) = request.into_parts();
        if !headers::has_json_body(&parts.headers) {
            let message = "send `Content-Type: application/json`";
            return Err(rpc_error(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, message));
        }
        let accepted_types = AcceptedTypes::from_headers(&parts.headers);
        if !accepted_types.json {
            let message = "send `Accept: application/json, text/event-stream`";
            return Err(rpc_error(StatusCode::NOT_ACCEPTABLE, -32600, message));
        }
        let bytes = self.read_body(&parts.headers, body).await?;
        let incoming = PostRequest { headers: &parts.headers, accepted_types, principal, permit };
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return self.post_batch(incoming, &bytes).await;
        }
        let message = RpcMessage::parse(&bytes).map_err(|invalid| {
            let body = RpcResponse::error(invalid.id(), &invalid.error).body;
            responses::json(StatusCode::BAD_REQUEST, body)
        })?;
        let version = headers::single_header(&parts.headers, &VERSION_HEADER)
            .map_err(|error| responses::from_rpc(RpcResponse::error(message.id(), &error)))?;
        match headers::is_stateless_request(version, &message) {
            true => self.post_stateless(incoming, version, &message).await,
            false => self.post_in_session(incoming, &message).await,
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
    ) -> Result<Response, Response> {
        match message.kind() {
            MessageKind::Request => {}
            MessageKind::Notification => return Ok(responses::accepted()),
            MessageKind::Response => {
                let message = "without a session the server sends no requests, so there is nothing to respond to";
                return Err(rpc_error(StatusCode::BAD_REQUEST, -32600, message));
            }
        }
        let PostRequest { headers, principal, .. } = &incoming;
        let checked = headers::check_headers_match_body(self, headers, version, message, principal);
        let reject = |error| responses::from_rpc(RpcResponse::error(message.id(), &error));
        let context = checked.and_then(|()| self.stateless_context(message)).map_err(reject)?;
        if message.params.request_state.is_some() {
            Box::pin(self.prepare_request_state()).await.map_err(reject)?;
        }
        self.answer_request(incoming, context, message).await
    }

    async fn post_in_session(
        &self,
        incoming: PostRequest<'_>,
        message: &RpcMessage<'_>,
    ) -> Result<Response, Response> {
        if message.method() == "initialize" && message.kind() == MessageKind::Request {
            // Boxed, so that the future of a call, which does not need it, stays small.
            return Box::pin(self.create_session(incoming, message)).await;
        }
        let session = self.find_session(incoming.headers, &incoming.principal).await?;
        match message.kind() {
            MessageKind::Response => Box::pin(self.deliver_answer(&session, message)).await?,
            MessageKind::Notification => self.handle_notification(&session, message)?,
            MessageKind::Request => {
                let context = RequestContext::in_session(&session).with_progress(message);
                return self.answer_request(incoming, context, message).await;
            }
        }
        Ok(responses::accepted())
    }

    /// Answers a request with JSON or, if there are messages before the response, with an event stream.
    async fn answer_request(
        &self,
        incoming: PostRequest<'_>,
        context: RequestContext,
        message: &RpcMessage<'_>,
    ) -> Result<Response, Response> {
        let mut context = context.with_principal(incoming.principal);
        context.can_stream = incoming.accepted_types.event_stream;
        let session = context.session.clone();
        let context = Arc::new(context);
        let respond = match session {
            Some(_) => responses::from_rpc_with_ok_status,
            None => responses::from_rpc,
        };
        let operation = match self.dispatch(message, &context) {
            Dispatch::Response(response) => return Ok(respond(response)),
            Dispatch::Operation(operation) => operation,
        };
        let in_flight = session.as_ref().map(|session| {
            let in_flight = session.in_flight.start(message.id(), &session.ended);
            in_flight
                .ok_or_else(|| respond(RpcResponse::error(message.id(), &RpcError::id_in_use())))
        });
        let in_flight = in_flight.transpose()?;
        let permit = match message.method() {
            // A subscription lasts: it must not hold a permit that other requests need.
            "subscriptions/listen" => self.stream_permit()?,
            _ => incoming.permit,
        };
        let mut stream = ResponseStream::new(operation, context, in_flight);
        // An event stream keeps the connection open if the first item takes long.
        let first = match incoming.accepted_types.event_stream {
            true => timeout(self.0.limits.keep_alive_interval, stream.next()).await.ok(),
            false => Some(stream.next().await),
        };
        let first = match first {
            Some(StreamItem::Response(response)) => return Ok(respond(response)),
            Some(StreamItem::Cancelled) => return Ok(responses::accepted()),
            Some(StreamItem::Message(first)) => Some(first),
            None => None,
        };
        match session {
            Some(session) => {
                let origin = session.node().map(|node| StreamOrigin::new(node, message.id()));
                let buffer = session.replay_buffers.create(stream.scoped_tools(), origin);
                let revision = session.revision;
                sse::stream_resumable(self, buffer, revision, first, stream, permit)
            }
            None => {
                let first = first.map(|message| sse::encode_event(None, message.as_bytes()));
                Ok(sse::stream_items(self, first, stream, permit, true))
            }
        }
    }

    pub(super) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, Response> {
        let permit = Arc::clone(&self.0.http.stream_permits).try_acquire_owned();
        permit.map_err(|_| responses::service_unavailable("too many streams at once: try again"))
    }

    async fn create_session(
        &self,
        incoming: PostRequest<'_>,
        message: &RpcMessage<'_>,
    ) -> Result<Response, Response> {
        let initialized = self.initialize(message, incoming.principal.caller().clone());
        let (response, session) = initialized.map_err(|error| {
            responses::from_rpc_with_ok_status(RpcResponse::error(message.id(), &error))
        })?;
        let Ok(id) = session.id.as_str().parse() else {
            return Err(responses::service_unavailable("there is no id for a session"));
        };
        let reject = |error: RpcError| responses::rejection(&error);
        if !self.0.sessions.make_room(self) {
            return Err(reject(RpcError::too_many_sessions()));
        }
        let session = self.share_session(session).await.map_err(reject)?;
        self.add_session(session).await.map_err(reject)?;
        let mut response = responses::from_rpc_with_ok_status(response);
        response.headers_mut().insert(&SESSION_HEADER, id);
        Ok(response)
    }
}
