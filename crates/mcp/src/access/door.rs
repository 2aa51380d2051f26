//! A verified token in, a visitor out, or what is missing.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::time::{Instant, timeout};
use toolwright_core::{Caller, Invoker, Secret};
use url::Url;

use super::claims::{Claims, Unverified, Verifier};
use super::reach::Reaches;
use super::rules::Rules;
use super::visitor::{Expiry, Visitor};
use super::{ResourceServer, address};
use crate::server::BuildError;

/// The document that says who makes tokens for a resource.
pub(crate) const METADATA: &str = "oauth-protected-resource";
/// How far clocks may be apart, whatever is asked for.
const MOST_SKEW: Duration = Duration::from_secs(5 * 60);
/// How long a verifier may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest name of a caller.
const LONGEST_SUBJECT: usize = 256;
/// How long a token may be good as far as timers are concerned.
const FAR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The way into a server that is a resource.
pub(crate) struct Door {
    /// The names that tokens may have for this server, its address among them.
    audiences: Vec<String>,
    /// The host that clients reach it by.
    pub(crate) host: String,
    pub(crate) scheme: String,
    /// The metadata document, and where it is.
    pub(crate) metadata: Box<[u8]>,
    pub(crate) metadata_url: Url,
    verifier: Box<dyn Verifier>,
    rules: Arc<Rules>,
    reaches: Reaches,
    skew: Duration,
}

/// Why somebody was not let in.
pub(crate) enum Refusal {
    /// The token is not good.
    Token(String),
    /// The token is good, and these scopes are missing.
    Scopes(String),
    /// Nobody can tell now.
    Unavailable,
}

impl Door {
    pub(crate) fn build(given: ResourceServer, invoker: &Invoker) -> Result<Self, BuildError> {
        let wrong = |message: String| BuildError::OAuth { message };
        let resource = address::read("resource", &given.resource).map_err(wrong)?;
        given.rules.check().map_err(wrong)?;
        if given.issuers.is_empty() {
            let message = "name the authorization server: `.authorization_server(\"https://…\")`";
            return Err(wrong(message.to_owned()));
        }
        for issuer in &given.issuers {
            address::read("authorization server", issuer).map_err(wrong)?;
        }
        if !given.rules.are_none() {
            check_plain(invoker)?;
        }
        let name = address::canonical(&resource);
        let mut metadata = json!({
            "resource": name,
            "authorization_servers": given.issuers,
            "bearer_methods_supported": ["header"],
        });
        let scopes = given.rules.known();
        if !scopes.is_empty() {
            crate::server::reply::set(&mut metadata, "scopes_supported", json!(scopes));
        }
        let mut audiences = given.audiences;
        audiences.push(name);
        Ok(Self {
            audiences,
            host: resource.host_str().unwrap_or_default().to_owned(),
            scheme: resource.scheme().to_owned(),
            metadata: metadata.to_string().into_bytes().into(),
            metadata_url: address::well_known(&resource, METADATA),
            verifier: given.verifier,
            rules: Arc::new(given.rules),
            reaches: Reaches::default(),
            skew: given.skew.min(MOST_SKEW),
        })
    }

    /// Lets in whoever brings a good token with the scopes that everybody needs.
    pub(crate) async fn admit(&self, whole: &Invoker, token: &Secret) -> Result<Visitor, Refusal> {
        let verified = timeout(PATIENCE, self.verifier.verify(token)).await;
        let late = || Err(Unverified::unavailable("the verifier took too long"));
        let claims = match verified.unwrap_or_else(|_| late()) {
            Ok(claims) => claims,
            Err(Unverified::Refused { why }) => return Err(Refusal::Token(why)),
            Err(Unverified::Unavailable { why }) => {
                tracing::error!(why, "tokens cannot be verified");
                return Err(Refusal::Unavailable);
            }
        };
        let expiry = self.check(&claims, SystemTime::now())?;
        self.visitor(whole, claims.subject, claims.scopes, expiry)
    }

    /// Lets in a subject that was let in before, with the scopes of then and the rules of today.
    ///
    /// `expires` is what [`Visitor::expires`] said then.
    pub(crate) fn readmit(
        &self,
        whole: &Invoker,
        subject: String,
        scopes: BTreeSet<String>,
        expires: Option<SystemTime>,
    ) -> Result<Visitor, Refusal> {
        let expiry = expires.map(|at| Self::expiry(at, SystemTime::now()));
        let expiry = expiry.transpose()?;
        self.visitor(whole, subject, scopes, expiry)
    }

