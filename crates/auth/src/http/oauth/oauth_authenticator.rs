//! Checks what a verified token claims against this server, and turns it into an identity.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use serde::Serialize;
use tokio::time::timeout;
use toolwright_core::Secret;
use url::Url;

use super::{ResourceServer, secure_url};
use crate::http::access_denied::AccessDenied;
use crate::http::authenticator::Authenticator;
use crate::http::error::AuthBuildError;
use crate::http::identity::{Identity, MAX_SUBJECT_BYTES};
use crate::http::login::VERIFY_TIMEOUT;
use crate::http::sign_in::select_claims;
use crate::http::verify::{Claims, TokenVerifier};
use crate::http::verify_error::VerifyError;
use crate::principal::Expiry;
use crate::scope_rules::ScopeRules;

/// The well-known name of the metadata document (RFC 9728).
const METADATA_NAME: &str = "oauth-protected-resource";
/// A larger configured skew is reduced to this.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(5 * 60);

/// Authenticates tokens of an authorization server.
pub(crate) struct OAuthAuthenticator {
    /// The accepted audiences, the address of this server among them.
    audiences: Vec<String>,
    /// The host and scheme that clients reach this server by.
    pub(crate) host: String,
    pub(crate) scheme: String,
    /// The metadata document as JSON.
    metadata: Box<[u8]>,
    metadata_url: Url,
    verifier: Box<dyn TokenVerifier>,
    rules: Arc<ScopeRules>,
    /// The claims that are kept.
    kept_claims: BTreeSet<String>,
    clock_skew: Duration,
}

/// The metadata document (RFC 9728).
#[derive(Serialize)]
struct ResourceMetadata<'a> {
    resource: &'a str,
    authorization_servers: &'a [String],
    bearer_methods_supported: [&'static str; 1],
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    scopes_supported: BTreeSet<&'a str>,
}

impl OAuthAuthenticator {
    /// The rules are those of the resource server, and others of the authenticator.
    pub(crate) fn new(
        server: ResourceServer,
        rules: Arc<ScopeRules>,
        kept_claims: BTreeSet<String>,
    ) -> Result<Self, AuthBuildError> {
        let invalid = |message: String| AuthBuildError::OAuth { message };
        let resource =
            secure_url::parse_secure_url("resource", &server.resource).map_err(invalid)?;
        if server.issuers.is_empty() {
            let message = "name the authorization server: `.authorization_server(\"https://…\")`";
            return Err(invalid(message.to_owned()));
        }
        for issuer in &server.issuers {
            secure_url::parse_secure_url("authorization server", issuer).map_err(invalid)?;
        }
        let name = secure_url::canonical_text(&resource);
        let metadata = ResourceMetadata {
            resource: &name,
            authorization_servers: &server.issuers,
            bearer_methods_supported: ["header"],
            scopes_supported: rules.supported_scopes(),
        };
        let metadata = serde_json::to_vec(&metadata).unwrap_or_default();
        let mut audiences = server.audiences;
        audiences.push(name);
        Ok(Self {
            audiences,
            host: resource.host_str().unwrap_or_default().to_owned(),
            scheme: resource.scheme().to_owned(),
            metadata: metadata.into(),
            metadata_url: secure_url::well_known_url(&resource, METADATA_NAME),
            verifier: server.verifier,
            rules,
            kept_claims,
            clock_skew: server.clock_skew.min(MAX_CLOCK_SKEW),
        })
    }

    /// Returns the issuer of the tokens, if the verifier knows it.
    pub(crate) fn issuer(&self) -> Option<&str> {
        self.verifier.issuer()
    }

    /// Authenticates the bearer of a token that is valid, issued for this server, and has the required scopes.
    pub(super) async fn authenticate(&self, token: &Secret) -> Result<Identity, AccessDenied> {
        let verified = timeout(VERIFY_TIMEOUT, self.verifier.verify(token)).await;
        let timed_out = || Err(VerifyError::unavailable("the verifier took too long"));
        let claims = match verified.unwrap_or_else(|_| timed_out()) {
            Ok(claims) => claims,
            Err(VerifyError::InvalidToken { reason }) => return Err(self.invalid_token(&reason)),
            Err(VerifyError::Unavailable { reason }) => {
                tracing::error!(reason, "tokens cannot be verified");
                return Err(AccessDenied::unavailable());
            }
        };
        self.check_claims(claims, SystemTime::now())
    }

