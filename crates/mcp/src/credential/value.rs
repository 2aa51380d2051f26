//! The credential for one server: tokens, and the client that they were issued to.

use std::collections::BTreeSet;
use std::fmt;

use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_core::__internal::unix_millis_now;

/// A token is refreshed this long before it expires, in seconds: clocks differ, and a request takes time.
const MAX_SKEW_SECS: u64 = 60;

/// The tokens for one server and the client that they were issued to; neither is printed.
///
/// What is stored keeps its shape: a field that a later version adds has a default.
#[derive(Clone, Serialize, Deserialize)]
pub struct Credential {
    /// The address of the server: a token is never sent to another.
    pub(crate) url: String,
    /// The subject of the person who has logged in; `None` for a shared credential and for the operator.
    pub(crate) subject: Option<String>,
    pub(crate) issuer: Option<String>,
    pub(crate) client_id: String,
    pub(crate) client_secret: Option<String>,
    /// The redirect address that the client was registered with; `None` if it was not registered dynamically.
    pub(crate) registered_redirect: Option<String>,
    pub(crate) access_token: String,
    pub(crate) refresh_token: Option<String>,
    /// When the tokens were received, in seconds since 1970.
    pub(crate) received_at: u64,
    /// How long the access token is valid, in seconds; `None` if that is not known.
    pub(crate) expires_in: Option<u64>,
    pub(crate) scopes: Vec<String>,
    /// The scopes that the login has requested.
    pub(crate) requested_scopes: BTreeSet<String>,
    /// The scopes that requests since then were missing, for the next login.
    pub(crate) missing_scopes: BTreeSet<String>,
    /// Set if the authorization server has rejected the refresh token: only a login helps.
    pub(crate) is_rejected: bool,
}

impl Credential {
    /// Returns the scopes that were granted.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Returns the subject of the person who has logged in; `None` for a shared credential and for the operator.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Returns when the access token expires, in seconds since 1970; `None` if that is not known.
    pub fn expires_at(&self) -> Option<u64> {
        self.expires_in.map(|expires_in| self.received_at.saturating_add(expires_in))
    }

    /// Returns when the tokens were received, in seconds since 1970.
    pub fn received_at(&self) -> u64 {
        self.received_at
    }

    /// Returns true if the access token can be renewed without a person.
    pub fn can_refresh(&self) -> bool {
        self.refresh_token.is_some() && !self.is_rejected
    }

    /// Returns true if only another login helps: the token has expired or was rejected, and cannot be refreshed.
    pub fn needs_login(&self) -> bool {
        !self.can_refresh() && (self.is_rejected || !self.is_fresh())
    }

    /// Returns true if the access token is good for the next request, as far as this clock can tell.
    pub(crate) fn is_fresh(&self) -> bool {
        self.is_fresh_at(unix_millis_now() / 1_000)
    }

    fn is_fresh_at(&self, now: u64) -> bool {
        let Some(expires_in) = self.expires_in else {
            return true;
        };
        // A token that is valid for a minute only is not always about to expire.
        let skew = MAX_SKEW_SECS.min(expires_in / 5);
        now.saturating_sub(self.received_at) < expires_in.saturating_sub(skew)
    }

    /// Takes over the tokens that rmcp has received; `None` if there are none.
    pub(crate) fn with_tokens(mut self, stored: &StoredCredentials) -> Option<Self> {
        let stored = serde_json::to_value(stored).ok()?;
        let tokens = stored.get("token_response")?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        self.access_token = tokens.get("access_token").and_then(text)?;
        self.refresh_token = tokens.get("refresh_token").and_then(text);
        self.expires_in = tokens.get("expires_in").and_then(Value::as_u64);
        self.client_id = stored.get("client_id").and_then(text)?;
        self.issuer = stored.get("issuer").and_then(text);
        let received_at = stored.get("token_received_at").and_then(Value::as_u64);
        self.received_at = received_at.unwrap_or_else(|| unix_millis_now() / 1_000);
        let scopes = stored.get("granted_scopes").and_then(Value::as_array);
        self.scopes = scopes.into_iter().flatten().filter_map(text).collect();
        self.is_rejected = false;
        Some(self)
    }

    /// Returns the credential in the form that rmcp refreshes.
    pub(crate) fn to_rmcp(&self) -> Option<StoredCredentials> {
        let mut tokens = json!({ "access_token": self.access_token, "token_type": "bearer" });
        if let (Some(refresh), Some(tokens)) = (&self.refresh_token, tokens.as_object_mut()) {
            tokens.insert("refresh_token".to_owned(), json!(refresh));
        }
        let stored = json!({
            "client_id": self.client_id,
            "token_response": tokens,
            "granted_scopes": self.scopes,
            "token_received_at": self.received_at,
            "issuer": self.issuer,
        });
        serde_json::from_value(stored).ok()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("url", &self.url)
            .field("scopes", &self.scopes)
            .field("expires_at", &self.expires_at())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn credential(access_token: &str) -> Credential {
        Credential {
            url: "https://wiki.example/mcp".to_owned(),
            subject: None,
            issuer: Some("https://login.example".to_owned()),
            client_id: "client".to_owned(),
            client_secret: Some("client-secret".to_owned()),
            registered_redirect: None,
            access_token: access_token.to_owned(),
            refresh_token: Some("refresh-secret".to_owned()),
            received_at: 1_000,
            expires_in: Some(3_600),
            scopes: vec!["read".to_owned()],
            requested_scopes: BTreeSet::new(),
            missing_scopes: BTreeSet::new(),
            is_rejected: false,
        }
    }

    #[test]
    fn a_token_is_refreshed_before_it_expires() {
        let hour = credential("a");
        assert!(hour.is_fresh_at(1_000) && hour.is_fresh_at(4_539));
        assert!(!hour.is_fresh_at(4_540) && !hour.is_fresh_at(1 << 40));
        // The clock was set back: the server decides.
        assert!(hour.is_fresh_at(0));
        let brief = Credential { expires_in: Some(10), ..credential("a") };
        assert!(brief.is_fresh_at(1_007) && !brief.is_fresh_at(1_008));
        let unknown = Credential { expires_in: None, ..credential("a") };
        assert!(unknown.is_fresh_at(1 << 40));
    }

    #[test]
    fn tokens_survive_the_way_through_rmcp() {
        let before = credential("access-secret");
        let stored = before.to_rmcp().unwrap();
        let after = credential("other").with_tokens(&stored).unwrap();
        assert_eq!(after.access_token, "access-secret");
        assert_eq!(after.refresh_token.as_deref(), Some("refresh-secret"));
        assert_eq!(after.issuer, before.issuer);
        assert_eq!(after.scopes, ["read"]);
    }

    #[test]
    fn no_secret_is_printed() {
        let text = format!("{:?}", credential("access-secret"));
        assert!(!text.contains("secret"), "{text}");
    }
}
