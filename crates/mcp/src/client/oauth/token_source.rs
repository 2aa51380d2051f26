//! The tokens for one server: loaded from the credential store, refreshed, or obtained by a login.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::{AuthError, ClientCredentialsConfig, CredentialStore as _};
use tokio::sync::Mutex;
use url::Url;

use super::issuer::TrustedIssuer;
use super::login::{self, PendingLogin, TokenClient};
use super::{GrantType, OAuthClient, UserAuthorizer, revocation};
use crate::client::connection::http::Challenge;
use crate::credential::{
    Credential, CredentialError, CredentialHolder, CredentialKey, CredentialStore, StoredCredential,
};
use crate::import::{error_chain, excerpt};
use crate::pin::PinStore;

/// The time for a refresh; shorter than the lock of other nodes is valid.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(20);

/// How often a refreshed credential is saved if the store fails: it cannot be refreshed a second time.
const MAX_SAVES: usize = 3;

/// The tokens for one server.
pub(crate) struct TokenSource {
    url: String,
    oauth: OAuthClient,
    trusted: TrustedIssuer,
    store: Arc<dyn CredentialStore>,
    key: CredentialKey,
    /// Locked during an authorization, so that concurrent calls show one page and not one each.
    state: Mutex<TokenState>,
}

#[derive(Default)]
struct TokenState {
    /// The client that has obtained the last tokens, by its client id.
    client: Option<(String, TokenClient)>,
    requested_scopes: BTreeSet<String>,
}

/// Why there is no token.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AuthorizationFailure {
    /// A user has to log in; the message explains how.
    #[error("{0}")]
    LoginRequired(String),
    /// The server names an authorization server that is not trusted with credentials.
    #[error("{0}")]
    Untrusted(String),
    /// The authorization failed, or the credential cannot be read or written.
    #[error("authorization failed: {0}")]
    Failed(String),
}

impl AuthorizationFailure {
    pub(crate) fn is_login_required(&self) -> bool {
        matches!(self, Self::LoginRequired(_))
    }
}

impl From<CredentialError> for AuthorizationFailure {
    fn from(error: CredentialError) -> Self {
        Self::Failed(error_chain(&error))
    }
}

impl From<String> for AuthorizationFailure {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

/// The result of a refresh.
enum Refresh {
    Refreshed(Box<Credential>),
    /// The authorization server does not accept the refresh token any more.
    Rejected,
    Failed(String),
}

impl TokenSource {
    pub(crate) fn new(
        url: &Url,
        oauth: OAuthClient,
        pins: Arc<dyn PinStore>,
        store: Arc<dyn CredentialStore>,
        key: CredentialKey,
    ) -> Self {
        let trusted = TrustedIssuer::new(&key.server, oauth.issuer.clone(), pins);
        Self { url: url.to_string(), oauth, trusted, store, key, state: Mutex::default() }
    }

    /// Returns true if a user may be shown a page.
    pub(crate) fn is_interactive(&self) -> bool {
        matches!(self.oauth.grant, GrantType::AuthorizationCode { .. })
    }

    /// Returns the stored credential, if it is for this address.
    async fn load(&self) -> Result<Option<StoredCredential>, CredentialError> {
        let stored = self.store.load(&self.key).await?;
        Ok(stored.filter(|stored| stored.credential.url == self.url))
    }

    /// Returns the token to send, if there is one, refreshed if it is about to expire.
    pub(crate) async fn token(self: &Arc<Self>) -> Result<Option<String>, AuthorizationFailure> {
        let Some(stored) = self.load().await? else {
            return Ok(None);
        };
        let credential = stored.credential;
        match credential.is_fresh() && !credential.is_rejected {
            true => Ok(Some(credential.access_token)),
            false => self.renew_or_ask(credential.access_token).await,
        }
    }

    /// As [`renew`](Self::renew); where a user can be shown a page, a failure is one more reason to do so.
    async fn renew_or_ask(
        self: &Arc<Self>,
        rejected: String,
    ) -> Result<Option<String>, AuthorizationFailure> {
        match self.renew(rejected).await {
            Err(_) if self.is_interactive() => Ok(None),
            renewed => renewed,
        }
    }

    /// Obtains another token than the rejected one, without a user; `None` if only a user can.
    async fn renew(
        self: &Arc<Self>,
        rejected: String,
    ) -> Result<Option<String>, AuthorizationFailure> {
        // A task: a refresh that is cancelled after the authorization server has rotated the refresh token loses it.
        let source = Arc::clone(self);
        let renewal = tokio::spawn(async move {
            let mut state = source.state.lock().await;
            let lock = source.store.lock(&source.key).await?;
            let renewed = source.renew_locked(&mut state, &rejected).await;
            source.store.unlock(&source.key, &lock).await;
            renewed
        });
        match renewal.await {
            Ok(renewed) => renewed,
            Err(_) => Err(AuthorizationFailure::Failed("the refresh was interrupted".to_owned())),
        }
    }

