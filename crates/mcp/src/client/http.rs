//! Messages in, HTTP requests out, and back: bounded in every direction, with authorization where it is asked for.
//!
//! rmcp's own client reads a JSON answer of any size. This one does not, follows redirects only within the server's own
//! origin, and lets a person authorize us in the middle of a request.

mod answer;
mod body;
mod challenge;

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

pub(super) use self::challenge::Challenge;
use super::oauth::Login;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const BOTH: &str = "application/json, text/event-stream";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// How long a machine may take to accept a connection.
const CONNECTING: Duration = Duration::from_secs(10);

/// How often one request may be interrupted to authorize us.
const LOGINS: usize = 2;

/// The HTTP side of one server; cheap to clone.
#[derive(Clone)]
pub(super) struct Wire {
    http: Client,
    headers: HeaderMap,
    most: usize,
    pub(super) login: Option<Arc<Login>>,
}

/// Why an exchange failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("the request failed")]
    Http(#[source] reqwest::Error),
    #[error("it sent an answer of more than {0} bytes")]
    TooLarge(usize),
    #[error("authorization failed: {0}")]
    Login(String),
}

pub(super) type Fault = StreamableHttpError<WireError>;
impl WireError {
    /// An address may hold a secret; which server it is, is told anyhow.
    fn http(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
    }
}

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl From<WireError> for Fault {
    fn from(error: WireError) -> Self {
        Self::Client(error)
    }
}

impl Wire {
    pub(super) fn new(
        headers: HeaderMap,
        most: usize,
        login: Option<Arc<Login>>,
    ) -> Result<Self, String> {
        secure();
        let http = Client::builder()
            .redirect(Policy::custom(redirected))
            .connect_timeout(CONNECTING)
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| format!("no HTTP client: {error}"))?;
        Ok(Self {
            http,
            headers,
            most,
            login,
        })
    }

    /// Sends a request, and again where a person had to authorize us first.
    async fn send(
        &self,
        request: impl Fn() -> RequestBuilder,
        may_ask: bool,
    ) -> Result<Response, Fault> {
        let mut logins = 0;
        loop {
            let token = match &self.login {
                Some(login) => login.token().await,
                None => None,
            };
            let mut built = request().headers(self.headers.clone());
            if let Some(token) = &token {
                built = built.bearer_auth(token);
            }
            let response = built.send().await.map_err(WireError::http)?;
            let Some(challenge) = Challenge::of(&response) else {
                return Ok(response);
            };
            match &self.login {
                Some(login) if may_ask && logins < LOGINS => {
                    logins += 1;
                    let answered = login.answer(&challenge, token.as_deref()).await;
                    answered.map_err(WireError::Login)?;
                }
                _ => return Err(challenge.into_fault()),
            }
        }
    }
}

impl StreamableHttpClient for Wire {
    type Error = WireError;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let body = bytes::Bytes::from(serde_json::to_vec(&message)?);
        let request = || {
            let request = self
                .http
                .post(&*url)
                .header(ACCEPT, BOTH)
                .header(CONTENT_TYPE, JSON);
            with(request, session.as_deref(), &headers).body(body.clone())
        };
        // A person may take longer than a handshake: who opens the connection asks then.
        let response = self.send(request, !is_handshake(&message)).await?;
        self.answer(response, &message, session.is_some()).await
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<Events, Fault> {
        let request = || {
            let mut request = self.http.get(&*url).header(ACCEPT, BOTH);
            if let Some(last) = &last_event {
                request = request.header(LAST_EVENT, last);
            }
            with(request, session.as_deref(), &headers)
        };
        let response = self.send(request, true).await?;
        match (response.status(), kind(&response)) {
            (StatusCode::METHOD_NOT_ALLOWED, _) => Err(Fault::ServerDoesNotSupportSse),
            (status, _) if !status.is_success() => Err(status_fault(&response)),
            (_, Some(EVENTS)) => Ok(self.events(response)),
            _ => Err(Fault::UnexpectedContentType(None)),
        }
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        let request = || with(self.http.delete(&*url), Some(&session), &headers);
        let response = self.send(request, false).await?;
        match response.status() {
            // Servers need not let go of their sessions.
            StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status if status.is_success() => Ok(()),
            _ => Err(status_fault(&response)),
        }
    }
}

fn with(request: RequestBuilder, session: Option<&str>, headers: &Headers) -> RequestBuilder {
    let mut request = request;
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION, session),
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

/// The kind of a body, without its parameters.
fn kind(response: &Response) -> Option<&str> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    kind.split(';').next().map(str::trim)
}

fn status_fault(response: &Response) -> Fault {
    let retry = response.headers().get("retry-after");
    let retry = retry
        .and_then(|after| after.to_str().ok())
        .map(str::to_owned);
    Fault::HttpStatus(HttpStatusError::new(response.status().as_u16(), retry))
}

/// Follows what keeps the message whole and stays with the same server: elsewhere, our secrets would be a stranger's.
fn redirected(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let whole = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let first = attempt.previous().first();
    let home = first.is_some_and(|first| first.origin() == attempt.url().origin());
    match whole && home && attempt.previous().len() <= 5 {
        true => attempt.follow(),
        false => attempt.stop(),
    }
}

/// Gives rustls its cryptography; whoever came first in this process decides which.
fn secure() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}
