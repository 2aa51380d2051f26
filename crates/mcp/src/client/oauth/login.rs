//! A login in two steps: the page for the user out, the address that the browser was redirected to in.
//!
//! Between the two steps a login is plain data, so that another node, or the same one after a restart, can finish it.

use std::collections::BTreeSet;

use rmcp::transport::AuthorizationManager;
use rmcp::transport::auth::{
    AuthorizationCallback, AuthorizationMetadata, AuthorizationRequest, AuthorizationSession,
    CredentialStore as _, InMemoryCredentialStore, InMemoryStateStore, OAuthClientConfig,
    StateStore as _, StoredAuthorizationState,
};
use serde::{Deserialize, Serialize};
use url::Url;

use super::issuer::TrustedIssuer;
use super::{AuthorizationFailure, OAuthClient};
use crate::client::connection::http::Challenge;
use crate::credential::Credential;
use crate::import::{error_chain, excerpt};

/// A login that waits for the user; it contains secrets, which are not printed.
#[derive(Clone, Serialize, Deserialize)]
pub struct PendingLogin {
    /// The address of the server.
    url: String,
    /// The page that the user visits.
    page: String,
    challenge: String,
    client_id: String,
    client_secret: Option<String>,
    redirect: String,
    is_registered: bool,
    /// The `state` parameter of the page and of the redirect.
    state: String,
    verifier: StoredAuthorizationState,
    issuer: Option<String>,
    scopes: BTreeSet<String>,
}

impl PendingLogin {
    /// Returns the address of the page that the user visits.
    pub fn page(&self) -> &str {
        &self.page
    }

    /// Returns the `state` parameter, which identifies the login in the redirect.
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Returns the scopes that are requested.
    pub(crate) fn scopes(&self) -> &BTreeSet<String> {
        &self.scopes
    }
}

impl std::fmt::Debug for PendingLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PendingLogin").field("url", &self.url).finish_non_exhaustive()
    }
}

/// The part of rmcp that talks to one authorization server, and the credentials that it has received.
pub(crate) struct TokenClient {
    pub(crate) manager: AuthorizationManager,
    pub(crate) received: InMemoryCredentialStore,
    /// What the authorization server has published.
    pub(crate) metadata: AuthorizationMetadata,
    states: InMemoryStateStore,
}

impl TokenClient {
    /// Discovers the authorization server of the server at `url`.
    ///
    /// Every client is made here: without [`TrustedIssuer::check`], nothing is sent to an authorization server.
    pub(crate) async fn discover(
        url: &str,
        challenge: &str,
        trusted: &TrustedIssuer,
    ) -> Result<Self, AuthorizationFailure> {
        let manager = AuthorizationManager::new(url).await;
        let mut manager = manager.map_err(|error| error_chain(&error))?;
        let (received, states) = (InMemoryCredentialStore::new(), InMemoryStateStore::new());
        manager.set_credential_store(received.clone());
        manager.set_state_store(states.clone());
        let challenge = (!challenge.is_empty()).then_some(challenge);
        let resolution = manager.resolve_metadata_from_challenge(challenge).await;
        let metadata = resolution.map_err(|error| error_chain(&error))?.metadata;
        trusted.check(url, &metadata).await.map_err(AuthorizationFailure::Untrusted)?;
        manager.set_metadata(metadata.clone());
        Ok(Self { manager, received, metadata, states })
    }

    /// Uses the client that a credential was issued to.
    pub(crate) fn configure(
        &mut self,
        client_id: &str,
        client_secret: Option<&str>,
        redirect: &str,
    ) -> Result<(), String> {
        let mut config = OAuthClientConfig::new(client_id, redirect);
        if let Some(secret) = client_secret {
            config = config.with_client_secret(secret);
        }
        self.manager.configure_client(config).map_err(|error| error_chain(&error))
    }
}