    /// As [`renew`](Self::renew), while no other node refreshes.
    async fn renew_locked(
        &self,
        state: &mut TokenState,
        rejected: &str,
    ) -> Result<Option<String>, AuthorizationFailure> {
        let Some(stored) = self.load().await? else {
            return Ok(None);
        };
        let credential = &stored.credential;
        if credential.access_token != rejected && credential.is_fresh() {
            return Ok(Some(credential.access_token.clone()));
        }
        if matches!(self.oauth.grant, GrantType::ClientCredentials) {
            return self.authorize_client(state).await.map(Some);
        }
        if !credential.can_refresh() {
            return Ok(None);
        }
        let refresh = tokio::time::timeout(REFRESH_TIMEOUT, state.refresh(self, credential));
        let refresh = refresh.await.unwrap_or_else(|_| {
            Refresh::Failed("the authorization server did not answer in time".to_owned())
        });
        match refresh {
            Refresh::Refreshed(new) => self.save_refreshed(&stored, &new).await,
            Refresh::Rejected => {
                let rejected = Credential { is_rejected: true, ..credential.clone() };
                self.store.replace(&self.key, Some(&stored), &rejected).await?;
                Ok(None)
            }
            Refresh::Failed(message) => Err(AuthorizationFailure::Failed(message)),
        }
    }

    /// Saves a refreshed credential before it is used, unless there was a login or a logout meanwhile.
    async fn save_refreshed(
        &self,
        old: &StoredCredential,
        new: &Credential,
    ) -> Result<Option<String>, AuthorizationFailure> {
        let mut attempts = 1;
        loop {
            match self.store.replace(&self.key, Some(old), new).await {
                Ok(true) => return Ok(Some(new.access_token.clone())),
                Ok(false) => {
                    let current = self.load().await?.map(|stored| stored.credential);
                    return Ok(current.map(|credential| credential.access_token));
                }
                Err(error) if attempts >= MAX_SAVES => return Err(error.into()),
                Err(_) => attempts += 1,
            }
        }
    }

    /// Obtains another token than the rejected one.
    pub(crate) async fn respond_to_challenge(
        self: &Arc<Self>,
        challenge: &Challenge,
        rejected: Option<&str>,
    ) -> Result<(), AuthorizationFailure> {
        if let Some(rejected) = rejected.filter(|_| !challenge.is_insufficient_scope) {
            let renewed = self.renew_or_ask(rejected.to_owned()).await?;
            if renewed.is_some_and(|token| token != rejected) {
                return Ok(());
            }
        }
        let mut state = self.state.lock().await;
        let stored = self.load().await?;
        let usable = stored.as_ref().map(|stored| &stored.credential);
        let usable = usable.filter(|credential| credential.is_fresh() && !credential.is_rejected);
        // Another call may have authorized the client meanwhile.
        if usable.is_some_and(|credential| Some(&*credential.access_token) != rejected) {
            return Ok(());
        }
        match &self.oauth.grant {
            GrantType::AuthorizationCode { redirect, authorize } => {
                let known = stored.as_ref().map(|stored| &stored.credential);
                let scopes = state.scopes_to_request(challenge, rejected.is_some(), known)?;
                let user = (redirect.as_str(), authorize.as_ref());
                self.authorize_user(&mut state, user, scopes, challenge, known).await
            }
            GrantType::ClientCredentials => self.authorize_client(&mut state).await.map(drop),
            GrantType::StoredLogin => Err(self.require_login(challenge, stored).await),
        }
    }

    /// The error that asks for a login; the scopes that are missing are stored for it.
    async fn require_login(
        &self,
        challenge: &Challenge,
        stored: Option<StoredCredential>,
    ) -> AuthorizationFailure {
        let missing = challenge
            .scope()
            .filter(|scope| challenge.is_insufficient_scope && !scope.trim().is_empty());
        let (Some(missing), Some(stored)) = (missing, stored) else {
            let message = format!("a login is needed: {}", self.oauth.login_hint);
            return AuthorizationFailure::LoginRequired(message);
        };
        let mut credential = stored.credential.clone();
        let mut scopes = missing.split_whitespace();
        if scopes.all(|scope| credential.requested_scopes.contains(scope)) {
            // Another login would request the same again, in an endless loop.
            return AuthorizationFailure::LoginRequired(format!(
                "it wants the scope `{}`, which the login has requested already; its authorization server does not grant it",
                excerpt(&missing)
            ));
        }
        credential.missing_scopes.extend(missing.split_whitespace().map(str::to_owned));
        if credential.missing_scopes != stored.credential.missing_scopes {
            // If this fails, the next login requests the scopes of before only, and there will be another.
            let _ = self.store.replace(&self.key, Some(&stored), &credential).await;
        }
        AuthorizationFailure::LoginRequired(format!(
            "the login lacks the scope `{}`: {}",
            excerpt(&missing),
            self.oauth.login_hint
        ))
    }