    fn visitor(
        &self,
        whole: &Invoker,
        subject: String,
        scopes: BTreeSet<String>,
        expiry: Option<Expiry>,
    ) -> Result<Visitor, Refusal> {
        let scopes = self.rules.widened(scopes);
        if !self.rules.needs.is_subset(&scopes) {
            return Err(Refusal::Scopes(self.first_scopes()));
        }
        let reach = self.reaches.of(whole, &self.rules, &scopes);
        let reach = reach.map_err(|error| {
            tracing::error!(%error, "the tools cannot be listed");
            Refusal::Unavailable
        })?;
        Ok(Visitor {
            caller: Caller::new(subject),
            reach,
            identified: true,
            scopes: Some(Arc::new(scopes)),
            expiry,
        })
    }

    /// Checks that a token is for this server and good now, and returns how long.
    fn check(&self, claims: &Claims, now: SystemTime) -> Result<Option<Expiry>, Refusal> {
        let refuse = |why: &str| Err(Refusal::Token(why.to_owned()));
        if claims.subject.is_empty() || claims.subject.len() > LONGEST_SUBJECT {
            return refuse("the token does not say who brings it");
        }
        if !claims.audience.iter().any(|name| self.is_here(name)) {
            return refuse("the token is for another audience");
        }
        if claims.not_before.is_some_and(|at| at > now + self.skew) {
            return refuse("the token is not good yet");
        }
        let Some(expires) = claims.expires else {
            return Ok(None);
        };
        let end = expires.checked_add(self.skew).unwrap_or(expires);
        Self::expiry(end, now).map(Some)
    }

    /// Checks that a time is yet to come.
    fn expiry(at: SystemTime, now: SystemTime) -> Result<Expiry, Refusal> {
        match at.duration_since(now) {
            Ok(left) if !left.is_zero() => Ok(Expiry {
                at,
                timer: Instant::now() + left.min(FAR),
            }),
            _ => Err(Refusal::Token("the token has expired".to_owned())),
        }
    }

    fn is_here(&self, audience: &str) -> bool {
        let written = Url::parse(audience).map(|url| address::canonical(&url));
        let same = |name: &String| name == audience || written.as_ref() == Ok(name);
        self.audiences.iter().any(same)
    }

    /// Returns the scopes that clients should ask for first; none where any token will do.
    pub(crate) fn first_scopes(&self) -> String {
        let needs: Vec<&str> = self.rules.needs.iter().map(String::as_str).collect();
        needs.join(" ")
    }

    /// Writes what clients read to know where to get a token, and for which scopes.
    pub(crate) fn challenge(&self, error: Option<(&str, &str)>, scopes: &str) -> String {
        let mut parts = Vec::new();
        if let Some((error, why)) = error {
            parts.push(format!(r#"error="{error}""#));
            parts.push(format!(r#"error_description="{}""#, quotable(why)));
        }
        if !scopes.is_empty() {
            parts.push(format!(r#"scope="{scopes}""#));
        }
        parts.push(format!(r#"resource_metadata="{}""#, self.metadata_url));
        format!("Bearer {}", parts.join(", "))
    }

    /// Writes the challenge for whoever lacks a scope, and the scopes that everybody needs with it.
    pub(crate) fn step_up(&self, scope: &str) -> String {
        let mut scopes: BTreeSet<&str> = self.rules.needs.iter().map(String::as_str).collect();
        scopes.insert(scope);
        let scopes: Vec<&str> = scopes.into_iter().collect();
        let why = "the token lacks a scope for this";
        self.challenge(Some(("insufficient_scope", why)), &scopes.join(" "))
    }
}

/// A verifier may say anything; a header may not.
fn quotable(text: &str) -> String {
    let plain = |c: &char| (c.is_ascii_graphic() || *c == ' ') && !matches!(c, '"' | '\\');
    text.chars().filter(plain).take(200).collect()
}

/// Refuses an invoker that was changed after it was made: looking through scopes makes it anew, without the change.
fn check_plain(invoker: &Invoker) -> Result<(), BuildError> {
    let anew = invoker.with_view(|view| view)?;
    let listed = |invoker: &Invoker| -> Result<Vec<String>, BuildError> {
        let snapshot = invoker
            .snapshot()
            .map_err(toolwright_core::InvokerError::from)?;
        // A policy has no equality, but prints all that it says.
        let line =
            |entry: &toolwright_core::Entry| format!("{} {:?}", entry.spec().name, entry.policy());
        Ok(snapshot.iter().map(line).collect())
    };
    if listed(invoker)? == listed(&anew)? {
        return Ok(());
    }
    Err(BuildError::OAuth {
        message: "scopes would undo what was pinned or adjusted on the invoker: adjust the view that it is built from".to_owned(),
    })
}
