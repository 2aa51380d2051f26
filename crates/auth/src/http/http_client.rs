//! Requests to authorization servers: no redirects, bounded in time and size.

use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode};
use toolwright_core::__internal::user_agent;
use url::Url;

/// The limits of one response.
const TIMEOUT: Duration = Duration::from_secs(10);
const MAX_BODY_BYTES: usize = 1 << 20;

/// A client for the documents and endpoints of an authorization server.
pub(crate) struct HttpClient(Client);

impl HttpClient {
    pub(crate) fn new() -> Result<Self, String> {
        // Fails if the process has a default provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            // The configured issuer is trusted, not an address that it redirects to.
            .redirect(Policy::none())
            .connect_timeout(TIMEOUT)
            .timeout(TIMEOUT)
            .user_agent(user_agent())
            .build();
        client.map(Self).map_err(|error| format!("no HTTP client: {error}"))
    }

    /// Starts a `GET` request.
    pub(crate) fn get_request(&self, url: &Url) -> RequestBuilder {
        self.0.get(url.clone())
    }

    /// Starts a `POST` request.
    pub(crate) fn post_request(&self, url: &Url) -> RequestBuilder {
        self.0.post(url.clone())
    }

    /// Returns a document.
    pub(crate) async fn get(&self, url: &Url) -> Result<Vec<u8>, String> {
        match send(url, self.get_request(url)).await? {
            (status, body) if status.is_success() => Ok(body),
            (status, _) => Err(format!("{url} answers {status}")),
        }
    }
}

/// The reason behind an error, which the error itself does not tell: a refused connection, an unknown host, a timeout.
fn root_cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().unwrap_or(error).to_string()
}

/// Sends a request to `url`, and returns the status and the body of the response.
pub(crate) async fn send(
    url: &Url,
    request: RequestBuilder,
) -> Result<(StatusCode, Vec<u8>), String> {
    let describe = |error: reqwest::Error| format!("{url}: {}", root_cause(&error.without_url()));
    let mut response = request.send().await.map_err(describe)?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(describe)? {
        if body.len() + chunk.len() > MAX_BODY_BYTES {
            return Err(format!("{url} answers with more than {MAX_BODY_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok((response.status(), body))
}
