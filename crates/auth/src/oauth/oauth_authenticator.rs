//! Checks what a verified token claims against this server, and turns it into a principal.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::http::StatusCode;
use serde::Serialize;
use tokio::time::{Instant, timeout};
use toolwright_core::{Caller, Invoker, Secret};
use url::Url;

use super::{ResourceServer, secure_url};
use crate::access_denied::AccessDenied;
use crate::authenticator::Authenticator;
use crate::error::AuthBuildError;
use crate::principal::{Expiry, Principal};
use crate::scope_rules::ScopeRules;
use crate::scoped_tools::ScopedToolsCache;
use crate::verify::{Claims, TokenVerifier, VerifyError};

/// The well-known name of the metadata document (RFC 9728).
const METADATA_NAME: &str = "oauth-protected-resource";
/// A larger configured skew is reduced to this.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(5 * 60);
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_SUBJECT_BYTES: usize = 256;
/// Timers are set no further ahead, whatever the token's expiry is.
const MAX_TIMER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Authenticates tokens of an authorization server.
pub(crate) struct OAuthAuthenticator {
    invoker: Invoker,
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
    scoped_tools: ScopedToolsCache,
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
    pub(crate) fn new(server: ResourceServer, invoker: &Invoker) -> Result<Self, AuthBuildError> {
        let invalid = |message: String| AuthBuildError::OAuth { message };
        let resource =
            secure_url::parse_secure_url("resource", &server.resource).map_err(invalid)?;
        server.rules.validate().map_err(invalid)?;
        if server.issuers.is_empty() {
            let message = "name the authorization server: `.authorization_server(\"https://…\")`";
            return Err(invalid(message.to_owned()));
        }
        for issuer in &server.issuers {
            secure_url::parse_secure_url("authorization server", issuer).map_err(invalid)?;
        }
        if !server.rules.is_empty() {
            reject_modified_invoker(invoker)?;
        }
        let name = secure_url::canonical_text(&resource);
        let metadata = ResourceMetadata {
            resource: &name,
            authorization_servers: &server.issuers,
            bearer_methods_supported: ["header"],
            scopes_supported: server.rules.supported_scopes(),
        };
        let metadata = serde_json::to_vec(&metadata).unwrap_or_default();
        let mut audiences = server.audiences;
        audiences.push(name);
        Ok(Self {
            invoker: invoker.clone(),
            audiences,
            host: resource.host_str().unwrap_or_default().to_owned(),
            scheme: resource.scheme().to_owned(),
            metadata: metadata.into(),
            metadata_url: secure_url::well_known_url(&resource, METADATA_NAME),
            verifier: server.verifier,
            rules: Arc::new(server.rules),
            scoped_tools: ScopedToolsCache::default(),
            clock_skew: server.clock_skew.min(MAX_CLOCK_SKEW),
        })
    }

    /// Authenticates the bearer of a token that is valid, issued for this server, and has the required scopes.
    pub(super) async fn authenticate(&self, token: &Secret) -> Result<Principal, AccessDenied> {
        let verified = timeout(VERIFY_TIMEOUT, self.verifier.verify(token)).await;
        let timed_out = || Err(VerifyError::unavailable("the verifier took too long"));
        let claims = match verified.unwrap_or_else(|_| timed_out()) {
            Ok(claims) => claims,
            Err(VerifyError::InvalidToken { reason }) => return Err(self.invalid_token(&reason)),
            Err(VerifyError::Unavailable { reason }) => {
                tracing::error!(reason, "tokens cannot be verified");
                return Err(unavailable());
            }
        };
        let expiry = self.check_claims(&claims, SystemTime::now())?;
        self.principal(claims.subject, claims.scopes, expiry)
    }

    /// Restores a principal from its subject, its scopes and what [`Principal::expires_at`] returned; the current rules apply.
    pub(crate) fn restore(
        &self,
        subject: String,
        scopes: BTreeSet<String>,
        expires_at: Option<SystemTime>,
    ) -> Result<Principal, AccessDenied> {
        let expiry = expires_at.map(|at| self.check_expiry(at, SystemTime::now()));
        let expiry = expiry.transpose()?;
        self.principal(subject, scopes, expiry)
    }

    fn principal(
        &self,
        subject: String,
        scopes: BTreeSet<String>,
        expiry: Option<Expiry>,
    ) -> Result<Principal, AccessDenied> {
        let scopes = self.rules.expand_implied(scopes);
        if !self.rules.required_scopes.is_subset(&scopes) {
            let reason = "the token lacks a scope that every request needs";
            let scopes = self.required_scopes();
            return Err(self.denied(StatusCode::FORBIDDEN, "insufficient_scope", reason, &scopes));
        }
        let tools = self.scoped_tools.get_or_build(&self.invoker, &self.rules, &scopes);
        let scoped_tools = tools.map_err(|error| {
            tracing::error!(%error, "the tools cannot be listed");
            unavailable()
        })?;
        Ok(Principal {
            caller: Caller::new(subject),
            scoped_tools,
            is_identified: true,
            scopes: Some(Arc::new(scopes)),
            expiry,
        })
    }

    /// Checks subject, audience and times of a token, and returns its expiry.
    fn check_claims(
        &self,
        claims: &Claims,
        now: SystemTime,
    ) -> Result<Option<Expiry>, AccessDenied> {
        let reject = |reason: &str| Err(self.invalid_token(reason));
        if claims.subject.is_empty() || claims.subject.len() > MAX_SUBJECT_BYTES {
            return reject("the token does not say who brings it");
        }
        if !claims.audience.iter().any(|name| self.accepts_audience(name)) {
            return reject("the token is for another audience");
        }
        if claims.not_before.is_some_and(|at| at > now + self.clock_skew) {
            return reject("the token is not good yet");
        }
        let Some(expires) = claims.expires else {
            return Ok(None);
        };
        let end = expires.checked_add(self.clock_skew).unwrap_or(expires);
        self.check_expiry(end, now).map(Some)
    }

    /// Checks that a time is in the future.
    fn check_expiry(&self, at: SystemTime, now: SystemTime) -> Result<Expiry, AccessDenied> {
        match at.duration_since(now) {
            Ok(left) if !left.is_zero() => {
                Ok(Expiry { wall_clock: at, deadline: Instant::now() + left.min(MAX_TIMER) })
            }
            _ => Err(self.invalid_token("the token has expired")),
        }
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

fn unavailable() -> AccessDenied {
    let message = "tokens cannot be verified now: try again";
    AccessDenied::new(StatusCode::SERVICE_UNAVAILABLE, message)
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

/// Rejects an invoker that was changed after it was built: filtering by scopes rebuilds it from its view, without the change.
fn reject_modified_invoker(invoker: &Invoker) -> Result<(), AuthBuildError> {
    let rebuilt = invoker.with_view(|view| view)?;
    let describe_tools = |invoker: &Invoker| -> Result<Vec<String>, AuthBuildError> {
        let snapshot = invoker.snapshot().map_err(toolwright_core::InvokerError::from)?;
        // A policy has no equality, but its `Debug` output is complete.
        let describe = |entry: &toolwright_core::RegisteredTool| {
            format!("{} {:?}", entry.spec().name, entry.policy())
        };
        Ok(snapshot.iter().map(describe).collect())
    };
    if describe_tools(invoker)? == describe_tools(&rebuilt)? {
        return Ok(());
    }
    Err(AuthBuildError::OAuth {
        message: "scopes would undo what was pinned or adjusted on the invoker: adjust the view that it is built from".to_owned(),
    })
}