    /// Lets the user log in, whether or not there is a credential.
    pub(crate) async fn log_in(
        &self,
        challenge: &Challenge,
        redirect: &str,
        authorize: &dyn UserAuthorizer,
    ) -> Result<Credential, AuthorizationFailure> {
        let mut state = self.state.lock().await;
        let scopes = self.login_scopes().await;
        let user = (redirect, authorize);
        self.authorize_user(&mut state, user, scopes, challenge, None).await?;
        let stored = self.load().await?;
        let stored = stored.ok_or_else(|| "it was removed at once".to_owned())?;
        Ok(stored.credential)
    }

    /// Starts a login that [`finish_login`](Self::finish_login) ends, perhaps at another node.
    pub(crate) async fn begin_login(
        &self,
        challenge: &Challenge,
        redirect: &str,
    ) -> Result<PendingLogin, AuthorizationFailure> {
        let scopes = self.login_scopes().await;
        let begun =
            login::begin(&self.url, &self.oauth, redirect, scopes, challenge, None, &self.trusted);
        Ok(begun.await?.0)
    }

    /// Ends a login with the address that the browser was redirected to.
    pub(crate) async fn finish_login(
        &self,
        pending: &PendingLogin,
        callback: &str,
    ) -> Result<Credential, AuthorizationFailure> {
        let client = login::resume(pending, &self.trusted).await?;
        let credential = login::finish(pending, &client, callback, self.subject()).await?;
        self.store.put(&self.key, &credential).await?;
        Ok(credential)
    }

    /// Removes the credential, then revokes it as far as the authorization server supports that; returns false if there was none.
    pub(crate) async fn log_out(&self) -> Result<bool, CredentialError> {
        // One that cannot be decrypted is removed as well.
        let stored = self.store.load(&self.key).await.ok().flatten();
        let is_removed = self.store.remove(&self.key).await?;
        if let Some(stored) = stored.filter(|_| is_removed) {
            let revoked = revocation::revoke(&stored.credential, &self.oauth, &self.trusted);
            if tokio::time::timeout(REFRESH_TIMEOUT, revoked).await != Ok(true) {
                tracing::info!(server = self.key.server, "the tokens could not be revoked");
            }
        }
        Ok(is_removed)
    }

    /// The scopes to request at a login: none for those that the settings or the server name.
    async fn login_scopes(&self) -> Vec<String> {
        // A credential that cannot be read is replaced by the login.
        let stored = self.load().await.ok().flatten();
        let credential = stored.map(|stored| stored.credential);
        let credential = credential.filter(|credential| !credential.missing_scopes.is_empty());
        let mut scopes: BTreeSet<String> = BTreeSet::new();
        if let Some(credential) = credential {
            scopes.extend(credential.requested_scopes);
            scopes.extend(credential.missing_scopes);
            scopes.extend(self.oauth.scopes.iter().cloned());
        }
        scopes.into_iter().collect()
    }

    fn subject(&self) -> Option<&str> {
        match &self.key.holder {
            CredentialHolder::Shared => None,
            CredentialHolder::Person(subject) => subject.as_deref(),
        }
    }

    async fn authorize_user(
        &self,
        state: &mut TokenState,
        (redirect, authorize): (&str, &dyn UserAuthorizer),
        scopes: Vec<String>,
        challenge: &Challenge,
        known: Option<&Credential>,
    ) -> Result<(), AuthorizationFailure> {
        let begun =
            login::begin(&self.url, &self.oauth, redirect, scopes, challenge, known, &self.trusted);
        let (pending, client) = begun.await?;
        state.requested_scopes.extend(pending.scopes().iter().cloned());
        let callback =
            authorize.authorize(pending.page()).await.map_err(|reason| excerpt(&reason))?;
        let credential = login::finish(&pending, &client, &callback, self.subject()).await?;
        self.store.put(&self.key, &credential).await?;
        state.client = Some((credential.client_id, client));
        Ok(())
    }

