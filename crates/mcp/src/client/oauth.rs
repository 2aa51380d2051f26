//! The OAuth client: the challenge of a server in, a token out, with a user in between.
//!
//! rmcp does discovery, registration, PKCE, the check of the issuer and refreshing; this module decides when to authorize, for
//! which scopes, and when to give up.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{AuthorizationRequest, ClientCredentialsConfig, OAuthState};
use tokio::sync::Mutex;
use toolwright_core::Secret;
use url::Url;

use crate::client::connection::http::Challenge;
use crate::import::{error_chain, excerpt};

pub(crate) mod browser_login;

/// Sends the user to a page to authorize the client: by a terminal, a browser, a console.
///
/// # Cancellation
///
/// The future is dropped when the connection or the call is cancelled.
pub trait UserAuthorizer: Send + Sync {
    /// Shows `page` to the user, and returns the whole address that the browser was redirected to.
    ///
    /// That is the redirect address of the [`OAuthClient`], with a query that contains the outcome.
    ///
    /// # Errors
    ///
    /// When there was no redirect: the reason, which becomes part of an [`AttachError`](crate::AttachError).
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// The OAuth 2.1 client for servers that require authorization.
#[derive(Clone)]
#[must_use = "nothing is authorized before it is given to `.oauth(…)`"]
pub struct OAuthClient {
    grant: GrantType,
    name: String,
    client_metadata_url: Option<String>,
    registered_client: Option<(String, Option<Secret>)>,
    scopes: Vec<String>,
}

#[derive(Clone)]
enum GrantType {
    AuthorizationCode { redirect: String, authorize: Arc<dyn UserAuthorizer> },
    ClientCredentials,
}

impl OAuthClient {
    /// Authorization by a user, who is redirected to `redirect`, such as `http://127.0.0.1:8123/callback`.
    pub fn new(redirect: impl Into<String>, authorize: Arc<dyn UserAuthorizer>) -> Self {
        Self::with_grant(GrantType::AuthorizationCode { redirect: redirect.into(), authorize })
    }

    /// Authorization without a user, by a client id and secret that the authorization server has issued.
    pub fn client_credentials(id: impl Into<String>, secret: Secret) -> Self {
        Self::with_grant(GrantType::ClientCredentials).registered_client(id, Some(secret))
    }

    fn with_grant(grant: GrantType) -> Self {
        Self {
            grant,
            name: "Toolwright".to_owned(),
            client_metadata_url: None,
            registered_client: None,
            scopes: Vec::new(),
        }
    }

    /// Sets the client name that the user sees; `Toolwright` by default.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the address of the client metadata document, for authorization servers that support these.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.client_metadata_url = Some(url.into());
        self
    }

    /// Uses a client id, and perhaps a secret, that was registered before.
    pub fn registered_client(mut self, id: impl Into<String>, secret: Option<Secret>) -> Self {
        self.registered_client = Some((id.into(), secret));
        self
    }

    /// Sets the scopes to request first; by default those that the server names.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }
}

impl std::fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuthClient")
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// The tokens for one server.
pub(crate) struct TokenSource {
    url: String,
    oauth: OAuthClient,
    /// Locked during an authorization, so that concurrent calls show one page and not one each.
    state: Mutex<TokenState>,
}

#[derive(Default)]
struct TokenState {
    manager: Option<AuthorizationManager>,
    requested_scopes: BTreeSet<String>,
}

impl TokenSource {
    pub(super) fn new(url: &Url, oauth: OAuthClient) -> Self {
        Self { url: url.to_string(), oauth, state: Mutex::default() }
    }

    /// Returns the token to send, if there is one, refreshed if it has expired.
    pub(super) async fn token(&self) -> Option<String> {
        self.state.lock().await.token().await
    }

    /// Obtains another token than the rejected one.
    pub(super) async fn respond_to_challenge(
        &self,
        challenge: &Challenge,
        rejected: Option<&str>,
    ) -> Result<(), String> {
        let mut state = self.state.lock().await;
        let token = state.token().await;
        if token.is_some() && token.as_deref() != rejected {
            return Ok(());
        }
        if !challenge.is_insufficient_scope && rejected.is_some() && state.refresh(rejected).await {
            return Ok(());
        }
        let scopes = state.scopes_to_request(challenge, rejected.is_some())?;
        match &self.oauth.grant {
            GrantType::AuthorizationCode { redirect, authorize } => {
                let request = self.authorization_request(redirect, scopes, challenge);
                state.authorize_user(&self.url, request, authorize.as_ref()).await
            }
            GrantType::ClientCredentials => state.authorize_client(&self.url, &self.oauth).await,
        }
    }

