//! POST: one message in, one response out, or the stream that leads to it.

use std::sync::Arc;

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::Response;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use super::answer::{self, refuse};
use super::headers::{self, Accepts, SESSION, VERSION};
use super::sse;
use crate::access::Visitor;
use crate::server::reply::Reply;
use crate::server::{Exchange, Job, Kind, McpServer, Message, RpcError, Running, Session, Step};

/// A request on its way to its answer.
pub(super) struct Incoming<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) accepts: Accepts,
    pub(super) visitor: Visitor,
    pub(super) permit: OwnedSemaphorePermit,
}

impl McpServer {
    pub(super) async fn post<B>(&self, request: Request<B>, visitor: Visitor) -> Response
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
    {
        if self.0.ending.is_cancelled() {
            return answer::busy("the server is shutting down");
        }
        let Ok(permit) = Arc::clone(&self.0.http.requests).try_acquire_owned() else {
            return answer::busy("too many requests at once: try again");
        };
        let (parts, body) = request.into_parts();
        if !headers::is_json(&parts.headers) {
            let message = "say `Content-Type: application/json`";
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, -32600, message);
        }
        let accepts = Accepts::read(&parts.headers);
        if !accepts.json {
            let message = "say `Accept: application/json, text/event-stream`";
            return refuse(StatusCode::NOT_ACCEPTABLE, -32600, message);
        }
        let bytes = match self.collect(&parts.headers, body).await {
            Ok(bytes) => bytes,
            Err(refusal) => return refusal,
        };
        let incoming = Incoming {
            headers: &parts.headers,
            accepts,
            visitor,
            permit,
        };
        if bytes.trim_ascii_start().first() == Some(&b'[') {
            return self.batch(incoming, &bytes).await;
        }
        let message = match Message::read(&bytes) {
            Ok(message) => message,
            Err(unreadable) => {
                let status = StatusCode::BAD_REQUEST;
                return answer::json(
                    status,
                    Reply::error(unreadable.id(), &unreadable.error).body,
                );
            }
        };
        let version = match headers::once(&parts.headers, VERSION) {
            Ok(version) => version,
            Err(error) => return answer::reply(Reply::error(message.id(), &error)),
        };
        if headers::is_stateless(version, &message) {
            self.post_stateless(incoming, version, &message).await
        } else {
            self.post_in_session(incoming, &message).await
        }
    }

    /// Reads a body that is neither too long nor too slow.
    async fn collect<B>(&self, headers: &HeaderMap, body: B) -> Result<Bytes, Response>
    where
        B: HttpBody<Data = Bytes, Error: Into<BoxError>>,
    {
        let limits = &self.0.limits;
        let too_large = || {
            let message = format!("a message may have {} bytes", limits.message);
            refuse(StatusCode::PAYLOAD_TOO_LARGE, -32600, message)
        };
        let length = headers.get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > limits.message as u64) {
            return Err(too_large());
        }
        let collecting = std::pin::pin!(Limited::new(body, limits.message).collect());
        match timeout(limits.arrival, collecting).await {
            Ok(Ok(collected)) => Ok(collected.to_bytes()),
            Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
            Ok(Err(_)) => {
                let message = "the message did not arrive whole";
                Err(refuse(StatusCode::BAD_REQUEST, -32700, message))
            }
            Err(_) => {
                let message = "the message took too long to arrive";
                Err(refuse(StatusCode::REQUEST_TIMEOUT, -32600, message))
            }
        }
    }

    async fn post_stateless(
        &self,
        incoming: Incoming<'_>,
        version: Option<&[u8]>,
        message: &Message<'_>,
    ) -> Response {
        match message.kind() {
            Kind::Request => {}
            Kind::Notification => return answer::accepted(),
            Kind::Response => {
                let message = "without a session nobody asks, so nobody answers";
                return refuse(StatusCode::BAD_REQUEST, -32600, message);
            }
        }
        let visitor = incoming.visitor;
        let checked = headers::check(self, incoming.headers, version, message, &visitor);
        let exchange = checked.and_then(|()| self.stateless(message, visitor.caller.clone()));
        let mut exchange = match exchange {
            Ok(exchange) => exchange.of(visitor),
            Err(error) => return answer::reply(Reply::error(message.id(), &error)),
        };
        exchange.streams = incoming.accepts.streams;
        let exchange = Arc::new(exchange);
        let work = match self.job(message, &exchange) {
            Job::Done(reply) => return answer::reply(reply),
            Job::Work(work) => work,
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
        let mut running = Running::new(work, exchange, None);
        match self.first(&mut running, incoming.accepts.streams).await {
            Some(Step::Done(reply)) => answer::reply(reply),
            Some(Step::Cancelled) => answer::accepted(),
            Some(Step::Message(first)) => sse::of_running(self, Some(first), running, permit),
            None => sse::of_running(self, None, running, permit),
        }
    }

    async fn post_in_session(&self, incoming: Incoming<'_>, message: &Message<'_>) -> Response {
        if message.method() == "initialize" && message.kind() == Kind::Request {
            return self.open_session(incoming, message);
        }
        let session = match self.session(incoming.headers, &incoming.visitor) {
            Ok(session) => session,
            Err(refusal) => return refusal,
        };
        match message.kind() {
            Kind::Response => session.answered(message),
            Kind::Notification => notified(&session, message),
            Kind::Request => return self.request_in_session(incoming, &session, message).await,
        }
        answer::accepted()
    }

    async fn request_in_session(
        &self,
        incoming: Incoming<'_>,
        session: &Arc<Session>,
        message: &Message<'_>,
    ) -> Response {
        let mut exchange = self.within(session, message).of(incoming.visitor);
        exchange.streams = incoming.accepts.streams;
        let exchange = Arc::new(exchange);
        let work = match self.job(message, &exchange) {
            Job::Done(reply) => return answer::reply_ok(reply),
            Job::Work(work) => work,
        };
        let Some(underway) = session.calls.start(message.id(), &session.ended) else {
            let error = RpcError::invalid_request("another request with this id is under way");
            return answer::reply_ok(Reply::error(message.id(), &error));
        };
        let work = work.run(self.clone(), Arc::clone(&exchange));
        let mut running = Running::new(work, exchange, Some(underway));
        match self.first(&mut running, incoming.accepts.streams).await {
            Some(Step::Done(reply)) => answer::reply_ok(reply),
            Some(Step::Cancelled) => answer::accepted(),
            Some(Step::Message(first)) => {
                sse::of_session(self, session, Some(first), running, incoming.permit)
            }
            None => sse::of_session(self, session, None, running, incoming.permit),
        }
    }

    /// Waits for the first step; `None` when it takes so long that a stream should show signs of life.
    async fn first(&self, running: &mut Running, streams: bool) -> Option<Step> {
        if streams {
            timeout(self.0.limits.silence, running.next()).await.ok()
        } else {
            Some(running.next().await)
        }
    }

    pub(super) fn stream_permit(&self) -> Result<OwnedSemaphorePermit, Response> {
        let permit = Arc::clone(&self.0.http.streams).try_acquire_owned();
        permit.map_err(|_| answer::busy("too many streams at once: try again"))
    }

    fn open_session(&self, incoming: Incoming<'_>, message: &Message<'_>) -> Response {
        let (reply, session) = match self.initialize(message, incoming.visitor.caller) {
            Ok(opened) => opened,
            Err(error) => return answer::reply_ok(Reply::error(message.id(), &error)),
        };
        let Ok(id) = session.id.as_str().parse() else {
            return answer::busy("there is no id for a session");
        };
        if !self.0.http.sessions.add(self, session) {
            return answer::busy("too many sessions at once: try again");
        }
        let mut response = answer::reply_ok(reply);
        response.headers_mut().insert(SESSION, id);
        response
    }
}

/// Takes note of what a client says; what is of no interest is dropped.
pub(super) fn notified(session: &Session, message: &Message<'_>) {
    if message.method() == "notifications/cancelled"
        && let Some(id) = message.params.request_id
    {
        session.calls.cancel(id.get());
    }
}

/// Makes the exchange of one message of a batch, which cannot say anything before its response.
pub(super) fn silent(mut exchange: Exchange) -> Arc<Exchange> {
    exchange.streams = false;
    Arc::new(exchange)
}
