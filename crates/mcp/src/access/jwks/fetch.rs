//! An issuer in, its public keys out.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use serde::Deserialize;
use url::Url;

use super::key::Keys;
use crate::access::address;
use crate::server::BuildError;

/// How long one document may take, and how long it may be.
const PATIENCE: Duration = Duration::from_secs(10);
const LONGEST: usize = 1 << 20;

/// Where keys come from.
pub(super) struct Source {
    http: Client,
    issuer: String,
    place: Place,
}

enum Place {
    /// At this address.
    Keys(Url),
    /// At the address that one of these documents names.
    Metadata(Vec<Url>),
}

/// What an authorization server says of itself, as far as it matters here.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl Source {
    pub(super) fn of_issuer(issuer: &str) -> Result<Self, BuildError> {
        let url = read("issuer", issuer)?;
        let mut places = vec![
            address::well_known(&url, "oauth-authorization-server"),
            address::well_known(&url, "openid-configuration"),
        ];
        let path = url.path().trim_end_matches('/');
        if !path.is_empty() {
            // OpenID Connect came first, and put its document behind the path.
            let mut appended = url.clone();
            appended.set_path(&format!("{path}/.well-known/openid-configuration"));
            places.push(appended);
        }
        Self::new(issuer, Place::Metadata(places))
    }

    pub(super) fn at(issuer: &str, keys: &str) -> Result<Self, BuildError> {
        read("issuer", issuer)?;
        Self::new(issuer, Place::Keys(read("keys", keys)?))
    }

    fn new(issuer: &str, place: Place) -> Result<Self, BuildError> {
        // Whoever came first in this process decides which cryptography TLS has.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Client::builder()
            // Whom we trust with keys is said, not found by following.
            .redirect(Policy::none())
            .connect_timeout(PATIENCE)
            .timeout(PATIENCE)
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| BuildError::OAuth {
                message: format!("no HTTP client: {error}"),
            })?;
        Ok(Self {
            http,
            issuer: issuer.to_owned(),
            place,
        })
    }

    /// Fetches the keys.
    pub(super) async fn fetch(&self) -> Result<Keys, String> {
        match &self.place {
            Place::Keys(url) => Keys::read(&self.get(url).await?),
            Place::Metadata(places) => {
                let mut troubles = Vec::new();
                for place in places {
                    match self.look_up(place).await {
                        Ok(url) => return Keys::read(&self.get(&url).await?),
                        Err(why) => troubles.push(why),
                    }
                }
                Err(troubles.join("; "))
            }
        }
    }

    async fn look_up(&self, place: &Url) -> Result<Url, String> {
        let document = self.get(place).await?;
        let found: Metadata = serde_json::from_slice(&document)
            .map_err(|error| format!("{place} is no metadata: {error}"))?;
        if found.issuer != self.issuer {
            return Err(format!("{place} is about another issuer"));
        }
        address::read("jwks_uri", &found.jwks_uri)
    }

    async fn get(&self, url: &Url) -> Result<Vec<u8>, String> {
        let failed = |error: reqwest::Error| format!("{url}: {error}");
        let mut response = self.http.get(url.clone()).send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(format!("{url} answers {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(failed)? {
            if body.len() + piece.len() > LONGEST {
                return Err(format!("{url} is longer than {LONGEST} bytes"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

fn read(what: &str, text: &str) -> Result<Url, BuildError> {
    address::read(what, text).map_err(|message| BuildError::OAuth { message })
}
