//! Transports: [`WireRequest`] in, [`WireResponse`] out.
//!
//! The rest of the crate does no I/O: [`HttpTransport`] sends real requests.

mod http;
mod offline;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use toolwright_chat::ModelError;
use toolwright_core::schema::redact;
use url::Url;

pub use http::HttpTransport;
pub use offline::forbid_live_requests;
pub(crate) use offline::is_loopback;

/// Sends the requests of a model's client.
///
/// It sends a request once; timeouts, retries and parsing are up to its caller.
///
/// # Cancellation
///
/// Dropping the future, or the body of the response, ends the request.
///
/// # Examples
///
/// A transport with a fixed response, for a test:
///
/// ```
/// use toolwright::BoxFuture;
/// use toolwright::chat::{Model as _, ModelError, ModelEvent, ModelRequest};
/// use toolwright::futures::{FutureExt as _, TryStreamExt as _};
/// use toolwright::models::{Transport, Vendor, WireRequest, WireResponse};
///
/// struct Always(&'static str);
///
/// impl Transport for Always {
///     fn send(&self, _: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
///         async { Ok(WireResponse::new(200, self.0)) }.boxed()
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let line = r#"{"message":{"role":"assistant","content":"Hello."},"done":true,"done_reason":"stop"}"#;
/// let model = Vendor::by_name("ollama")?.model("qwen3").transport(Always(line)).build()?;
/// let events: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// assert!(matches!(&events[1], ModelEvent::Text(text) if text == "Hello."));
/// # Ok::<(), ModelError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends a request, and returns when the response's head has arrived, whatever its status.
    ///
    /// # Errors
    ///
    /// No response arrives, or the request is invalid or not allowed.
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        (**self).send(request)
    }
}

/// The method of a [`WireRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WireMethod {
    /// `GET`, without a body.
    Get,
    /// `POST`.
    Post,
}

impl fmt::Display for WireMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Get => "GET",
            Self::Post => "POST",
        })
    }
}

/// An HTTP request.
#[derive(Clone)]
#[non_exhaustive]
pub struct WireRequest {
    /// The method; `POST` for all requests of a model.
    pub method: WireMethod,
    /// The URL with its query.
    pub url: Url,
    /// The headers, in the order they are sent.
    pub headers: Vec<WireHeader>,
    /// The JSON body; empty for `GET`.
    pub body: Arc<str>,
}

impl WireRequest {
    /// Makes a `POST` request without headers.
    pub fn new(url: Url, body: impl Into<Arc<str>>) -> Self {
        Self { method: WireMethod::Post, url, headers: Vec::new(), body: body.into() }
    }

    /// Makes a `GET` request without headers.
    pub fn get(url: Url) -> Self {
        Self { method: WireMethod::Get, ..Self::new(url, "") }
    }

    /// The value of a header; the case of its name is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(&header.value)
    }
}

impl fmt::Debug for WireRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireRequest")
            .field("method", &self.method)
            .field("url", &redact(self.url.as_str()))
            .field("headers", &self.headers)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}

/// A header of a request.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireHeader {
    /// The name, in any case.
    pub name: String,
    /// The value, sent as it is.
    pub value: String,
    /// Whether the value is a secret, which is neither shown by `Debug` nor recorded.
    pub sensitive: bool,
}

impl WireHeader {
    /// Makes a header whose value is not a secret.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), sensitive: false }
    }

    /// Makes a header whose value is a secret.
    pub fn sensitive(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self { sensitive: true, ..Self::new(name, value) }
    }
}

impl fmt::Debug for WireHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.sensitive { "***" } else { &self.value };
        write!(f, "{}: {value}", self.name)
    }
}

/// An HTTP response whose body is still being received.
#[non_exhaustive]
pub struct WireResponse {
    /// The status code.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, in chunks that may end anywhere.
    pub body: BoxStream<'static, Result<Bytes, ModelError>>,
}

impl WireResponse {
    /// Makes a response whose body comes in one chunk.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self::streamed(status, futures::stream::iter([Ok(body.into())]))
    }

    /// Makes a response whose body comes in several chunks.
    pub fn streamed(
        status: u16,
        body: impl futures::Stream<Item = Result<Bytes, ModelError>> + Send + 'static,
    ) -> Self {
        Self { status, headers: Vec::new(), body: Box::pin(body) }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// The value of a header; the case of its name is ignored.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }
}

impl fmt::Debug for WireResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireResponse")
            .field("status", &self.status)
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}
