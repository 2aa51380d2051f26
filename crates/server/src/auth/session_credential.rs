//! What a session stands for: an `Authorization` header, or a person who has signed in with a provider.

use std::time::{Duration, UNIX_EPOCH};

use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};
use toolwright_auth::{Identity, ProviderIdentity, RenewalOutcome, SignInOutcome};
use toolwright_chat::PrincipalRecord;
use toolwright_core::Secret;

/// Tokens are renewed this long before they expire, or a quarter of their lifetime if that is shorter.
const RENEWAL_SKEW: Duration = Duration::from_secs(60);

/// What a session stands for; never shown.
pub(super) enum SessionCredential {
    /// The header that requests with the cookie are given.
    Authorization(HeaderValue),
    /// A person, and the tokens of the provider.
    Provider(Box<ProviderCredential>),
}

/// A person who has signed in with a provider, and the tokens that vouch for them.
#[derive(Clone)]
pub(super) struct ProviderCredential {
    /// The name of the provider.
    pub(super) provider: String,
    pub(super) tokens: StoredTokens,
}

/// The person and the tokens, as they are encrypted.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredTokens {
    person: PrincipalRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_token: Option<String>,
    /// When the tokens are to be renewed, and when they expire, in milliseconds since 1970.
    renew_at: u64,
    expire_at: u64,
}

impl SessionCredential {
    /// Decodes what was encrypted; `None` if it is malformed.
    pub(super) fn decode(provider: Option<&str>, plain: &[u8]) -> Option<Self> {
        let Some(provider) = provider else {
            let mut authorization = HeaderValue::from_bytes(plain).ok()?;
            authorization.set_sensitive(true);
            return Some(Self::Authorization(authorization));
        };
        let tokens = serde_json::from_slice(plain).ok()?;
        let provider = provider.to_owned();
        Some(Self::Provider(Box::new(ProviderCredential { provider, tokens })))
    }
}

impl ProviderCredential {
    /// The credential of a session that ends at `session_end`, in milliseconds since 1970.
    pub(super) fn new(
        provider: &str,
        signed_in: SignInOutcome,
        now: u64,
        session_end: u64,
    ) -> Self {
        let SignInOutcome { identity, tokens } = signed_in;
        let mut person = PrincipalRecord::new(&identity.subject);
        person.expires = Some(session_end);
        describe(&mut person, identity);
        let mut stored = StoredTokens {
            person,
            refresh_token: None,
            id_token: None,
            renew_at: u64::MAX,
            expire_at: u64::MAX,
        };
        stored.set(&tokens, now);
        Self { provider: provider.to_owned(), tokens: stored }
    }

    /// The same with renewed tokens.
    pub(super) fn renewed(&self, renewed: RenewalOutcome, now: u64) -> Self {
        let mut next = self.clone();
        if let Some(identity) = renewed.identity {
            describe(&mut next.tokens.person, identity);
        }
        next.tokens.set(&renewed.tokens, now);
        next
    }

    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(&self.tokens).ok()
    }

    pub(super) fn display_name(&self) -> Option<&str> {
        self.tokens.person.name.as_deref()
    }

    pub(super) fn subject(&self) -> &str {
        &self.tokens.person.subject
    }

    pub(super) fn refresh_token(&self) -> Option<Secret> {
        self.tokens.refresh_token.as_deref().map(Secret::new)
    }

    pub(super) fn id_token(&self) -> Option<Secret> {
        self.tokens.id_token.as_deref().map(Secret::new)
    }

    /// Returns true if the tokens have to be renewed.
    pub(super) fn is_renewal_due(&self, now: u64) -> bool {
        self.tokens.refresh_token.is_some() && self.tokens.renew_at <= now
    }

    /// Returns true if the provider does not vouch for the person any more.
    pub(super) fn is_expired(&self, now: u64) -> bool {
        self.tokens.refresh_token.is_some() && self.tokens.expire_at <= now
    }

    /// The identity that requests with the cookie have.
    pub(super) fn identity(&self) -> Identity {
        identity_of(&self.tokens.person)
    }
}

