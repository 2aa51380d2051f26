//! A verified token in, a visitor out, or what is missing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::time::{Instant, timeout};
use toolwright_core::{Caller, Invoker, Secret};
use url::Url;

use super::claims::{Claims, TokenVerifier, VerifyError};
use super::principal::{Expiry, Principal};
use super::scope_rules::ScopeRules;
use super::scoped_tools::ScopedToolsCache;
use super::{ResourceServer, secure_url};
use crate::server::McpBuildError;

/// The document that says who makes tokens for a resource.
pub(crate) const METADATA_NAME: &str = "oauth-protected-resource";
/// How far clocks may be apart, whatever is asked for.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(5 * 60);
/// How long a verifier may take.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(30);
/// The longest name of a caller.
const MAX_SUBJECT_BYTES: usize = 256;
/// How long a token may be good as far as timers are concerned.
const MAX_TIMER: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The way into a server that is a resource.
pub(crate) struct OAuthAuthenticator {
    /// The names that tokens may have for this server, its address among them.
    audiences: Vec<String>,
    /// The host that clients reach it by.
    pub(crate) host: String,
    pub(crate) scheme: String,
    /// The metadata document, and where it is.
    pub(crate) metadata: Box<[u8]>,
    pub(crate) metadata_url: Url,
    verifier: Box<dyn TokenVerifier>,
    rules: Arc<ScopeRules>,
    scoped_tools: ScopedToolsCache,
    clock_skew: Duration,
}

/// Why somebody was not let in.
pub(crate) enum AuthError {
    /// The token is not good.
    InvalidToken(String),
    /// The token is good, and these scopes are missing.
    InsufficientScope(String),
    /// Nobody can tell now.
    Unavailable,
}

impl OAuthAuthenticator {
    pub(crate) fn new(given: ResourceServer, invoker: &Invoker) -> Result<Self, McpBuildError> {
        let wrong = |message: String| McpBuildError::OAuth { message };
        let resource = secure_url::parse_secure_url("resource", &given.resource).map_err(wrong)?;
        given.rules.validate().map_err(wrong)?;
        if given.issuers.is_empty() {
            let message = "name the authorization server: `.authorization_server(\"https://…\")`";
            return Err(wrong(message.to_owned()));
        }
        for issuer in &given.issuers {
            secure_url::parse_secure_url("authorization server", issuer).map_err(wrong)?;
        }
        if !given.rules.is_empty() {
            reject_modified_invoker(invoker)?;
        }
        let name = secure_url::canonical_text(&resource);
        let mut metadata = json!({
            "resource": name,
            "authorization_servers": given.issuers,
            "bearer_methods_supported": ["header"],
        });
        let scopes = given.rules.supported_scopes();
        if !scopes.is_empty() {
            crate::server::response::set_field(&mut metadata, "scopes_supported", json!(scopes));
        }
        let mut audiences = given.audiences;
        audiences.push(name);
        Ok(Self {
            audiences,
            host: resource.host_str().unwrap_or_default().to_owned(),
            scheme: resource.scheme().to_owned(),
            metadata: metadata.to_string().into_bytes().into(),
            metadata_url: secure_url::well_known_url(&resource, METADATA_NAME),
            verifier: given.verifier,
            rules: Arc::new(given.rules),
            scoped_tools: ScopedToolsCache::default(),
            clock_skew: given.clock_skew.min(MAX_CLOCK_SKEW),
        })
    }

    /// Lets in whoever brings a good token with the scopes that everybody needs.
    pub(crate) async fn authenticate(
        &self,
        whole: &Invoker,
        token: &Secret,
    ) -> Result<Principal, AuthError> {
        let verified = timeout(VERIFY_TIMEOUT, self.verifier.verify(token)).await;
        let late = || Err(VerifyError::unavailable("the verifier took too long"));
        let claims = match verified.unwrap_or_else(|_| late()) {
            Ok(claims) => claims,
            Err(VerifyError::InvalidToken { why }) => return Err(AuthError::InvalidToken(why)),
            Err(VerifyError::Unavailable { why }) => {
                tracing::error!(why, "tokens cannot be verified");
                return Err(AuthError::Unavailable);
            }
        };
        let expiry = self.check_claims(&claims, SystemTime::now())?;
        self.principal(whole, claims.subject, claims.scopes, expiry)
    }

    /// Lets in a subject that was let in before, with the scopes of then and the rules of today.
    ///
    /// `expires` is what [`Visitor::expires`] said then.
    pub(crate) fn restore(
        &self,
        whole: &Invoker,
        subject: String,
        scopes: BTreeSet<String>,
        expires: Option<SystemTime>,
    ) -> Result<Principal, AuthError> {
        let expiry = expires.map(|at| Self::check_expiry(at, SystemTime::now()));
        let expiry = expiry.transpose()?;
        self.principal(whole, subject, scopes, expiry)
    }