    /// Obtains a token by the client's own id and secret, and returns it.
    async fn authorize_client(
        &self,
        state: &mut TokenState,
    ) -> Result<String, AuthorizationFailure> {
        let (client_id, secret) = self.oauth.registered_client.clone().unwrap_or_default();
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: client_id.clone(),
            client_secret: secret.map_or_else(String::new, |secret| secret.expose().to_owned()),
            scopes: self.oauth.scopes.clone(),
            resource: Some(self.url.clone()),
        };
        let mut client = TokenClient::discover(&self.url, "", &self.trusted).await?;
        let manager = &mut client.manager;
        let supported = manager.validate_client_credentials_metadata(&config);
        let configured = supported.and_then(|()| manager.configure_client_credentials(&config));
        configured.map_err(|error| error_chain(&error))?;
        let exchanged = manager.exchange_client_credentials(&config).await;
        exchanged.map_err(|error| error_chain(&error))?;
        let received = client.received.load().await.map_err(|error| error_chain(&error))?;
        let credential = Credential {
            url: self.url.clone(),
            subject: None,
            issuer: None,
            client_id,
            // It is in the settings.
            client_secret: None,
            registered_redirect: None,
            access_token: String::new(),
            refresh_token: None,
            received_at: 0,
            expires_in: None,
            scopes: Vec::new(),
            requested_scopes: BTreeSet::new(),
            missing_scopes: BTreeSet::new(),
            is_rejected: false,
        };
        let credential = received.and_then(|received| credential.with_tokens(&received));
        let credential =
            credential.ok_or_else(|| "the authorization server sent no token".to_owned())?;
        self.store.put(&self.key, &credential).await?;
        state.client = None;
        Ok(credential.access_token)
    }
}

impl TokenState {
    /// Exchanges the refresh token of a credential.
    async fn refresh(&mut self, source: &TokenSource, credential: &Credential) -> Refresh {
        let client = match self.client_for(source, credential).await {
            Ok(client) => client,
            Err(message) => return Refresh::Failed(message),
        };
        let Some(stored) = credential.to_rmcp() else {
            return Refresh::Rejected;
        };
        if let Err(error) = client.received.save(stored).await {
            return Refresh::Failed(error_chain(&error));
        }
        match client.manager.refresh_token().await {
            Ok(_) => {}
            Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => {
                return Refresh::Rejected;
            }
            Err(error) => return Refresh::Failed(error_chain(&error)),
        }
        let received = client.received.load().await.ok().flatten();
        let refreshed = received.and_then(|received| credential.clone().with_tokens(&received));
        match refreshed {
            Some(refreshed) => Refresh::Refreshed(Box::new(refreshed)),
            None => Refresh::Failed("the authorization server sent no token".to_owned()),
        }
    }

    /// Returns the client that a credential was issued to, after a restart by discovering its authorization server again.
    async fn client_for(
        &mut self,
        source: &TokenSource,
        credential: &Credential,
    ) -> Result<&TokenClient, String> {
        let is_known = self.client.as_ref().is_some_and(|(id, _)| *id == credential.client_id);
        if !is_known {
            let client = TokenClient::discover(&source.url, "", &source.trusted).await;
            let mut client = client.map_err(|failure| failure.to_string())?;
            // A token is never sent to another authorization server than the one that has issued it.
            if client.metadata.issuer != credential.issuer {
                return Err("its authorization server has changed: log in again".to_owned());
            }
            let secret = source.oauth.client_secret(credential);
            let redirect = credential.registered_redirect.as_deref().unwrap_or(&source.url);
            client.configure(&credential.client_id, secret, redirect)?;
            self.client = Some((credential.client_id.clone(), client));
        }
        let client = self.client.as_ref().map(|(_, client)| client);
        client.ok_or_else(|| "there is no client".to_owned())
    }

    /// The scopes to request after a rejected token: all that were requested before, and the missing ones.
    ///
    /// The same scopes again are an error: the user would see the same page in an endless loop.
    fn scopes_to_request(
        &self,
        challenge: &Challenge,
        had_token: bool,
        known: Option<&Credential>,
    ) -> Result<Vec<String>, String> {
        let missing = challenge.scope().unwrap_or_default();
        let missing: BTreeSet<String> = missing.split_whitespace().map(str::to_owned).collect();
        let mut requested = self.requested_scopes.clone();
        requested.extend(known.into_iter().flat_map(|known| known.requested_scopes.clone()));
        if !challenge.is_insufficient_scope || requested.is_empty() {
            return Ok(Vec::new());
        }
        if had_token && missing.is_subset(&requested) {
            return Err("the server wants what it was granted already".to_owned());
        }
        Ok(requested.union(&missing).cloned().collect())
    }
}
