//! An OpenID Connect provider: authorization requests, their responses, renewal of tokens and sign-out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use data_encoding::BASE64URL_NOPAD;
use serde_json::Map;
use sha2::{Digest as _, Sha256};
use toolwright_core::__internal::random_hex;
use toolwright_core::Secret;

use super::id_token::ExpectedClaims;
use super::identity_claims::GroupRules;
use super::metadata::{MetadataSource, ProviderMetadata};
use super::token_endpoint::{ClientCredentials, TokenResponse, printable};
use super::{
    AuthorizationResponse, PendingSignIn, ProviderIdentity, ProviderTokens, RenewalOutcome,
    SignInError, SignInOutcome,
};
use crate::http::error::AuthBuildError;
use crate::http::http_client::HttpClient;

/// The scopes that are requested by default.
const DEFAULT_SCOPES: [&str; 3] = ["openid", "profile", "email"];
/// With this scope a provider issues a refresh token, and has to ask the person for consent (OpenID Connect Core, 11).
const OFFLINE_ACCESS: &str = "offline_access";
/// The number of random bytes of a state, a nonce and a code verifier.
const RANDOM_BYTES: usize = 32;
/// The longest name of a provider, which is a part of every subject.
const MAX_NAME_BYTES: usize = 32;

/// An OpenID Connect provider that people sign in with; cheap to clone.
///
/// Its metadata and keys are fetched when they are needed; a server fetches the metadata when it starts.
///
/// # Examples
///
/// ```
/// use toolwright::Secret;
/// use toolwright::auth::{OpenIdProvider, SignIn};
///
/// let corp = OpenIdProvider::new("corp", "https://login.example.com", "toolwright")?
///     .client_secret(Secret::new("made-up"))
///     .label("Example Corp.")
///     .roles("it-operations", ["admin"])
///     .grants("staff", ["orders:read"]);
/// let sign_in = SignIn::new().provider(corp);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct OpenIdProvider(Arc<Inner>);

struct Inner {
    settings: Settings,
    http: Arc<HttpClient>,
    metadata: Arc<MetadataSource>,
}

#[derive(Clone)]
struct Settings {
    name: String,
    label: String,
    issuer: String,
    client: Arc<ClientCredentials>,
    scopes: Vec<String>,
    groups: GroupRules,
}

