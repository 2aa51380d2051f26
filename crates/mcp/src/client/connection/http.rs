//! The HTTP transport, with bounded responses and authorization.
//!
//! rmcp's own client reads a JSON response of any size. This one does not, follows redirects only within the server's origin, and
//! can have the user authorize the client in the middle of a request.

mod body;
mod challenge;
mod response;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
use rmcp::transport::streamable_http_client::{
    HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;

pub(crate) use self::challenge::Challenge;
use toolwright_core::__internal::user_agent;

use crate::client::oauth::{AuthorizationFailure, TokenSource};
use crate::import::error_chain;

const JSON: &str = "application/json";
const EVENT_STREAM: &str = "text/event-stream";
const JSON_OR_EVENT_STREAM: &str = "application/json, text/event-stream";
const SESSION_HEADER: &str = "mcp-session-id";
const LAST_EVENT_HEADER: &str = "last-event-id";

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The time for the request whose response has a challenge.
const CHALLENGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of authorizations during one request.
const MAX_AUTHORIZATIONS: usize = 2;

/// The HTTP transport to one server; cheap to clone.
#[derive(Clone)]
pub(crate) struct HttpTransport {
    http: Client,
    headers: HeaderMap,
    max_bytes: usize,
    pub(crate) token_source: Option<Arc<TokenSource>>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpTransportError {
    #[error("the request failed")]
    Http(#[source] reqwest::Error),
    #[error("it sent an answer of more than {0} bytes")]
    TooLarge(usize),
    #[error(transparent)]
    Authorization(AuthorizationFailure),
}

pub(crate) type StreamableError = StreamableHttpError<HttpTransportError>;

impl HttpTransportError {
    /// Removes the URL, which may contain a secret.
    fn from_reqwest(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

type ExtraHeaders = HashMap<HeaderName, HeaderValue>;
type SseEvents = BoxStream<'static, Result<Sse, SseError>>;

impl From<HttpTransportError> for StreamableError {
    fn from(error: HttpTransportError) -> Self {
        Self::Client(error)
    }
}

impl HttpTransport {
    pub(crate) fn new(
        headers: HeaderMap,
        max_bytes: usize,
        token_source: Option<Arc<TokenSource>>,
    ) -> Result<Self, String> {
        // Fails if the process has a default provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            .redirect(Policy::custom(follow_same_origin))
            .connect_timeout(CONNECT_TIMEOUT)
            .user_agent(user_agent())
            .build()
            .map_err(|error| format!("no HTTP client: {error}"))?;
        Ok(Self { http, headers, max_bytes, token_source })
    }

    /// Sends a request; after a challenge, authorizes the client and sends it again, if `may_authorize`.
    async fn send(
        &self,
        request: impl Fn() -> RequestBuilder,
        may_authorize: bool,
    ) -> Result<Response, StreamableError> {
        let mut authorizations = 0;
        loop {
            let token = match &self.token_source {
                Some(tokens) => tokens.token().await.map_err(HttpTransportError::Authorization)?,
                None => None,
            };
            let mut built = request().headers(self.headers.clone());
            if let Some(token) = &token {
                built = built.bearer_auth(token);
            }
            let response = built.send().await.map_err(HttpTransportError::from_reqwest)?;
            let Some(challenge) = Challenge::from_response(&response) else {
                return Ok(response);
            };
            match &self.token_source {
                Some(tokens) if may_authorize && authorizations < MAX_AUTHORIZATIONS => {
                    authorizations += 1;
                    let authorized =
                        tokens.respond_to_challenge(&challenge, token.as_deref()).await;
                    authorized.map_err(HttpTransportError::Authorization)?;
                }
                _ => return Err(challenge.into_error()),
            }
        }
    }
}

impl HttpTransport {
    /// Sends a request without a token, and returns the challenge in the response; an empty one if there is none.
    pub(crate) async fn request_challenge(&self, url: &str) -> Result<Challenge, String> {
        let ping = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;
        let request = self.http.post(url).headers(self.headers.clone());
        let request = request.header(ACCEPT, JSON_OR_EVENT_STREAM).header(CONTENT_TYPE, JSON);
        let response = request.timeout(CHALLENGE_TIMEOUT).body(ping).send().await;
        let response = response.map_err(|error| error_chain(&error.without_url()))?;
        Ok(Challenge::from_response(&response).unwrap_or_else(|| Challenge::from_header("")))
    }
}

impl StreamableHttpClient for HttpTransport {
    type Error = HttpTransportError;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: ExtraHeaders,
    ) -> Result<StreamableHttpPostResponse, StreamableError> {
        let body = bytes::Bytes::from(serde_json::to_vec(&message)?);
        let request = || {
            let request = self
                .http
                .post(&*url)
                .header(ACCEPT, JSON_OR_EVENT_STREAM)
                .header(CONTENT_TYPE, JSON);
            with_session_headers(request, session.as_deref(), &headers).body(body.clone())
        };
        // A user may need longer than the handshake's timeout: `Connection::open` authorizes in that case.
        let response = self.send(request, !is_handshake(&message)).await?;
        self.parse_response(response, &message, session.is_some()).await
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: ExtraHeaders,
    ) -> Result<SseEvents, StreamableError> {
        let request = || {
            let mut request = self.http.get(&*url).header(ACCEPT, JSON_OR_EVENT_STREAM);
            if let Some(last) = &last_event {
                request = request.header(LAST_EVENT_HEADER, last);
            }
            with_session_headers(request, session.as_deref(), &headers)
        };
        let response = self.send(request, true).await?;
        match (response.status(), content_type(&response)) {
            (StatusCode::METHOD_NOT_ALLOWED, _) => Err(StreamableError::ServerDoesNotSupportSse),
            (status, _) if !status.is_success() => Err(status_error(&response)),
            (_, Some(EVENT_STREAM)) => Ok(self.sse_events(response)),
            _ => Err(StreamableError::UnexpectedContentType(None)),
        }
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: ExtraHeaders,
    ) -> Result<(), StreamableError> {
        let request = || with_session_headers(self.http.delete(&*url), Some(&session), &headers);
        let response = self.send(request, false).await?;
        match response.status() {
            // Servers need not support the end of a session.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            _ => Err(status_error(&response)),
        }
    }
}

fn with_session_headers(
    request: RequestBuilder,
    session: Option<&str>,
    headers: &ExtraHeaders,
) -> RequestBuilder {
    let mut request = request;
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION_HEADER, session),
        None => request,
    }
}

fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    match message {
        ClientJsonRpcMessage::Request(request) => matches!(
            request.request,
            ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_)
        ),
        _ => false,
    }
}

/// The content type without its parameters.
fn content_type(response: &Response) -> Option<&str> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    kind.split(';').next().map(str::trim)
}

fn status_error(response: &Response) -> StreamableError {
    let retry = response.headers().get("retry-after");
    let retry = retry.and_then(|after| after.to_str().ok()).map(str::to_owned);
    StreamableError::HttpStatus(HttpStatusError::new(response.status().as_u16(), retry))
}

/// Follows redirects that keep method and body, within the same origin: another server must not receive our credentials.
fn follow_same_origin(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let keeps_body =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let first = attempt.previous().first();
    let is_same_origin = first.is_some_and(|first| first.origin() == attempt.url().origin());
    match keeps_body && is_same_origin && attempt.previous().len() <= 5 {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}
