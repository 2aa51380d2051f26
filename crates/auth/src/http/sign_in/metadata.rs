//! The metadata of a provider, fetched from its well-known address and cached.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::sync::Mutex;
use url::Url;

use super::SignInError;
use crate::http::error::AuthBuildError;
use crate::http::http_client::HttpClient;
use crate::http::oauth::secure_url;
use crate::http::verify::Jwks;

/// Metadata are fetched again after this time; if that fails, they are used until the maximal age.
const REFRESH_AFTER: Duration = Duration::from_secs(10 * 60);
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// The pause after metadata could not be fetched.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// What a provider publishes about itself ([OpenID Connect Discovery]).
///
/// [OpenID Connect Discovery]: https://openid.net/specs/openid-connect-discovery-1_0.html
pub(super) struct ProviderMetadata {
    pub(super) authorization_endpoint: Url,
    pub(super) token_endpoint: Url,
    pub(super) userinfo_endpoint: Option<Url>,
    pub(super) end_session_endpoint: Option<Url>,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) keys: Jwks,
    keys_url: String,
    /// How clients may authenticate at the token endpoint; `None` is `client_secret_basic`.
    pub(super) token_auth_methods: Option<Vec<String>>,
    /// How ID tokens may be signed.
    pub(super) id_token_algorithms: Option<Vec<String>>,
    /// Whether every authorization response contains `iss` (RFC 9207).
    pub(super) sends_iss: bool,
}

/// The document as it is published.
#[derive(Deserialize)]
struct MetadataDocument {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    userinfo_endpoint: Option<String>,
    end_session_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    id_token_signing_alg_values_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// Fetches the metadata of one issuer.
pub(super) struct MetadataSource {
    issuer: String,
    locations: Vec<Url>,
    cache: Mutex<MetadataCache>,
    /// True if nobody can sign in, since the last attempt to fetch them.
    is_unavailable: AtomicBool,
}

#[derive(Default)]
struct MetadataCache {
    fetched: Option<(Arc<ProviderMetadata>, Instant)>,
    failed: Option<(String, Instant)>,
}

impl MetadataSource {
    pub(super) fn new(issuer: &str) -> Result<Self, AuthBuildError> {
        let url = secure_url::parse_secure_url("issuer", issuer)
            .map_err(|message| AuthBuildError::SignIn { message })?;
        // OpenID Connect appends to the path; RFC 8414 inserts before it.
        let path = url.path().trim_end_matches('/');
        let mut appended = url.clone();
        appended.set_path(&format!("{path}/.well-known/openid-configuration"));
        let mut locations = vec![appended];
        if !path.is_empty() {
            locations.push(secure_url::well_known_url(&url, "openid-configuration"));
        }
        Ok(Self {
            issuer: issuer.to_owned(),
            locations,
            cache: Mutex::default(),
            is_unavailable: AtomicBool::default(),
        })
    }

    pub(super) fn is_unavailable(&self) -> bool {
        self.is_unavailable.load(Ordering::Relaxed)
    }

    /// Returns the metadata: those of the cache while they are recent, else as they are published now.
    pub(super) async fn get(
        &self,
        http: &HttpClient,
    ) -> Result<Arc<ProviderMetadata>, SignInError> {
        self.find(http, RETRY_DELAY).await
    }

    /// Fetches the metadata unless they are recent, also soon after a failure.
    pub(super) async fn check(&self, http: &HttpClient) -> Result<(), SignInError> {
        self.find(http, Duration::ZERO).await.map(drop)
    }

    /// A failure that is younger than `retry_delay` is returned again. With no delay, it is not kept for others either.
    async fn find(
        &self,
        http: &HttpClient,
        retry_delay: Duration,
    ) -> Result<Arc<ProviderMetadata>, SignInError> {
        // Locked while they are fetched, so that many people who sign in at once fetch them once.
        let mut cache = self.cache.lock().await;
        let known = cache.fetched.clone();
        if let Some((metadata, _)) = known.as_ref().filter(|(_, at)| at.elapsed() < REFRESH_AFTER) {
            return Ok(Arc::clone(metadata));
        }
        let recent_failure = cache.failed.as_ref().filter(|(_, at)| at.elapsed() < retry_delay);
        let failure = match recent_failure {
            Some((reason, _)) => reason.clone(),
            None => match self.fetch(http, known.as_ref().map(|(metadata, _)| metadata)).await {
                Ok(metadata) => {
                    let metadata = Arc::new(metadata);
                    cache.fetched = Some((Arc::clone(&metadata), Instant::now()));
                    cache.failed = None;
                    self.is_unavailable.store(false, Ordering::Relaxed);
                    return Ok(metadata);
                }
                Err(reason) => {
                    if !retry_delay.is_zero() {
                        cache.failed = Some((reason.clone(), Instant::now()));
                    }
                    reason
                }
            },
        };
        match known.filter(|(_, at)| at.elapsed() < MAX_AGE) {
            Some((metadata, _)) => Ok(metadata),
            None => {
                self.is_unavailable.store(true, Ordering::Relaxed);
                Err(SignInError::unavailable(failure))
            }
        }
    }

    async fn fetch(
        &self,
        http: &HttpClient,
        known: Option<&Arc<ProviderMetadata>>,
    ) -> Result<ProviderMetadata, String> {
        let mut errors = Vec::new();
        for location in &self.locations {
            match http.get(location).await {
                Ok(document) => return self.parse(location, &document, known),
                Err(error) => errors.push(error),
            }
        }
        Err(errors.join("; "))
    }

    fn parse(
        &self,
        location: &Url,
        document: &[u8],
        known: Option<&Arc<ProviderMetadata>>,
    ) -> Result<ProviderMetadata, String> {
        let document: MetadataDocument = serde_json::from_slice(document)
            .map_err(|error| format!("{location} is no metadata of a provider: {error}"))?;
        let MetadataDocument { issuer, jwks_uri, .. } = &document;
        if *issuer != self.issuer {
            let own = &self.issuer;
            return Err(format!("{location} is about the issuer `{issuer}`, not `{own}`"));
        }
        let endpoint = secure_url::parse_secure_url;
        let optional = |name: &str, url: &Option<String>| {
            url.as_deref().map(|url| endpoint(name, url)).transpose()
        };
        let keys = match known.filter(|known| known.keys_url == *jwks_uri) {
            Some(known) => known.keys.clone(),
            None => Jwks::with_keys_url(&self.issuer, jwks_uri).map_err(|it| it.to_string())?,
        };
        Ok(ProviderMetadata {
            authorization_endpoint: endpoint(
                "authorization_endpoint",
                &document.authorization_endpoint,
            )?,
            token_endpoint: endpoint("token_endpoint", &document.token_endpoint)?,
            userinfo_endpoint: optional("userinfo_endpoint", &document.userinfo_endpoint)?,
            end_session_endpoint: optional("end_session_endpoint", &document.end_session_endpoint)?,
            revocation_endpoint: optional("revocation_endpoint", &document.revocation_endpoint)?,
            keys,
            keys_url: document.jwks_uri,
            token_auth_methods: document.token_endpoint_auth_methods_supported,
            id_token_algorithms: document.id_token_signing_alg_values_supported,
            sends_iss: document.authorization_response_iss_parameter_supported,
        })
    }
}
