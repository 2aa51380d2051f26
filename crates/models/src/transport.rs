//! WireRequest in, WireResponse out: what carries a request to a vendor, and its answer back.
//!
//! Everything above this line is decided without a connection. [`Http`] opens real ones, [`Recorder`] writes down what another
//! transport carried, and [`Replayer`] answers from what was written down, so that a test needs neither a network nor a key.

#[cfg(feature = "http")]
mod http;
mod json_diff;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only what opens connections is forbidden any")
)]
mod offline;
mod recorder;
mod recording;
mod redactor;
mod replayer;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use toolwright_chat::ModelError;
use toolwright_core::schema::redact;
use url::Url;

#[cfg(feature = "http")]
pub use http::HttpTransport;
pub use offline::forbid_live_requests;
pub(crate) use offline::is_loopback;
pub use recorder::Recorder;
pub use recording::Recording;
pub use replayer::Replayer;

/// What carries requests to a vendor.
///
/// Waiting, retrying and reading the answer are not its business: it sends what it is given, once.
///
/// # Cancellation
///
/// Dropping the future, or the body of the response, ends the request.
///
/// # Examples
///
/// A transport that answers everything alike, for a test:
///
/// ```
/// use futures::future::BoxFuture;
/// use futures::{FutureExt as _, TryStreamExt as _};
/// use toolwright_chat::{Model as _, ModelError, ModelEvent, ModelRequest};
/// use toolwright_models::{Transport, Vendor, WireRequest, WireResponse};
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
/// let model = Vendor::named("ollama")?.model("qwen3").transport(Always(line)).build()?;
/// let events: Vec<ModelEvent> = model.stream(ModelRequest::default()).try_collect().await?;
/// assert!(matches!(&events[1], ModelEvent::Text(text) if text == "Hello."));
/// # Ok::<(), ModelError>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Transport: Send + Sync + 'static {
    /// Sends a request, and returns as soon as the answer begins; a refusal is an answer too.
    ///
    /// # Errors
    ///
    /// Nobody answers, or the request is not one to be made.
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>>;
}

impl<T: Transport + ?Sized> Transport for Arc<T> {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        (**self).send(request)
    }
}

/// One request, as it goes over the wire; always a `POST`.
#[derive(Clone)]
#[non_exhaustive]
pub struct WireRequest {
    /// Where it goes.
    pub url: Url,
    /// Its headers.
    pub headers: Vec<WireHeader>,
    /// Its body, which is JSON.
    pub body: Arc<str>,
}

impl WireRequest {
    /// Makes a request without headers.
    pub fn new(url: Url, body: impl Into<Arc<str>>) -> Self {
        Self {
            url,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// The value of a header, whatever the letter case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let header = headers.find(|header| header.name.eq_ignore_ascii_case(name))?;
        Some(&header.value)
    }
}

impl fmt::Debug for WireRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireRequest")
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
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether the value is a secret: then it is neither shown nor recorded.
    pub sensitive: bool,
}

impl WireHeader {
    /// Makes a header that anybody may see.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            sensitive: false,
        }
    }

    /// Makes a header whose value is a secret.
    pub fn sensitive(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            sensitive: true,
            ..Self::new(name, value)
        }
    }
}

impl fmt::Debug for WireHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if self.sensitive { "***" } else { &self.value };
        write!(f, "{}: {value}", self.name)
    }
}

/// An answer as it arrives.
#[non_exhaustive]
pub struct WireResponse {
    /// The status code.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, in pieces cut anywhere.
    pub body: BoxStream<'static, Result<Bytes, ModelError>>,
}

impl WireResponse {
    /// Makes an answer whose body comes in one piece.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        let piece = body.into();
        Self::streamed(status, futures::stream::iter([Ok(piece)]))
    }

    /// Makes an answer whose body comes in pieces.
    pub fn streamed(
        status: u16,
        body: impl futures::Stream<Item = Result<Bytes, ModelError>> + Send + 'static,
    ) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Box::pin(body),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// The value of a header, whatever the letter case of its name.
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