    fn authorization_request(
        &self,
        redirect: &str,
        scopes: Vec<String>,
        challenge: &Challenge,
    ) -> AuthorizationRequest {
        let oauth = &self.oauth;
        let mut request = AuthorizationRequest::new(redirect).with_client_name(&oauth.name);
        if !challenge.header.is_empty() {
            request = request.with_challenge(&challenge.header);
        }
        if let Some(metadata) = &oauth.client_metadata_url {
            request = request.with_client_metadata_url(metadata);
        }
        if let Some((id, secret)) = &oauth.registered_client {
            request = request.with_preregistered_client(id);
            if let Some(secret) = secret {
                request = request.with_client_secret(secret.expose());
            }
        }
        match (scopes.is_empty(), oauth.scopes.is_empty()) {
            (false, _) => request.with_scopes(scopes),
            (true, false) => request.with_scopes(&oauth.scopes),
            // The scopes of the challenge or, without any, all supported ones.
            (true, true) => request.with_initial_scope_selection(),
        }
    }
}

impl TokenState {
    async fn token(&self) -> Option<String> {
        self.manager.as_ref()?.get_access_token().await.ok()
    }

    async fn refresh(&self, rejected: Option<&str>) -> bool {
        let Some(manager) = &self.manager else {
            return false;
        };
        manager.refresh_token().await.is_ok() && self.token().await.as_deref() != rejected
    }

    /// The scopes to request after a rejected token: all that were requested before, and the missing ones.
    ///
    /// The same scopes again are an error: the user would see the same page in an endless loop.
    fn scopes_to_request(
        &self,
        challenge: &Challenge,
        had_token: bool,
    ) -> Result<Vec<String>, String> {
        let missing = challenge.scope().unwrap_or_default();
        let missing: BTreeSet<String> = missing.split_whitespace().map(str::to_owned).collect();
        if !challenge.is_insufficient_scope || self.requested_scopes.is_empty() {
            return Ok(Vec::new());
        }
        if had_token && missing.is_subset(&self.requested_scopes) {
            return Err("the server wants what it was granted already".to_owned());
        }
        Ok(self.requested_scopes.union(&missing).cloned().collect())
    }

    async fn authorize_user(
        &mut self,
        url: &str,
        request: AuthorizationRequest,
        authorize: &dyn UserAuthorizer,
    ) -> Result<(), String> {
        let describe = |error| error_chain(&error);
        let mut state = OAuthState::new(url, None).await.map_err(describe)?;
        state.start_authorization(request).await.map_err(describe)?;
        let page = state.get_authorization_url().await.map_err(describe)?;
        self.requested_scopes.extend(scopes_in_url(&page));
        let callback = authorize.authorize(&page).await.map_err(|reason| excerpt(&reason))?;
        state.handle_callback_url(&callback).await.map_err(describe)?;
        self.manager = state.into_authorization_manager();
        Ok(())
    }

    async fn authorize_client(&mut self, url: &str, oauth: &OAuthClient) -> Result<(), String> {
        let describe = |error| error_chain(&error);
        let (client_id, secret) = oauth.registered_client.clone().unwrap_or_default();
        let config = ClientCredentialsConfig::ClientSecret {
            client_id,
            client_secret: secret.map_or_else(String::new, |secret| secret.expose().to_owned()),
            scopes: oauth.scopes.clone(),
            resource: Some(url.to_owned()),
        };
        let mut state = OAuthState::new(url, None).await.map_err(describe)?;
        state.authenticate_client_credentials(config).await.map_err(describe)?;
        self.manager = state.into_authorization_manager();
        Ok(())
    }
}

/// The scopes in the query of an authorization page.
fn scopes_in_url(page: &str) -> Vec<String> {
    let page = Url::parse(page).ok();
    let pairs = page.iter().flat_map(Url::query_pairs);
    let scopes: Vec<_> = pairs.filter(|(name, _)| name == "scope").collect();
    let words = scopes.iter().flat_map(|(_, scopes)| scopes.split_whitespace());
    words.map(str::to_owned).collect()
}