    /// Returns the error of a token that lacks a scope which every request needs.
    pub(crate) fn lacks_required_scope(&self, reason: &str) -> AccessDenied {
        let scopes = self.required_scopes();
        self.denied(StatusCode::FORBIDDEN, "insufficient_scope", reason, &scopes)
    }

    /// Checks subject, audience and times of a token.
    fn check_claims(&self, claims: Claims, now: SystemTime) -> Result<Identity, AccessDenied> {
        let reject = |reason: &str| Err(self.invalid_token(reason));
        let mut identity = claims.identity;
        identity.claims.extend(select_claims(&claims.others, &self.kept_claims));
        if identity.subject.is_empty() || identity.subject.len() > MAX_SUBJECT_BYTES {
            return reject("the token does not say who brings it");
        }
        if !claims.audience.iter().any(|name| self.accepts_audience(name)) {
            return reject("the token is for another audience");
        }
        if claims.not_before.is_some_and(|at| at > now + self.clock_skew) {
            return reject("the token is not good yet");
        }
        if let Some(expires) = &mut identity.expires_at {
            *expires = expires.checked_add(self.clock_skew).unwrap_or(*expires);
            if Expiry::new(*expires).is_none() {
                return reject("the token has expired");
            }
        }
        Ok(identity)
    }

    fn accepts_audience(&self, audience: &str) -> bool {
        let canonical = Url::parse(audience).map(|url| secure_url::canonical_text(&url));
        let is_same = |name: &String| name == audience || canonical.as_ref() == Ok(name);
        self.audiences.iter().any(is_same)
    }

    /// Returns the scopes that clients should request first, separated by blanks; empty where any valid token will do.
    pub(super) fn required_scopes(&self) -> String {
        join_scopes(&self.rules.required_scopes)
    }

    /// Returns the metadata document, if it is at this path.
    pub(crate) fn metadata_at(&self, path: &str) -> Option<&[u8]> {
        (path == Authenticator::METADATA_PATH || path == self.metadata_url.path())
            .then_some(&self.metadata)
    }

    fn invalid_token(&self, reason: &str) -> AccessDenied {
        let scopes = self.required_scopes();
        self.denied(StatusCode::UNAUTHORIZED, "invalid_token", reason, &scopes)
    }

    /// The error with a challenge that names the OAuth error, the reason and the scopes to request.
    pub(super) fn denied(
        &self,
        status: StatusCode,
        error: &str,
        reason: &str,
        scopes: &str,
    ) -> AccessDenied {
        let challenge = self.challenge(Some((error, reason)), scopes);
        AccessDenied::new(status, reason).with_challenge(&challenge)
    }

    /// Writes a `WWW-Authenticate` header, from which clients learn where to get a token and for which scopes.
    pub(super) fn challenge(&self, error: Option<(&str, &str)>, scopes: &str) -> String {
        let mut parts = Vec::new();
        if let Some((error, description)) = error {
            parts.push(format!(r#"error="{error}""#));
            parts.push(format!(r#"error_description="{}""#, sanitize_challenge_text(description)));
        }
        if !scopes.is_empty() {
            parts.push(format!(r#"scope="{scopes}""#));
        }
        parts.push(format!(r#"resource_metadata="{}""#, self.metadata_url));
        format!("Bearer {}", parts.join(", "))
    }

    /// Writes the challenge for a token that lacks a scope; it names the required scopes as well.
    pub(crate) fn insufficient_scope_challenge(&self, scope: &str) -> String {
        let mut scopes = self.rules.required_scopes.clone();
        scopes.insert(scope.to_owned());
        let description = "the token lacks a scope for this";
        self.challenge(Some(("insufficient_scope", description)), &join_scopes(&scopes))
    }
}

fn join_scopes(scopes: &BTreeSet<String>) -> String {
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    scopes.join(" ")
}

/// Removes what a quoted string of a header cannot contain: the text may come from a verifier.
fn sanitize_challenge_text(text: &str) -> String {
    let is_plain = |c: &char| (c.is_ascii_graphic() || *c == ' ') && !matches!(c, '"' | '\\');
    text.chars().filter(is_plain).take(200).collect()
}
