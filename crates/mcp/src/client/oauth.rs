//! A server's demand for authorization in, a token out, with a person in between.
//!
//! Discovery, registration, PKCE, the check of the issuer and refreshing are rmcp's; when to ask, for which scopes, and when
//! to stop asking is decided here.

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

/// Somebody who sends a person to a page where they authorize us: a terminal, a browser, a console.
///
/// # Cancellation
///
/// The future is dropped when nobody waits for the authorization any more.
pub trait UserAuthorizer: Send + Sync {
    /// Shows `page` to a person, and returns the whole address that they were sent back to.
    ///
    /// That address is the redirect address of the [`OAuth`], with a query that holds the outcome.
    ///
    /// # Errors
    ///
    /// When nobody was sent back: says why, in words for whoever attaches the server.
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// How we are authorized with OAuth 2.1 where a server asks for it.
#[derive(Clone)]
pub struct OAuthClient {
    grant: GrantType,
    name: String,
    client_metadata_url: Option<String>,
    registered_client: Option<(String, Option<Secret>)>,
    scopes: Vec<String>,
}

#[derive(Clone)]
enum GrantType {
    AuthorizationCode {
        redirect: String,
        authorize: Arc<dyn UserAuthorizer>,
    },
    ClientCredentials,
}

impl OAuthClient {
    /// Lets a person authorize us; they are sent back to `redirect`, such as `http://127.0.0.1:8123/callback`.
    pub fn new(redirect: impl Into<String>, authorize: Arc<dyn UserAuthorizer>) -> Self {
        Self::with_grant(GrantType::AuthorizationCode {
            redirect: redirect.into(),
            authorize,
        })
    }

    /// Authorizes us by ourselves, with an id and a secret that the server's owner has given us.
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

    /// Sets the name that the person is shown; unless it is set, that is ours.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Names the page that describes us, for authorization servers that read such pages.
    #[must_use]
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.client_metadata_url = Some(url.into());
        self
    }

    /// Uses an id, and perhaps a secret, that was registered before.
    #[must_use]
    pub fn registered_client(mut self, id: impl Into<String>, secret: Option<Secret>) -> Self {
        self.registered_client = Some((id.into(), secret));
        self
    }

    /// Asks for these scopes first; unless they are set, for those that the server names.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }
}

impl std::fmt::Debug for OAuthClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OAuth")
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

/// The authorization of one server.
pub(super) struct TokenSource {
    url: String,
    oauth: OAuthClient,
    /// Locked while somebody is asked, so that one page is shown and not one per call.
    state: Mutex<TokenState>,
}

#[derive(Default)]
struct TokenState {
    manager: Option<AuthorizationManager>,
    /// All scopes that were ever asked for.
    requested_scopes: BTreeSet<String>,
}

impl TokenSource {
    pub(super) fn new(url: &Url, oauth: OAuthClient) -> Self {
        Self {
            url: url.to_string(),
            oauth,
            state: Mutex::default(),
        }
    }

    /// Returns the token to send, if there is one; it is refreshed where it has expired.
    pub(super) async fn token(&self) -> Option<String> {
        self.state.lock().await.token().await
    }

    /// Gets another token than the one that was refused.
    pub(super) async fn respond_to_challenge(
        &self,
        challenge: &Challenge,
        refused: Option<&str>,
    ) -> Result<(), String> {
        let mut held = self.state.lock().await;
        let token = held.token().await;
        if token.is_some() && token.as_deref() != refused {
            return Ok(());
        }
        if !challenge.is_insufficient_scope && refused.is_some() && held.refresh(refused).await {
            return Ok(());
        }
        let wanted = held.scopes_to_request(challenge, refused.is_some())?;
        match &self.oauth.grant {
            GrantType::AuthorizationCode {
                redirect,
                authorize,
            } => {
                let asked = self.authorization_request(redirect, wanted, challenge);
                held.authorize_user(&self.url, asked, authorize.as_ref())
                    .await
            }
            GrantType::ClientCredentials => held.authorize_client(&self.url, &self.oauth).await,
        }
    }

    fn authorization_request(
        &self,
        redirect: &str,
        wanted: Vec<String>,
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
        match (wanted.is_empty(), oauth.scopes.is_empty()) {
            (false, _) => request.with_scopes(wanted),
            (true, false) => request.with_scopes(&oauth.scopes),
            // What the challenge names, before all that there is.
            (true, true) => request.with_initial_scope_selection(),
        }
    }
}

impl TokenState {
    async fn token(&self) -> Option<String> {
        self.manager.as_ref()?.get_access_token().await.ok()
    }

    async fn refresh(&self, refused: Option<&str>) -> bool {
        let Some(manager) = &self.manager else {
            return false;
        };
        manager.refresh_token().await.is_ok() && self.token().await.as_deref() != refused
    }

    /// What to ask for where a token was refused: all that was asked for before, and what is missing.
    ///
    /// Asking again for the same would show the person the same page for ever.
    fn scopes_to_request(
        &self,
        challenge: &Challenge,
        was_known: bool,
    ) -> Result<Vec<String>, String> {
        let missing = challenge.scope().unwrap_or_default();
        let missing: BTreeSet<String> = missing.split_whitespace().map(str::to_owned).collect();
        if !challenge.is_insufficient_scope || self.requested_scopes.is_empty() {
            return Ok(Vec::new());
        }
        if was_known && missing.is_subset(&self.requested_scopes) {
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
        let failed = |error| error_chain(&error);
        let mut state = OAuthState::new(url, None).await.map_err(failed)?;
        state.start_authorization(request).await.map_err(failed)?;
        let page = state.get_authorization_url().await.map_err(failed)?;
        self.requested_scopes.extend(scopes_in_url(&page));
        let back = authorize
            .authorize(&page)
            .await
            .map_err(|why| excerpt(&why))?;
        state.handle_callback_url(&back).await.map_err(failed)?;
        self.manager = state.into_authorization_manager();
        Ok(())
    }

    async fn authorize_client(&mut self, url: &str, oauth: &OAuthClient) -> Result<(), String> {
        let failed = |error| error_chain(&error);
        let (id, secret) = oauth.registered_client.clone().unzip();
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: id.unwrap_or_default(),
            client_secret: secret
                .flatten()
                .map(|secret| secret.expose().to_owned())
                .unwrap_or_default(),
            scopes: oauth.scopes.clone(),
            resource: Some(url.to_owned()),
        };
        let mut state = OAuthState::new(url, None).await.map_err(failed)?;
        let introduced = state.authenticate_client_credentials(config).await;
        introduced.map_err(failed)?;
        self.manager = state.into_authorization_manager();
        Ok(())
    }
}

/// The scopes that the address of a page asks for.
fn scopes_in_url(page: &str) -> Vec<String> {
    let Ok(page) = Url::parse(page) else {
        return Vec::new();
    };
    let asked = page.query_pairs().filter(|(name, _)| name == "scope");
    asked
        .flat_map(|(_, scopes)| {
            scopes
                .split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}
