//! Fetches the public keys of an issuer.

use serde::Deserialize;
use url::Url;

use super::verifying_key::KeySet;
use crate::http::error::AuthBuildError;
use crate::http::http_client::HttpClient;
use crate::http::oauth::secure_url;

/// Where keys come from.
pub(super) struct KeySource {
    http: HttpClient,
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
        let http = HttpClient::new().map_err(|message| AuthBuildError::OAuth { message })?;
        Ok(Self { http, issuer: issuer.to_owned(), location })
    }

    pub(super) async fn fetch(&self) -> Result<KeySet, String> {
        match &self.location {
            KeyLocation::KeySet(url) => KeySet::parse(&self.http.get(url).await?),
            KeyLocation::Metadata(locations) => {
                let mut errors = Vec::new();
                for location in locations {
                    match self.fetch_jwks_uri(location).await {
                        Ok(url) => return KeySet::parse(&self.http.get(&url).await?),
                        Err(error) => errors.push(error),
                    }
                }
                Err(errors.join("; "))
            }
        }
    }

    async fn fetch_jwks_uri(&self, location: &Url) -> Result<Url, String> {
        let document = self.http.get(location).await?;
        let found: IssuerMetadata = serde_json::from_slice(&document)
            .map_err(|error| format!("{location} is no metadata: {error}"))?;
        if found.issuer != self.issuer {
            return Err(format!("{location} is about another issuer"));
        }
        secure_url::parse_secure_url("jwks_uri", &found.jwks_uri)
    }
}

fn parse_secure_url(what: &str, text: &str) -> Result<Url, AuthBuildError> {
    secure_url::parse_secure_url(what, text).map_err(|message| AuthBuildError::OAuth { message })
}
