//! An issuer in, its public keys out.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use serde::Deserialize;
use url::Url;

use super::verifying_key::KeySet;
use crate::auth::secure_url;
use crate::server::McpBuildError;

/// How long one document may take, and how long it may be.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DOCUMENT_BYTES: usize = 1 << 20;

/// Where keys come from.
pub(super) struct KeySource {
    http: Client,
    issuer: String,
    location: KeyLocation,
}

enum KeyLocation {
    /// At this address.
    KeySet(Url),
    /// At the address that one of these documents names.
    Metadata(Vec<Url>),
}

/// What an authorization server says of itself, as far as it matters here.
#[derive(Deserialize)]
struct IssuerMetadata {
    issuer: String,
    jwks_uri: String,
}

impl KeySource {
    pub(super) fn from_issuer(issuer: &str) -> Result<Self, McpBuildError> {
        let url = parse_secure_url("issuer", issuer)?;
        let mut places = vec![
            secure_url::well_known_url(&url, "oauth-authorization-server"),
            secure_url::well_known_url(&url, "openid-configuration"),
        ];
        let path = url.path().trim_end_matches('/');
        if !path.is_empty() {
            // OpenID Connect came first, and put its document behind the path.
            let mut appended = url.clone();
            appended.set_path(&format!("{path}/.well-known/openid-configuration"));
            places.push(appended);
        }
        Self::new(issuer, KeyLocation::Metadata(places))
    }

    pub(super) fn from_keys_url(issuer: &str, keys: &str) -> Result<Self, McpBuildError> {
        parse_secure_url("issuer", issuer)?;
        Self::new(issuer, KeyLocation::KeySet(parse_secure_url("keys", keys)?))
    }

    fn new(issuer: &str, place: KeyLocation) -> Result<Self, McpBuildError> {
        // Whoever came first in this process decides which cryptography TLS has.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            // Whom we trust with keys is said, not found by following.
            .redirect(Policy::none())
            .connect_timeout(FETCH_TIMEOUT)
            .timeout(FETCH_TIMEOUT)
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| McpBuildError::OAuth {
                message: format!("no HTTP client: {error}"),
            })?;
        Ok(Self {
            http,
            issuer: issuer.to_owned(),
            location: place,
        })
    }

    /// Fetches the keys.
    pub(super) async fn fetch(&self) -> Result<KeySet, String> {
        match &self.location {
            KeyLocation::KeySet(url) => KeySet::parse(&self.fetch_document(url).await?),
            KeyLocation::Metadata(places) => {
                let mut troubles = Vec::new();
                for place in places {
                    match self.fetch_jwks_uri(place).await {
                        Ok(url) => return KeySet::parse(&self.fetch_document(&url).await?),
                        Err(why) => troubles.push(why),
                    }
                }
                Err(troubles.join("; "))
            }
        }
    }

    async fn fetch_jwks_uri(&self, place: &Url) -> Result<Url, String> {
        let document = self.fetch_document(place).await?;
        let found: IssuerMetadata = serde_json::from_slice(&document)
            .map_err(|error| format!("{place} is no metadata: {error}"))?;
        if found.issuer != self.issuer {
            return Err(format!("{place} is about another issuer"));
        }
        secure_url::parse_secure_url("jwks_uri", &found.jwks_uri)
    }

    async fn fetch_document(&self, url: &Url) -> Result<Vec<u8>, String> {
        let failed = |error: reqwest::Error| format!("{url}: {error}");
        let mut response = self.http.get(url.clone()).send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(format!("{url} answers {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if body.len() + piece.len() > MAX_DOCUMENT_BYTES {
                return Err(format!("{url} is longer than {MAX_DOCUMENT_BYTES} bytes"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

fn parse_secure_url(what: &str, text: &str) -> Result<Url, McpBuildError> {
    secure_url::parse_secure_url(what, text).map_err(|message| McpBuildError::OAuth { message })
}
