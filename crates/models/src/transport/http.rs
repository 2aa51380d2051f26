//! WireRequest in, WireResponse out, over a real connection: the one place that opens any.

use std::sync::OnceLock;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use reqwest::Client;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use toolwright_chat::{ModelError, ModelErrorKind};

use super::{Transport, WireRequest, WireResponse, offline};

/// Sends requests over HTTP.
///
/// Connections are kept for the next request. Redirects are not followed: a key goes to the address it is meant for and nowhere
/// else. Addresses of this machine are never reached through a proxy.
#[derive(Debug)]
pub struct HttpTransport {
    connect_timeout: Duration,
    remote_client: OnceLock<Client>,
    loopback_client: OnceLock<Client>,
}

impl HttpTransport {
    /// Waits ten seconds for a connection; nothing is set up before the first request.
    pub fn new() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            remote_client: OnceLock::new(),
            loopback_client: OnceLock::new(),
        }
    }

    /// Sets how long to wait for a connection.
    #[must_use]
    pub fn connect_timeout(mut self, patience: Duration) -> Self {
        self.connect_timeout = patience;
        self
    }

    fn client_for(&self, request: &WireRequest) -> Result<Client, ModelError> {
        let is_near = offline::is_loopback(&request.url);
        let kept = if is_near {
            &self.loopback_client
        } else {
            &self.remote_client
        };
        if let Some(client) = kept.get() {
            return Ok(client.clone());
        }
        // Another part of the program may have chosen already: any of them will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect_timeout)
            .redirect(reqwest::redirect::Policy::none());
        if is_near {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| network_error("cannot set up connections", error))?;
        // Whoever was first is kept; this one serves once.
        let _ = kept.set(client.clone());
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
            let sent = self
                .client_for(&request)?
                .post(request.url)
                .headers(headers)
                .body(request.body.to_string());
            let response = sent
                .send()
                .await
                .map_err(|error| network_error("the request did not get through", error))?;
            let status = response.status().as_u16();
            let told = response.headers().iter().filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            });
            let headers = told.collect();
            let body = response
                .bytes_stream()
                .map(|piece| piece.map_err(|error| network_error("the answer was cut off", error)))
                .boxed();
            Ok(WireResponse {
                status,
                headers,
                body,
            })
        }
        .boxed()
    }
}

fn header_map(request: &WireRequest) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    for header in &request.headers {
        let refused = || {
            let message = format!("the header `{}` cannot be sent", header.name);
            ModelError::new(ModelErrorKind::BadRequest, message)
        };
        let name = HeaderName::from_bytes(header.name.as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(&header.value).map_err(|_| refused())?;
        value.set_sensitive(header.sensitive);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn network_error(what: &str, error: reqwest::Error) -> ModelError {
    let kind = if error.is_timeout() {
        ModelErrorKind::Timeout
    } else {
        ModelErrorKind::Network
    };
    // The address may carry a key, and the cause says enough without it.
    ModelError::new(kind, what).with_source(error.without_url())
}
