//! Fetches the public keys of an issuer.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use serde::Deserialize;
use url::Url;

use super::verifying_key::KeySet;
use crate::error::AuthBuildError;
use crate::oauth::secure_url;

/// The limits of one document.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// Where keys come from.
pub(super) struct KeySource {
    http: Client,
    issuer: String,
    location: KeyLocation,
}

enum KeyLocation {
    KeySet(Url),
    /// Addresses of metadata documents; the first one that can be read names the key set.
    Metadata(Vec<Url>),
}

/// The fields that are read of an authorization server's metadata (RFC 8414).
#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    jwks_uri: String,
}

impl KeySource {
    pub(super) fn from_issuer(issuer: &str) -> Result<Self, AuthBuildError> {
        let url = parse_secure_url("issuer", issuer)?;
        let mut locations = vec![
            secure_url::well_known_url(&url, "oauth-authorization-server"),
            secure_url::well_known_url(&url, "openid-configuration"),
        ];
        let path = url.path().trim_end_matches('/');
        if !path.is_empty() {
            // OpenID Connect, which is older than RFC 8414, appends to the path.
            let mut appended = url.clone();
            appended.set_path(&format!("{path}/.well-known/openid-configuration"));
            locations.push(appended);
        }
        Self::new(issuer, KeyLocation::Metadata(locations))
    }

    pub(super) fn from_keys_url(issuer: &str, keys: &str) -> Result<Self, AuthBuildError> {
        parse_secure_url("issuer", issuer)?;
        Self::new(issuer, KeyLocation::KeySet(parse_secure_url("keys", keys)?))
    }

    fn new(issuer: &str, location: KeyLocation) -> Result<Self, AuthBuildError> {
        // Fails if the process has a default provider already, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            // The configured issuer is trusted with keys, not an address that it redirects to.
            .redirect(Policy::none())
            .connect_timeout(FETCH_TIMEOUT)
            .timeout(FETCH_TIMEOUT)
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| AuthBuildError::OAuth {
                message: format!("no HTTP client: {error}"),
            })?;
        Ok(Self { http, issuer: issuer.to_owned(), location })
    }

    pub(super) async fn fetch(&self) -> Result<KeySet, String> {
        match &self.location {
            KeyLocation::KeySet(url) => KeySet::parse(&self.fetch_document(url).await?),
            KeyLocation::Metadata(locations) => {
                let mut errors = Vec::new();
                for location in locations {
                    match self.fetch_jwks_uri(location).await {
                        Ok(url) => return KeySet::parse(&self.fetch_document(&url).await?),
                        Err(error) => errors.push(error),
                    }
                }
                Err(errors.join("; "))
            }
        }
    }

    async fn fetch_jwks_uri(&self, location: &Url) -> Result<Url, String> {
        let document = self.fetch_document(location).await?;
        let found: IssuerMetadata = serde_json::from_slice(&document)
            .map_err(|error| format!("{location} is no metadata: {error}"))?;
        if found.issuer != self.issuer {
            return Err(format!("{location} is about another issuer"));
        }
        secure_url::parse_secure_url("jwks_uri", &found.jwks_uri)
    }

    async fn fetch_document(&self, url: &Url) -> Result<Vec<u8>, String> {
        let describe = |error: reqwest::Error| format!("{url}: {error}");
        let mut response = self.http.get(url.clone()).send().await.map_err(describe)?;
        if !response.status().is_success() {
            return Err(format!("{url} answers {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(describe)? {
            if body.len() + chunk.len() > MAX_DOCUMENT_BYTES {
                return Err(format!("{url} is longer than {MAX_DOCUMENT_BYTES} bytes"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

fn parse_secure_url(what: &str, text: &str) -> Result<Url, AuthBuildError> {
    secure_url::parse_secure_url(what, text).map_err(|message| AuthBuildError::OAuth { message })
}