impl OpenIdProvider {
    /// A provider by the address of its issuer; `client_id` is this server as the provider knows it.
    ///
    /// `name` is a part of redirect addresses and of every subject: letters, digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// When the name is invalid, or the issuer is not an address with `https`; `http` is for this machine only.
    pub fn new(
        name: impl Into<String>,
        issuer: impl Into<String>,
        client_id: impl Into<String>,
    ) -> Result<Self, AuthBuildError> {
        let (name, issuer) = (name.into(), issuer.into());
        let invalid = |message: String| AuthBuildError::SignIn { message };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_plain) {
            return Err(invalid(format!(
                "the name `{name}` of a provider: write at most {MAX_NAME_BYTES} letters, digits, `-` and `_`"
            )));
        }
        let metadata = Arc::new(MetadataSource::new(&issuer)?);
        let settings = Settings {
            label: name.clone(),
            name,
            issuer,
            client: Arc::new(ClientCredentials { id: client_id.into(), secret: None }),
            scopes: DEFAULT_SCOPES.map(str::to_owned).into(),
            groups: GroupRules {
                claim: "groups".to_owned(),
                roles: Default::default(),
                grants: Default::default(),
                kept_claims: Default::default(),
            },
        };
        let http = Arc::new(HttpClient::new().map_err(invalid)?);
        Ok(Self(Arc::new(Inner { settings, http, metadata })))
    }

    /// Changes the settings; clones that exist already keep theirs.
    fn with(self, change: impl FnOnce(&mut Settings)) -> Self {
        let Inner { settings, http, metadata } = &*self.0;
        let (mut settings, http, metadata) =
            (settings.clone(), Arc::clone(http), Arc::clone(metadata));
        change(&mut settings);
        Self(Arc::new(Inner { settings, http, metadata }))
    }

    /// Sets the secret by which this server authenticates to the provider; without, it is a public client.
    #[must_use]
    pub fn client_secret(self, secret: Secret) -> Self {
        self.with(|settings| {
            let id = settings.client.id.clone();
            settings.client = Arc::new(ClientCredentials { id, secret: Some(secret) });
        })
    }

    /// Sets the name that people see; default: the name of the provider.
    #[must_use]
    pub fn label(self, label: impl Into<String>) -> Self {
        self.with(|settings| settings.label = label.into())
    }

    /// Sets the scopes that are requested, beside `openid`; default: `profile` and `email`. Providers that issue refresh tokens on
    /// request only need `offline_access`.
    #[must_use]
    pub fn scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.with(|settings| {
            settings.scopes = vec!["openid".to_owned()];
            let others = scopes.into_iter().map(Into::into);
            settings.scopes.extend(others.filter(|scope| scope != "openid"));
        })
    }

    /// Sets the claim that has the groups of a person, or the path to it with dots; default: `groups`.
    #[must_use]
    pub fn groups_claim(self, claim: impl Into<String>) -> Self {
        self.with(|settings| settings.groups.claim = claim.into())
    }

    /// Gives roles to the members of a group; `*` is every person.
    #[must_use]
    pub fn roles<R: Into<String>>(
        self,
        group: impl Into<String>,
        roles: impl IntoIterator<Item = R>,
    ) -> Self {
        self.with(|settings| {
            let of_group = settings.groups.roles.entry(group.into()).or_default();
            of_group.extend(roles.into_iter().map(Into::into));
        })
    }

    /// Grants scopes to the members of a group; `*` is every person.
    #[must_use]
    pub fn grants<S: Into<String>>(
        self,
        group: impl Into<String>,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.with(|settings| {
            let of_group = settings.groups.grants.entry(group.into()).or_default();
            of_group.extend(scopes.into_iter().map(Into::into));
        })
    }

    /// Keeps these claims about a person, by their names or paths, for the rules of endpoints; others are not kept.
    #[must_use]
    pub(super) fn keep_claims(self, claims: &BTreeSet<String>) -> Self {
        self.with(|settings| settings.groups.kept_claims.extend(claims.iter().cloned()))
    }

    /// Returns the roles that groups have, each after its group.
    pub fn roles_of_groups(&self) -> impl Iterator<Item = (&str, &str)> {
        by_group(&self.0.settings.groups.roles)
    }

    /// Returns the scopes that groups are granted, each after its group.
    pub(crate) fn grants_of_groups(&self) -> impl Iterator<Item = (&str, &str)> {
        by_group(&self.0.settings.groups.grants)
    }

    /// Returns the name of the provider in addresses and subjects.
    pub fn name(&self) -> &str {
        &self.0.settings.name
    }

    /// Returns the name that people see.
    pub fn display_label(&self) -> &str {
        &self.0.settings.label
    }

    /// Returns the address of the issuer.
    pub fn issuer(&self) -> &str {
        &self.0.settings.issuer
    }

    /// Checks whether people can sign in: fetches the metadata of the provider, unless they are known.
    ///
    /// # Errors
    ///
    /// When the metadata cannot be fetched.
    pub async fn check(&self) -> Result<(), SignInError> {
        self.0.metadata.check(&self.0.http).await
    }

    /// Returns true if the metadata could not be fetched when they were last needed.
    pub fn is_unavailable(&self) -> bool {
        self.0.metadata.is_unavailable()
    }

    /// Starts a sign-in: returns the address that the browser is sent to, and what has to be remembered until the response.
    ///
    /// # Errors
    ///
    /// When the metadata of the provider cannot be fetched.
    pub async fn authorization_request(
        &self,
        redirect_uri: &str,
    ) -> Result<(String, PendingSignIn), SignInError> {
        let metadata = self.metadata().await?;
        let random = || {
            random_hex(RANDOM_BYTES).map_err(|error| SignInError::unavailable(error.to_string()))
        };
        let pending = PendingSignIn {
            state: random()?,
            nonce: random()?,
            code_verifier: random()?,
            redirect_uri: redirect_uri.to_owned(),
        };
        let Settings { client, scopes, .. } = &self.0.settings;
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&pending.code_verifier));
        let mut url = metadata.authorization_endpoint.clone();
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &pending.state)
            .append_pair("nonce", &pending.nonce)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256");
        if scopes.iter().any(|scope| scope == OFFLINE_ACCESS) {
            url.query_pairs_mut().append_pair("prompt", "consent");
        }
        Ok((url.into(), pending))
    }

    /// Completes a sign-in: exchanges the code of the response, and verifies the ID token.
    ///
    /// The caller has found `pending` by the state of the response, and used it for no other.
    ///
    /// # Errors
    ///
    /// When the response is of another issuer, the person or the provider has declined, the code or the ID token is invalid, or
    /// the provider cannot be reached.
    pub async fn complete(
        &self,
        pending: &PendingSignIn,
        response: &AuthorizationResponse,
    ) -> Result<SignInOutcome, SignInError> {
        let metadata = self.metadata().await?;
        let issuer = self.issuer();
        // Before anything is sent: a code of another provider must not reach this one (RFC 9207).
        match response.iss.as_deref() {
            Some(iss) if iss != issuer => {
                return Err(SignInError::invalid("the response is of another provider"));
            }
            None if metadata.sends_iss => {
                return Err(SignInError::invalid("the response does not name its provider"));
            }
            _ => {}
        }
        if let Some(error) = &response.error {
            return Err(SignInError::Declined { code: printable(error) });
        }
        let code = response.code.as_deref();
        let code = code.ok_or_else(|| SignInError::invalid("the response has no code"))?;
        let code = (code, &*pending.code_verifier, &*pending.redirect_uri);
        let client = &self.0.settings.client;
        let tokens = match client.exchange_code(&self.0.http, &metadata, code).await {
            Err(SignInError::Ended) => {
                return Err(SignInError::invalid("the provider does not accept the code"));
            }
            tokens => tokens?,
        };
        if tokens.id_token.is_none() {
            return Err(SignInError::invalid("the provider has sent no ID token"));
        }
        let (identity, lifetime) =
            self.identify(&metadata, &tokens, Some(&pending.nonce), None).await?;
        let identity =
            identity.ok_or_else(|| SignInError::invalid("the provider has sent no ID token"))?;
        let TokenResponse { refresh_token, id_token, .. } = tokens;
        let tokens = ProviderTokens { refresh_token, id_token, expires_in: lifetime };
        Ok(SignInOutcome { identity, tokens })
    }

    /// Renews the tokens of a person, and reads their current groups.
    ///
    /// The refresh token must not be used again: the renewed tokens have one.
    ///
    /// # Errors
    ///
    /// [`SignInError::Ended`] if the provider does not accept the refresh token any more; otherwise, when the ID token is invalid,
    /// or the provider cannot be reached.
    pub async fn renew(
        &self,
        refresh_token: &Secret,
        subject: &str,
    ) -> Result<RenewalOutcome, SignInError> {
        let metadata = self.metadata().await?;
        let client = &self.0.settings.client;
        let mut tokens = client.refresh(&self.0.http, &metadata, refresh_token).await?;
        tokens.refresh_token.get_or_insert_with(|| refresh_token.clone());
        let (identity, lifetime) = self.identify(&metadata, &tokens, None, Some(subject)).await?;
        let TokenResponse { refresh_token, id_token, .. } = tokens;
        let tokens = ProviderTokens { refresh_token, id_token, expires_in: lifetime };
        Ok(RenewalOutcome { identity, tokens })
    }

    /// Revokes a refresh token, if the provider supports that; an error is only logged.
    pub async fn revoke(&self, refresh_token: &Secret) {
        let revoked = match self.metadata().await {
            Ok(metadata) => {
                let client = &self.0.settings.client;
                client.revoke(&self.0.http, &metadata, refresh_token).await
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = revoked {
            tracing::info!(provider = self.name(), reason, "a refresh token is not revoked");
        }
    }

    /// Returns the address where the person signs out of the provider, too, and from which they come back to `return_to`; `None`
    /// if the provider has none, or cannot be reached.
    pub async fn sign_out_url(&self, id_token: Option<&Secret>, return_to: &str) -> Option<String> {
        let metadata = self.metadata().await.ok()?;
        let mut url = metadata.end_session_endpoint.clone()?;
        {
            let mut query = url.query_pairs_mut();
            if let Some(token) = id_token {
                query.append_pair("id_token_hint", token.expose());
            }
            query.append_pair("client_id", &self.0.settings.client.id);
            query.append_pair("post_logout_redirect_uri", return_to);
        }
        Some(url.into())
    }

    async fn metadata(&self) -> Result<Arc<ProviderMetadata>, SignInError> {
        self.0.metadata.get(&self.0.http).await
    }

    /// Returns the person whom tokens describe, and how long the tokens are valid.
    ///
    /// `subject` is that of the session, if there is one: tokens of another subject are an error. The person is `None` if a
    /// renewed response has no ID token, and the provider has no userinfo endpoint.
    async fn identify(
        &self,
        metadata: &ProviderMetadata,
        tokens: &TokenResponse,
        nonce: Option<&str>,
        subject: Option<&str>,
    ) -> Result<(Option<ProviderIdentity>, Duration), SignInError> {
        let Settings { name, issuer, client, groups, .. } = &self.0.settings;
        let known = subject.and_then(|subject| subject.strip_prefix(name)?.strip_prefix(':'));
        let (mut claims, mut id_token_left, mut found) = (Map::new(), None, None);
        if let Some(token) = &tokens.id_token {
            let algorithms = metadata.id_token_algorithms.as_deref();
            claims = metadata.keys.verify_id_token(token, algorithms).await?;
            let expected = ExpectedClaims { issuer, client_id: &client.id, nonce };
            let (subject, left) = expected.check(&claims, SystemTime::now())?;
            if known.is_some_and(|known| known != subject) {
                return Err(SignInError::invalid("the renewed ID token is of another person"));
            }
            (id_token_left, found) = (Some(left), Some(subject));
        }
        let lifetime = tokens.lifetime(id_token_left);
        let Some(subject) = found.as_deref().or(known) else {
            return Err(SignInError::invalid("the provider has sent no ID token"));
        };
        if let Some(url) = &metadata.userinfo_endpoint
            && groups.needs_more_than(&claims)
        {
            let mut more = tokens.userinfo(&self.0.http, url, subject).await?;
            // What is signed counts more.
            more.append(&mut claims);
            claims = more;
        }
        let is_described = !claims.is_empty();
        let identity: Option<ProviderIdentity> =
            is_described.then(|| groups.identity(name, subject, &claims));
        Ok((identity, lifetime))
    }
}

fn by_group(rules: &BTreeMap<String, BTreeSet<String>>) -> impl Iterator<Item = (&str, &str)> {
    rules.iter().flat_map(|(group, names)| names.iter().map(|name| (&**group, &**name)))
}

impl std::fmt::Debug for OpenIdProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenIdProvider")
            .field("name", &self.name())
            .field("issuer", &self.issuer())
            .finish_non_exhaustive()
    }
}