impl StoredTokens {
    /// Sets tokens that were issued now; those without a refresh token hold as long as the session.
    fn set(&mut self, tokens: &toolwright_auth::ProviderTokens, now: u64) {
        let expose = |token: &Secret| token.expose().to_owned();
        self.refresh_token = tokens.refresh_token.as_ref().map(expose);
        if let Some(token) = &tokens.id_token {
            self.id_token = Some(expose(token));
        }
        let lifetime = tokens.expires_in;
        let skew = RENEWAL_SKEW.min(lifetime / 4);
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.renew_at = now.saturating_add(millis(lifetime - skew));
        self.expire_at = now.saturating_add(millis(lifetime));
    }
}

/// Sets name, scopes, roles and claims of a person, whose subject stays the same.
fn describe(person: &mut PrincipalRecord, identity: ProviderIdentity) {
    person.name = identity.display_name;
    person.scopes = identity.scopes.into_iter().collect();
    person.roles = identity.roles.into_iter().collect();
    person.claims = identity.claims;
}

/// The identity of a recorded principal.
pub(super) fn identity_of(record: &PrincipalRecord) -> Identity {
    let mut identity = Identity::new(&record.subject)
        .scopes(record.scopes.iter().cloned())
        .roles(record.roles.iter().cloned());
    for (name, values) in &record.claims {
        identity = values.iter().fold(identity, |identity, value| identity.claim(name, value));
    }
    if let Some(name) = &record.name {
        identity = identity.display_name(name);
    }
    if let Some(expires) = record.expires {
        identity = identity.expires_at(UNIX_EPOCH + Duration::from_millis(expires));
    }
    identity
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use toolwright_auth::ProviderTokens;

    use super::*;

    fn tokens(lifetime: u64, refresh_token: Option<&str>) -> ProviderTokens {
        ProviderTokens {
            refresh_token: refresh_token.map(Secret::new),
            id_token: None,
            expires_in: Duration::from_secs(lifetime),
        }
    }

    fn identity(roles: &[&str]) -> ProviderIdentity {
        ProviderIdentity {
            subject: "corp:1".to_owned(),
            display_name: Some("Ada".to_owned()),
            scopes: BTreeSet::new(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
            claims: Default::default(),
        }
    }

    fn credential(lifetime: u64, refresh_token: Option<&str>) -> ProviderCredential {
        let tokens = tokens(lifetime, refresh_token);
        let signed_in = SignInOutcome { identity: identity(&["admin"]), tokens };
        ProviderCredential::new("corp", signed_in, 0, 1_000_000)
    }

    #[test]
    fn tokens_are_renewed_a_minute_or_a_quarter_of_their_life_before_they_expire() {
        for (lifetime, due) in [(3600, 3_540_000), (100, 75_000), (0, 0)] {
            let credential = credential(lifetime, Some("r"));
            assert!(due == 0 || !credential.is_renewal_due(due - 1), "{lifetime}");
            assert!(credential.is_renewal_due(due), "{lifetime}");
            assert_eq!(credential.is_expired(due), lifetime == 0, "{lifetime}");
            assert!(credential.is_expired(lifetime * 1000), "{lifetime}");
        }
    }

    #[test]
    fn without_a_refresh_token_a_person_is_signed_in_as_long_as_the_session() {
        let credential = credential(60, None);
        assert!(!credential.is_renewal_due(u64::MAX) && !credential.is_expired(u64::MAX));
    }

    #[test]
    fn renewed_tokens_replace_the_earlier_ones_and_the_rights() {
        let before = credential(60, Some("first"));
        let renewal =
            RenewalOutcome { identity: Some(identity(&[])), tokens: tokens(60, Some("second")) };
        let after = before.renewed(renewal, 50_000);
        assert_eq!(after.refresh_token().unwrap().expose(), "second");
        assert!(!after.is_renewal_due(60_000));
        assert!(after.tokens.person.roles.is_empty());
        let unchanged = RenewalOutcome { identity: None, tokens: tokens(60, Some("third")) };
        let kept = before.renewed(unchanged, 0).tokens.person;
        assert_eq!((kept.roles, kept.expires), (vec!["admin".to_owned()], Some(1_000_000)));
        let plain = after.encode().unwrap();
        let Some(SessionCredential::Provider(decoded)) =
            SessionCredential::decode(Some("corp"), &plain)
        else {
            panic!("it is the same credential");
        };
        assert_eq!(decoded.encode().unwrap(), plain);
    }
}
