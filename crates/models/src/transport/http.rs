//! The transport over HTTP: the only file of the crate that opens connections.

use std::sync::OnceLock;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use toolwright_chat::{ModelError, ModelErrorKind};
use toolwright_core::__internal::user_agent;

use super::{Transport, WireMethod, WireRequest, WireResponse, offline};

/// Sends requests over HTTP.
///
/// Connections are reused. Redirects are not followed, because they would send the API key to another host. Loopback addresses
/// are never reached through a proxy.
#[derive(Debug)]
pub struct HttpTransport {
    connect_timeout: Duration,
    remote_client: OnceLock<Client>,
    loopback_client: OnceLock<Client>,
    /// For `http` to this machine: without certificates, whose loading takes most of the time to set up a client.
    plain_loopback_client: OnceLock<Client>,
}

impl HttpTransport {
    /// The timeout of connecting is ten seconds; clients are set up with the first request.
    pub fn new() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            remote_client: OnceLock::new(),
            loopback_client: OnceLock::new(),
            plain_loopback_client: OnceLock::new(),
        }
    }

    /// Sets the timeout of connecting.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    fn client_for(&self, request: &WireRequest) -> Result<Client, ModelError> {
        let is_loopback = offline::is_loopback(&request.url);
        // Redirects are not followed, so a client for `http` never needs TLS.
        let is_plain = is_loopback && request.url.scheme() == "http";
        let cell = match (is_loopback, is_plain) {
            (true, true) => &self.plain_loopback_client,
            (true, false) => &self.loopback_client,
            (false, _) => &self.remote_client,
        };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        // Fails if the program has installed a provider already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(user_agent())
            .connect_timeout(self.connect_timeout)
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback {
            builder = builder.no_proxy();
        }
        if is_plain {
            builder = builder.tls_certs_only([]);
        }
        let client =
            builder.build().map_err(|error| network_error("cannot set up connections", error))?;
        // If another thread was faster its client is kept, and this one used once.
        let _ = cell.set(client.clone());
        Ok(client)
    }
}

impl Default for HttpTransport {
    fn default() -> Self {
        Self::new()
    }
}

impl Transport for HttpTransport {
    fn send(&self, request: WireRequest) -> BoxFuture<'_, Result<WireResponse, ModelError>> {
        async move {
            offline::check_allowed(&request.url)?;
            let headers = header_map(&request)?;
            let client = self.client_for(&request)?;
            let sending = match request.method {
                WireMethod::Get => client.get(request.url),
                WireMethod::Post => client.post(request.url).body(request.body.to_string()),
            };
            let response = sending
                .headers(headers)
                .send()
                .await
                .map_err(|error| network_error("the request did not get through", error))?;
            let status = response.status().as_u16();
            let headers = response.headers().iter().filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            });
            let headers = headers.collect();
            let body = response
                .bytes_stream()
                .map(|chunk| chunk.map_err(|error| network_error("the answer was cut off", error)))
                .boxed();
            Ok(WireResponse { status, headers, body })
        }
        .boxed()
    }
}

fn header_map(request: &WireRequest) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    for header in &request.headers {
        let invalid = || {
            let message = format!("the header `{}` cannot be sent", header.name);
            ModelError::new(ModelErrorKind::BadRequest, message)
        };
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(&header.value).map_err(|_| invalid())?;
        value.set_sensitive(header.sensitive);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn network_error(message: &str, error: reqwest::Error) -> ModelError {
    let kind = if error.is_timeout() { ModelErrorKind::Timeout } else { ModelErrorKind::Network };
    // The URL may contain a key.
    ModelError::new(kind, message).with_source(error.without_url())
}
