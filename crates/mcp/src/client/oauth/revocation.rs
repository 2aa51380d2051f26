//! Revokes the tokens of a credential at its authorization server (RFC 7009).

use std::time::Duration;

use serde_json::Value;
use url::Url;

use super::OAuthClient;
use super::issuer::TrustedIssuer;
use super::login::TokenClient;
use crate::credential::Credential;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// Revokes the refresh token, and the access token; returns false if the authorization server cannot be reached or does not
/// support it.
pub(super) async fn revoke(
    credential: &Credential,
    oauth: &OAuthClient,
    trusted: &TrustedIssuer,
) -> bool {
    let Some(endpoint) = revocation_endpoint(credential, trusted).await else {
        return false;
    };
    let redirects = reqwest::redirect::Policy::none();
    let http = reqwest::Client::builder().redirect(redirects).timeout(REQUEST_TIMEOUT).build();
    let Ok(http) = http else {
        return false;
    };
    let secret = oauth.client_secret(credential);
    let refresh = credential.refresh_token.as_deref().map(|token| (token, "refresh_token"));
    let tokens = refresh.into_iter().chain([(credential.access_token.as_str(), "access_token")]);
    let mut is_revoked = true;
    for (token, kind) in tokens {
        // The Python SDK of MCP rejects a request without `client_secret`, even of a client that has none.
        let secrets: &[Option<&str>] = if secret.is_some() { &[secret] } else { &[None, Some("")] };
        let mut is_accepted = false;
        for secret in secrets {
            let request = http
                .post(endpoint.clone())
                .header(reqwest::header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(revocation_form(token, kind, &credential.client_id, *secret));
            is_accepted |=
                request.send().await.is_ok_and(|response| response.status().is_success());
            if is_accepted {
                break;
            }
        }
        is_revoked &= is_accepted;
    }
    is_revoked
}

fn revocation_form(token: &str, kind: &str, client_id: &str, secret: Option<&str>) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("token", token).append_pair("token_type_hint", kind);
    form.append_pair("client_id", client_id);
    if let Some(secret) = secret {
        form.append_pair("client_secret", secret);
    }
    form.finish()
}

/// The endpoint that the metadata of the authorization server names; only one of the token endpoint's origin is used.
async fn revocation_endpoint(credential: &Credential, trusted: &TrustedIssuer) -> Option<Url> {
    let metadata = TokenClient::discover(&credential.url, "", trusted).await.ok()?.metadata;
    if metadata.issuer != credential.issuer {
        return None;
    }
    let endpoint = metadata.additional_fields.get("revocation_endpoint").and_then(Value::as_str)?;
    let (endpoint, token_endpoint) =
        (Url::parse(endpoint).ok()?, Url::parse(&metadata.token_endpoint).ok()?);
    (endpoint.origin() == token_endpoint.origin()).then_some(endpoint)
}