    fn principal(
        &self,
        whole: &Invoker,
        subject: String,
        scopes: BTreeSet<String>,
        expiry: Option<Expiry>,
    ) -> Result<Principal, AuthError> {
        let scopes = self.rules.expand_implied(scopes);
        if !self.rules.required_scopes.is_subset(&scopes) {
            return Err(AuthError::InsufficientScope(self.required_scopes()));
        }
        let reach = self.scoped_tools.get_or_build(whole, &self.rules, &scopes);
        let reach = reach.map_err(|error| {
            tracing::error!(%error, "the tools cannot be listed");
            AuthError::Unavailable
        })?;
        Ok(Principal {
            caller: Caller::new(subject),
            scoped_tools: reach,
            is_identified: true,
            scopes: Some(Arc::new(scopes)),
            expiry,
        })
    }

    /// Checks that a token is for this server and good now, and returns how long.
    fn check_claims(&self, claims: &Claims, now: SystemTime) -> Result<Option<Expiry>, AuthError> {
        let refuse = |why: &str| Err(AuthError::InvalidToken(why.to_owned()));
        if claims.subject.is_empty() || claims.subject.len() > MAX_SUBJECT_BYTES {
            return refuse("the token does not say who brings it");
        }
        if !claims
            .audience
            .iter()
            .any(|name| self.accepts_audience(name))
        {
            return refuse("the token is for another audience");
        }
        if claims
            .not_before
            .is_some_and(|at| at > now + self.clock_skew)
        {
            return refuse("the token is not good yet");
        }
        let Some(expires) = claims.expires else {
            return Ok(None);
        };
        let end = expires.checked_add(self.clock_skew).unwrap_or(expires);
        Self::check_expiry(end, now).map(Some)
    }

    /// Checks that a time is yet to come.
    fn check_expiry(at: SystemTime, now: SystemTime) -> Result<Expiry, AuthError> {
        match at.duration_since(now) {
            Ok(left) if !left.is_zero() => Ok(Expiry {
                wall_clock: at,
                deadline: Instant::now() + left.min(MAX_TIMER),
            }),
            _ => Err(AuthError::InvalidToken("the token has expired".to_owned())),
        }
    }

    fn accepts_audience(&self, audience: &str) -> bool {
        let written = Url::parse(audience).map(|url| secure_url::canonical_text(&url));
        let same = |name: &String| name == audience || written.as_ref() == Ok(name);
        self.audiences.iter().any(same)
    }

    /// Returns the scopes that clients should ask for first; none where any token will do.
    pub(crate) fn required_scopes(&self) -> String {
        let needs: Vec<&str> = self
            .rules
            .required_scopes
            .iter()
            .map(String::as_str)
            .collect();
        needs.join(" ")
    }

    /// Writes what clients read to know where to get a token, and for which scopes.
    pub(crate) fn challenge(&self, error: Option<(&str, &str)>, scopes: &str) -> String {
        let mut parts = Vec::new();
        if let Some((error, why)) = error {
            parts.push(format!(r#"error="{error}""#));
            parts.push(format!(
                r#"error_description="{}""#,
                sanitize_challenge_text(why)
            ));
        }
        if !scopes.is_empty() {
            parts.push(format!(r#"scope="{scopes}""#));
        }
        parts.push(format!(r#"resource_metadata="{}""#, self.metadata_url));
        format!("Bearer {}", parts.join(", "))
    }

    /// Writes the challenge for whoever lacks a scope, and the scopes that everybody needs with it.
    pub(crate) fn insufficient_scope_challenge(&self, scope: &str) -> String {
        let mut scopes: BTreeSet<&str> = self
            .rules
            .required_scopes
            .iter()
            .map(String::as_str)
            .collect();
        scopes.insert(scope);
        let scopes: Vec<&str> = scopes.into_iter().collect();
        let why = "the token lacks a scope for this";
        self.challenge(Some(("insufficient_scope", why)), &scopes.join(" "))
    }
}

/// A verifier may say anything; a header may not.
fn sanitize_challenge_text(text: &str) -> String {
    let plain = |c: &char| (c.is_ascii_graphic() || *c == ' ') && !matches!(c, '"' | '\\');
    text.chars().filter(plain).take(200).collect()
}

/// Refuses an invoker that was changed after it was made: looking through scopes makes it anew, without the change.
fn reject_modified_invoker(invoker: &Invoker) -> Result<(), McpBuildError> {
    let anew = invoker.with_view(|view| view)?;
    let listed = |invoker: &Invoker| -> Result<Vec<String>, McpBuildError> {
        let snapshot = invoker
            .snapshot()
            .map_err(toolwright_core::InvokerError::from)?;
        // A policy has no equality, but prints all that it says.
        let line = |entry: &toolwright_core::RegisteredTool| {
            format!("{} {:?}", entry.spec().name, entry.policy())
        };
        Ok(snapshot.iter().map(line).collect())
    };
    if listed(invoker)? == listed(&anew)? {
        return Ok(());
    }
    Err(McpBuildError::OAuth {
        message: "scopes would undo what was pinned or adjusted on the invoker: adjust the view that it is built from".to_owned(),
    })
}
