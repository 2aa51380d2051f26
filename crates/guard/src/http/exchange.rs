//! Sends one request and reads its response, which may be a redirect.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::{Pin, pin};

use futures::future::{Either, select};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use toolwright_core::__internal::user_agent;

use super::error::FetchError;
use super::policy::Target;

/// The maximum size of a response's head, in bytes.
const MAX_HEAD: usize = 64 << 10;
/// The maximum number of a response's headers.
const MAX_HEADERS: usize = 100;

/// A response; its body may be truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchResponse {
    /// The URL after all redirects.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// The content type as the host states it.
    pub content_type: Option<String>,
    /// The body's bytes.
    pub body: Vec<u8>,
    /// True if the body was truncated.
    pub truncated: bool,
}

impl FetchResponse {
    /// Returns true if the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns the body as text; bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub fn text(&self) -> String {
        crate::text::decode_lossy(self.body.clone(), self.truncated)
    }
}

/// The result of one hop.
pub(crate) enum HopResult {
    Response(FetchResponse),
    /// The `Location` as the host wrote it.
    Redirect(String),
}

/// Requests the target over a connection that serves no other request.
pub(crate) async fn send_request<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    method: &Method,
    target: &Target,
    max_bytes: usize,
) -> Result<HopResult, FetchError> {
    let failed = |error| response_error(target, error);
    let request = build_request(method, target)?;
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(MAX_HEADERS)
        .max_header_size(MAX_HEAD)
        .max_buf_size(MAX_HEAD)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    let response = pin!(async {
        let response = sender.send_request(request).await.map_err(failed)?;
        read_response(response, method, target, max_bytes).await
    });
    // The connection is driven here and not in a task of its own, so that it ends with this future.
    match select(response, pin!(connection)).await {
        Either::Left((result, _)) => result,
        Either::Right((_, response)) => response.await,
    }
}

fn build_request(method: &Method, target: &Target) -> Result<Request<String>, FetchError> {
    Request::builder()
        .method(method)
        .uri(target.path_and_query())
        .header(header::HOST, target.authority())
        .header(header::USER_AGENT, user_agent())
        .header(header::ACCEPT, "*/*")
        .header(header::ACCEPT_ENCODING, "identity")
        .header(header::CONNECTION, "close")
        .body(String::new())
        .map_err(|_| FetchError::Url { reason: "has characters that cannot be sent" })
}

async fn read_response(
    response: Response<Incoming>,
    method: &Method,
    target: &Target,
    max_bytes: usize,
) -> Result<HopResult, FetchError> {
    let (head, mut incoming) = response.into_parts();
    if let (301 | 302 | 303 | 307 | 308, Some(location)) =
        (head.status.as_u16(), header_value(&head.headers, header::LOCATION))
    {
        return Ok(HopResult::Redirect(location.into_owned()));
    }
    let compressed = header_value(&head.headers, header::CONTENT_ENCODING)
        .is_some_and(|encoding| !encoding.trim().eq_ignore_ascii_case("identity"));
    if compressed && method != Method::HEAD {
        return Err(FetchError::Compressed { host: target.name.clone() });
    }
    let mut body = Vec::new();
    let mut truncated = false;
    while !truncated && let Some(bytes) = next_chunk(&mut incoming, target).await? {
        let remaining = max_bytes - body.len();
        truncated = bytes.len() > remaining;
        body.extend_from_slice(bytes.get(..remaining).unwrap_or(&bytes));
    }
    Ok(HopResult::Response(FetchResponse {
        url: target.url().to_owned(),
        status: head.status.as_u16(),
        content_type: header_value(&head.headers, header::CONTENT_TYPE).map(Cow::into_owned),
        body,
        truncated,
    }))
}

/// Returns the next chunk of a body; skips trailers.
async fn next_chunk(body: &mut Incoming, target: &Target) -> Result<Option<Bytes>, FetchError> {
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
        let frame = frame.map_err(|error| response_error(target, error))?;
        if let Ok(bytes) = frame.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

fn header_value(headers: &HeaderMap, name: HeaderName) -> Option<Cow<'_, str>> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()))
}

fn response_error(target: &Target, error: hyper::Error) -> FetchError {
    FetchError::Response { host: target.name.clone(), source: error.into() }
}