/// Starts a login: discovers the authorization server and registers the client, unless it is known.
///
/// `known` is the credential of before: its client is used again if only scopes are missing.
pub(crate) async fn begin(
    url: &str,
    oauth: &OAuthClient,
    redirect: &str,
    scopes: Vec<String>,
    challenge: &Challenge,
    known: Option<&Credential>,
    trusted: &TrustedIssuer,
) -> Result<(PendingLogin, TokenClient), AuthorizationFailure> {
    let mut client = TokenClient::discover(url, &challenge.header, trusted).await?;
    let metadata = &client.metadata;
    let flag = |name: &str| metadata.additional_fields.get(name).and_then(|flag| flag.as_bool());
    let supports_metadata_url = flag("client_id_metadata_document_supported") == Some(true);
    let supported_scopes = metadata.scopes_supported.clone().unwrap_or_default();
    let issuer = metadata.issuer.clone();

    let scopes = match (scopes.is_empty(), oauth.scopes.is_empty()) {
        (false, _) => scopes,
        (true, false) => oauth.scopes.clone(),
        // The scopes of the challenge or, without any, all supported ones.
        (true, true) => client.manager.select_initial_scopes(&[]).await,
    };
    let reused = known.filter(|known| {
        let is_same = known.registered_redirect.as_deref() == Some(redirect);
        challenge.is_insufficient_scope && is_same && issuer.is_some() && known.issuer == issuer
    });
    let mut request = AuthorizationRequest::new(redirect).with_client_name(&oauth.name);
    request = match scopes.is_empty() {
        true => request.with_initial_scope_selection(),
        false => request.with_scopes(&scopes),
    };
    let (mut client_secret, mut is_registered) = (None, false);
    if let Some((id, secret)) = &oauth.registered_client {
        client_secret = secret.as_ref().map(|secret| secret.expose().to_owned());
        request = request.with_preregistered_client(id);
    } else if let Some(metadata_url) =
        oauth.client_metadata_url.as_ref().filter(|_| supports_metadata_url)
    {
        request = request.with_client_metadata_url(metadata_url);
    } else if let Some(known) = reused {
        (client_secret, is_registered) = (known.client_secret.clone(), true);
        request = request.with_preregistered_client(&known.client_id);
    } else {
        let mut registered = scopes.clone();
        let offline = "offline_access".to_owned();
        if supported_scopes.contains(&offline) && !registered.is_empty() {
            registered.push(offline);
            registered.dedup();
        }
        let registered: Vec<&str> = registered.iter().map(String::as_str).collect();
        let config = client.manager.register_client(&oauth.name, redirect, &registered).await;
        let config = config.map_err(|error| error_chain(&error))?;
        (client_secret, is_registered) = (config.client_secret, true);
        request = request.with_preregistered_client(config.client_id);
    }
    if let Some(secret) = &client_secret {
        request = request.with_client_secret(secret);
    }
    let TokenClient { manager, received, metadata, states } = client;
    let session = AuthorizationSession::new(manager, request).await;
    let session = session.map_err(|(_, error)| error_chain(&error))?;
    let page = session.auth_url.clone();
    let manager = session.auth_manager;
    let (client_id, _) = manager.get_credentials().await.map_err(|error| error_chain(&error))?;
    let state = query_parameter(&page, "state").unwrap_or_default();
    let verifier = states.load(&state).await.map_err(|error| error_chain(&error))?;
    let verifier = verifier.ok_or_else(|| "the login has no state".to_owned())?;
    let requested = query_parameter(&page, "scope").unwrap_or_default();
    let pending = PendingLogin {
        url: url.to_owned(),
        page,
        challenge: challenge.header.clone(),
        client_id,
        client_secret,
        redirect: redirect.to_owned(),
        is_registered,
        state,
        verifier,
        issuer,
        scopes: requested.split_whitespace().map(str::to_owned).collect(),
    };
    Ok((pending, TokenClient { manager, received, metadata, states }))
}

/// Prepares a login to be finished by another node than the one that started it.
pub(crate) async fn resume(
    pending: &PendingLogin,
    trusted: &TrustedIssuer,
) -> Result<TokenClient, AuthorizationFailure> {
    let mut client = TokenClient::discover(&pending.url, &pending.challenge, trusted).await?;
    if client.metadata.issuer != pending.issuer {
        let message = "its authorization server has changed meanwhile: log in again";
        return Err(message.to_owned().into());
    }
    client.configure(&pending.client_id, pending.client_secret.as_deref(), &pending.redirect)?;
    let saved = client.states.save(&pending.state, pending.verifier.clone()).await;
    saved.map_err(|error| error_chain(&error))?;
    Ok(client)
}

/// Finishes a login with the address that the browser was redirected to.
pub(crate) async fn finish(
    pending: &PendingLogin,
    client: &TokenClient,
    callback: &str,
    subject: Option<&str>,
) -> Result<Credential, String> {
    let callback = check_callback(callback)?;
    let callback = AuthorizationCallback::from_redirect_url(&callback);
    let callback = callback.map_err(|error| error_chain(&error))?;
    if callback.csrf_token != pending.state {
        return Err("the address belongs to another login: use that of the last page".to_owned());
    }
    let exchanged = client.manager.exchange_code_for_token_with_issuer(
        &callback.code,
        &callback.csrf_token,
        callback.issuer.as_deref(),
    );
    exchanged.await.map_err(|error| error_chain(&error))?;
    let received = client.received.load().await.map_err(|error| error_chain(&error))?;
    let credential = Credential {
        url: pending.url.clone(),
        subject: subject.map(str::to_owned),
        issuer: None,
        client_id: String::new(),
        client_secret: pending.client_secret.clone(),
        registered_redirect: pending.is_registered.then(|| pending.redirect.clone()),
        access_token: String::new(),
        refresh_token: None,
        received_at: 0,
        expires_in: None,
        scopes: Vec::new(),
        requested_scopes: pending.scopes.clone(),
        missing_scopes: BTreeSet::new(),
        is_rejected: false,
    };
    let credential = received.and_then(|received| credential.with_tokens(&received));
    credential.ok_or_else(|| "the authorization server sent no token".to_owned())
}

/// Returns the address, or the error in its query.
pub(crate) fn check_callback(address: &str) -> Result<String, String> {
    let address = address.trim();
    Url::parse(address).map_err(|error| format!("that is no address: {error}"))?;
    match query_parameter(address, "error") {
        None => Ok(address.to_owned()),
        Some(error) => {
            let description = query_parameter(address, "error_description");
            Err(excerpt(&description.unwrap_or(error)))
        }
    }
}

pub(super) fn query_parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let mut pairs = url.query_pairs();
    pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
}
