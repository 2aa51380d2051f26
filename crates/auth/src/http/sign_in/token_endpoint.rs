//! Requests to the token endpoint of a provider, and to those that take or give tokens beside it.

use std::time::Duration;

use data_encoding::BASE64;
use reqwest::RequestBuilder;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolwright_core::Secret;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::SignInError;
use super::metadata::ProviderMetadata;
use crate::http::http_client::{HttpClient, send};

/// The lifetime of tokens whose provider does not name one.
const DEFAULT_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// How this server authenticates to a provider.
pub(super) struct ClientCredentials {
    pub(super) id: String,
    /// `None` for a public client, which PKCE alone protects.
    pub(super) secret: Option<Secret>,
}

/// A response of the token endpoint.
pub(super) struct TokenResponse {
    pub(super) access_token: Secret,
    pub(super) id_token: Option<Secret>,
    pub(super) refresh_token: Option<Secret>,
    pub(super) expires_in: Option<Duration>,
}

#[derive(Deserialize)]
struct TokenDocument {
    access_token: String,
    token_type: String,
    id_token: Option<String>,
    refresh_token: Option<String>,
    /// A number; of some providers, a text.
    expires_in: Option<Value>,
}

#[derive(Deserialize)]
struct ErrorDocument {
    error: String,
}

impl ClientCredentials {
    /// Exchanges an authorization code for tokens.
    pub(super) async fn exchange_code(
        &self,
        http: &HttpClient,
        metadata: &ProviderMetadata,
        (code, code_verifier, redirect_uri): (&str, &str, &str),
    ) -> Result<TokenResponse, SignInError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", code_verifier),
        ];
        self.request_tokens(http, metadata, &fields).await
    }

    /// Exchanges a refresh token for new tokens.
    pub(super) async fn refresh(
        &self,
        http: &HttpClient,
        metadata: &ProviderMetadata,
        refresh_token: &Secret,
    ) -> Result<TokenResponse, SignInError> {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose())];
        self.request_tokens(http, metadata, &fields).await
    }

    /// Revokes a refresh token (RFC 7009), if the provider has an endpoint for that.
    pub(super) async fn revoke(
        &self,
        http: &HttpClient,
        metadata: &ProviderMetadata,
        refresh_token: &Secret,
    ) -> Result<(), String> {
        let Some(url) = &metadata.revocation_endpoint else { return Ok(()) };
        let fields = [("token", refresh_token.expose()), ("token_type_hint", "refresh_token")];
        let request = self.form_request(http, metadata, url, &fields);
        match send(url, request).await? {
            (status, _) if status.is_success() => Ok(()),
            (status, _) => Err(format!("{url} answers {status}")),
        }
    }

    async fn request_tokens(
        &self,
        http: &HttpClient,
        metadata: &ProviderMetadata,
        fields: &[(&str, &str)],
    ) -> Result<TokenResponse, SignInError> {
        let url = &metadata.token_endpoint;
        let request = self.form_request(http, metadata, url, fields);
        let (status, body) = send(url, request).await.map_err(SignInError::unavailable)?;
        if !status.is_success() {
            let error = serde_json::from_slice::<ErrorDocument>(&body);
            return match error.map(|document| printable(&document.error)).as_deref() {
                Ok("invalid_grant") => Err(SignInError::Ended),
                Ok(code) => Err(SignInError::unavailable(format!("{url} answers {code}"))),
                Err(_) => Err(SignInError::unavailable(format!("{url} answers {status}"))),
            };
        }
        let document: TokenDocument = serde_json::from_slice(&body)
            // The error of serde may quote a token.
            .map_err(|_| SignInError::unavailable(format!("{url} answers without tokens")))?;
        if !document.token_type.eq_ignore_ascii_case("bearer") {
            return Err(SignInError::unavailable(format!("{url} issues no bearer tokens")));
        }
        let seconds = document.expires_in.and_then(|value| match value {
            Value::Number(seconds) => seconds.as_u64(),
            Value::String(seconds) => seconds.parse().ok(),
            _ => None,
        });
        Ok(TokenResponse {
            access_token: Secret::new(document.access_token),
            id_token: document.id_token.map(Secret::new),
            refresh_token: document.refresh_token.map(Secret::new),
            expires_in: seconds.map(Duration::from_secs),
        })
    }

    /// A form with the credentials of this client.
    fn form_request(
        &self,
        http: &HttpClient,
        metadata: &ProviderMetadata,
        url: &Url,
        fields: &[(&str, &str)],
    ) -> RequestBuilder {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(fields);
        let mut request = http
            .post_request(url)
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json");
        let methods = metadata.token_auth_methods.as_deref();
        let supports = |name: &str| methods.is_some_and(|all| all.iter().any(|it| it == name));
        match &self.secret {
            None => {
                form.append_pair("client_id", &self.id);
            }
            Some(secret) if supports("client_secret_post") && !supports("client_secret_basic") => {
                form.append_pair("client_id", &self.id);
                form.append_pair("client_secret", secret.expose());
            }
            Some(secret) => {
                // RFC 6749, 2.3.1: both are encoded as in a form first.
                let encode = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encode(&self.id), encode(secret.expose()));
                let header = format!("Basic {}", BASE64.encode(pair.as_bytes()));
                if let Ok(mut header) = HeaderValue::try_from(header) {
                    header.set_sensitive(true);
                    request = request.header(AUTHORIZATION, header);
                }
            }
        }
        request.body(form.finish())
    }
}

impl TokenResponse {
    /// How long the tokens are valid, if the ID token expires in `id_token_left`.
    pub(super) fn lifetime(&self, id_token_left: Option<Duration>) -> Duration {
        self.expires_in.or(id_token_left).unwrap_or(DEFAULT_LIFETIME)
    }

    /// Fetches the claims of the userinfo endpoint; those of another subject are an error.
    pub(super) async fn userinfo(
        &self,
        http: &HttpClient,
        url: &Url,
        subject: &str,
    ) -> Result<Map<String, Value>, SignInError> {
        let header = HeaderValue::try_from(format!("Bearer {}", self.access_token.expose()));
        let mut header = header.map_err(|_| SignInError::invalid("the access token is no text"))?;
        header.set_sensitive(true);
        let request = http.get_request(url).header(AUTHORIZATION, header);
        let request = request.header("accept", "application/json");
        let (status, body) = send(url, request).await.map_err(SignInError::unavailable)?;
        if !status.is_success() {
            return Err(SignInError::unavailable(format!("{url} answers {status}")));
        }
        let claims: Map<String, Value> = serde_json::from_slice(&body)
            .map_err(|_| SignInError::unavailable(format!("{url} answers without JSON claims")))?;
        if claims.get("sub").and_then(Value::as_str) != Some(subject) {
            return Err(SignInError::invalid("the provider describes another person"));
        }
        Ok(claims)
    }
}

/// Returns the visible ASCII characters of a code, at most 64.
pub(super) fn printable(code: &str) -> String {
    code.chars().filter(char::is_ascii_graphic).take(64).collect()
}
