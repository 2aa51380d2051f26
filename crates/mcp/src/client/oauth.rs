//! The OAuth client: the challenge of a server in, a token out, with a user in between.
//!
//! rmcp does discovery, registration, PKCE, the check of the issuer and refreshing; this module decides when to authorize, for
//! which scopes, when to give up, and where credentials are stored.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright_core::Secret;

use crate::credential::Credential;

pub(crate) mod browser_login;
mod issuer;
pub(crate) mod login;
mod revocation;
pub(crate) mod token_source;

pub use browser_login::RedirectListener;
pub use issuer::ISSUER_PIN;
pub use login::PendingLogin;
pub(crate) use token_source::{AuthorizationFailure, TokenSource};

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
    issuer: Option<String>,
    login_hint: String,
}

#[derive(Clone)]
pub(crate) enum GrantType {
    AuthorizationCode {
        redirect: String,
        authorize: Arc<dyn UserAuthorizer>,
    },
    ClientCredentials,
    /// A login that was made before, by another program or request.
    StoredLogin,
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

    /// Authorization by a login that was made before and is in the [credential store](crate::CredentialStore): without one, the
    /// server cannot be attached or called, with an error that asks for a login.
    pub fn stored_login() -> Self {
        Self::with_grant(GrantType::StoredLogin)
    }

    fn with_grant(grant: GrantType) -> Self {
        Self {
            grant,
            name: "Toolwright".to_owned(),
            client_metadata_url: None,
            registered_client: None,
            scopes: Vec::new(),
            issuer: None,
            login_hint: "log in to it".to_owned(),
        }
    }

    /// The secret of the client that a credential was issued to: that of the settings counts, which may have changed.
    pub(crate) fn client_secret<'a>(&'a self, credential: &'a Credential) -> Option<&'a str> {
        match &self.registered_client {
            Some((id, secret)) if *id == credential.client_id => {
                secret.as_ref().map(Secret::expose)
            }
            _ => credential.client_secret.as_deref(),
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

    /// Sets the only issuer that is trusted, such as `https://login.example.com`: secrets, codes and tokens are sent to no other
    /// authorization server. By default it is the one that the server names at the first use, which is then
    /// [pinned](crate::RemoteServer::pins).
    ///
    /// With a secret, name the issuer that has issued it: then the first use is checked, too.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Sets what a user has to do if a login is needed, such as ``run `shop mcp login wiki` ``; errors contain it.
    pub fn login_hint(mut self, hint: impl Into<String>) -> Self {
        self.login_hint = hint.into();
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
