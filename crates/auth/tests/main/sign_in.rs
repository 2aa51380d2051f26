//! What a provider answers in, who has signed in out: hostile answers included.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::openid_provider::{
    Behaviour, CLIENT_ID, CLIENT_SECRET, OpenIdServer, Signing, parse_form, person,
};
use toolwright_auth::{
    AuthorizationResponse, OpenIdProvider, PendingSignIn, SignInError, SignInOutcome,
};
use toolwright_core::Secret;

const REDIRECT_URI: &str = "https://tools.example/api/login/corp/callback";

fn provider(server: &OpenIdServer) -> OpenIdProvider {
    OpenIdProvider::new("corp", &server.issuer, CLIENT_ID)
        .unwrap()
        .client_secret(Secret::new(CLIENT_SECRET))
        .roles("boss", ["admin"])
        .grants("staff", ["look"])
}

/// The parameters of the response to an approved request.
async fn approved(
    server: &OpenIdServer,
    provider: &OpenIdProvider,
) -> (PendingSignIn, AuthorizationResponse) {
    let (url, pending) = provider.authorization_request(REDIRECT_URI).await.unwrap();
    let callback = server.approve(&url);
    let (address, query) = callback.split_once('?').unwrap();
    assert_eq!(address, REDIRECT_URI);
    let mut query = parse_form(query);
    assert_eq!(query["state"], pending.state);
    let response =
        AuthorizationResponse { code: query.remove("code"), iss: query.remove("iss"), error: None };
    (pending, response)
}

async fn sign_in(
    server: &OpenIdServer,
    provider: &OpenIdProvider,
) -> Result<SignInOutcome, SignInError> {
    let (pending, response) = approved(server, provider).await;
    provider.complete(&pending, &response).await
}

/// Signs in at a provider that misbehaves, and returns the error.
async fn rejection(change: impl FnOnce(&mut Behaviour)) -> String {
    let server = OpenIdServer::start().await;
    change(&mut server.behaviour());
    match sign_in(&server, &provider(&server)).await {
        Err(SignInError::Invalid { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_person_signs_in_with_roles_and_scopes_of_their_groups() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    for in_id_token in [true, false] {
        server.behaviour().claims_in_id_token = in_id_token;
        server.behaviour().person = person("7", "Ada Lovelace", &["staff", "boss"]);
        let SignInOutcome { identity, tokens } = sign_in(&server, &provider).await.unwrap();
        assert_eq!(identity.subject, "corp:7");
        assert_eq!(identity.display_name.as_deref(), Some("Ada Lovelace"));
        assert!(identity.roles.contains("admin") && identity.scopes.contains("look"));
        assert_eq!(tokens.expires_in, Duration::from_secs(3600));
        let shown = format!("{identity:?} {tokens:?} {provider:?}");
        for secret in &server.behaviour().secrets {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}

#[tokio::test]
async fn requests_have_a_state_a_nonce_and_a_challenge_of_their_own() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server).scopes(["offline_access", "openid"]);
    let (one, _) = provider.authorization_request(REDIRECT_URI).await.unwrap();
    let (two, pending) = provider.authorization_request(REDIRECT_URI).await.unwrap();
    let [one, two] = [one, two].map(|url| parse_form(url.split_once('?').unwrap().1));
    for name in ["state", "nonce", "code_challenge"] {
        assert_ne!(one[name], two[name], "{name}");
        assert!(two[name].len() >= 43, "{name}");
    }
    assert_eq!((&*two["scope"], &*two["prompt"]), ("openid offline_access", "consent"));
    assert!(!two.values().any(|value| *value == pending.code_verifier));
    assert_eq!(format!("{pending:?}"), "PendingSignIn { .. }");
}

#[tokio::test]
async fn a_code_is_redeemed_once_and_only_with_its_verifier() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    let (pending, response) = approved(&server, &provider).await;
    provider.complete(&pending, &response).await.unwrap();
    let replayed = provider.complete(&pending, &response).await.unwrap_err();
    assert!(matches!(replayed, SignInError::Invalid { .. }), "{replayed:?}");
    let (_, response) = approved(&server, &provider).await;
    let (other, _) = approved(&server, &provider).await;
    let injected = provider.complete(&other, &response).await.unwrap_err();
    assert!(matches!(injected, SignInError::Invalid { .. }), "{injected:?}");
}

#[tokio::test]
async fn a_response_of_another_provider_is_rejected_before_its_code_is_sent() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    for iss in [Some("https://evil.example".to_owned()), None] {
        let (pending, mut response) = approved(&server, &provider).await;
        response.iss = iss;
        let error = provider.complete(&pending, &response).await.unwrap_err();
        assert!(error.to_string().contains("provider"), "{error}");
    }
    assert!(server.behaviour().requests.is_empty());
}

#[tokio::test]
async fn a_declined_sign_in_has_the_code_of_the_provider_and_nothing_else() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    let (pending, response) = approved(&server, &provider).await;
    let response = AuthorizationResponse {
        error: Some("access_denied <script>\r\nx: y".to_owned()),
        code: None,
        ..response
    };
    let error = provider.complete(&pending, &response).await.unwrap_err();
    assert_eq!(error.to_string(), "the sign-in was declined (access_denied<script>x:y)");
}

#[tokio::test]
async fn an_id_token_that_no_published_key_has_signed_is_rejected() {
    for signing in [Signing::None, Signing::HmacOfPublicKey, Signing::WrongKey] {
        let reason = rejection(|server| server.signing = signing).await;
        assert!(reason.contains("signed") || reason.contains("signature"), "{signing:?} {reason}");
    }
}

#[tokio::test]
async fn an_id_token_for_something_else_is_rejected() {
    for (changes, named) in [
        (json!({ "nonce": "of another sign-in" }), "sign-in"),
        (json!({ "nonce": null }), "sign-in"),
        (json!({ "aud": "another-client" }), "client"),
        (json!({ "aud": [CLIENT_ID, "another-client"] }), "client"),
        (json!({ "iss": "https://evil.example" }), "issuer"),
        (json!({ "exp": 1 }), "expired"),
    ] {
        let reason = rejection(|server| server.id_token_changes = changes).await;
        assert!(reason.contains(named), "{reason}");
    }
    let reason = rejection(|server| server.token_type = "at+jwt").await;
    assert!(reason.contains("ID token"), "{reason}");
    let other_person = json!({ "sub": "2" });
    let reason = rejection(|server| {
        (server.claims_in_id_token, server.id_token_changes) = (false, other_person);
    });
    assert!(reason.await.contains("another person"));
}

#[tokio::test]
async fn keys_that_are_rotated_between_two_sign_ins_are_fetched_again() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    sign_in(&server, &provider).await.unwrap();
    server.rotate_keys();
    sign_in(&server, &provider).await.unwrap();
}

#[tokio::test]
async fn metadata_about_another_issuer_are_not_used() {
    let server = OpenIdServer::start().await;
    server.behaviour().published_issuer = "https://evil.example".to_owned();
    let refused = provider(&server).authorization_request(REDIRECT_URI).await;
    assert!(matches!(refused, Err(SignInError::Unavailable { .. })), "{refused:?}");
}

#[tokio::test]
async fn renewed_tokens_have_the_groups_of_now_and_replace_the_earlier_ones() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    let signed_in = sign_in(&server, &provider).await.unwrap();
    let mut token = signed_in.tokens.refresh_token.unwrap();
    let first = token.clone();
    for with_id_token in [true, false] {
        {
            let mut behaviour = server.behaviour();
            behaviour.sends_id_token_on_refresh = with_id_token;
            behaviour.person = person("1", "Ada", &["boss"]);
            behaviour.expires_in = Some(30);
        }
        let renewed = provider.renew(&token, "corp:1").await.unwrap();
        let identity = renewed.identity.unwrap();
        assert!(identity.roles.contains("admin") && identity.scopes.is_empty());
        assert_eq!(renewed.tokens.expires_in, Duration::from_secs(30));
        token = renewed.tokens.refresh_token.unwrap();
    }
    // A copy that is used later ends the session at the provider.
    let reused = provider.renew(&first, "corp:1").await.unwrap_err();
    assert!(matches!(reused, SignInError::Ended), "{reused:?}");
    let ended = provider.renew(&token, "corp:1").await.unwrap_err();
    assert!(matches!(ended, SignInError::Ended), "{ended:?}");
}

#[tokio::test]
async fn renewed_tokens_of_another_person_are_rejected() {
    for with_id_token in [true, false] {
        let server = OpenIdServer::start().await;
        let provider = provider(&server);
        let token = sign_in(&server, &provider).await.unwrap().tokens.refresh_token.unwrap();
        server.behaviour().person = person("2", "Eve", &["boss"]);
        server.behaviour().sends_id_token_on_refresh = with_id_token;
        let error = provider.renew(&token, "corp:1").await.unwrap_err();
        assert!(error.to_string().contains("another person"), "{error}");
    }
}

#[tokio::test]
async fn a_provider_that_is_down_ends_no_session() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    let token = sign_in(&server, &provider).await.unwrap().tokens.refresh_token.unwrap();
    for status in [500, 503, 429, 400] {
        server.behaviour().outage = Some(status);
        let error = provider.renew(&token, "corp:1").await.unwrap_err();
        assert!(matches!(error, SignInError::Unavailable { .. }), "{error:?}");
    }
    server.behaviour().outage = None;
    assert!(provider.renew(&token, "corp:1").await.is_ok());
}

#[tokio::test]
async fn a_person_signs_out_at_the_provider_too() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    let tokens = sign_in(&server, &provider).await.unwrap().tokens;
    let url = provider.sign_out_url(tokens.id_token.as_ref(), "https://tools.example/").await;
    let url = url.unwrap();
    assert!(url.starts_with(&format!("{}/end?", server.issuer)), "{url}");
    let query = parse_form(url.split_once('?').unwrap().1);
    assert_eq!(query["from"], "metadata");
    assert_eq!(query["client_id"], CLIENT_ID);
    assert_eq!(query["id_token_hint"], tokens.id_token.unwrap().expose());
    assert_eq!(query["post_logout_redirect_uri"], "https://tools.example/");
    let token = tokens.refresh_token.unwrap();
    provider.revoke(&token).await;
    assert_eq!(server.behaviour().revoked, [token.expose().to_owned()]);
    let ended = provider.renew(&token, "corp:1").await.unwrap_err();
    assert!(matches!(ended, SignInError::Ended), "{ended:?}");
}

#[tokio::test]
async fn a_client_that_the_provider_does_not_know_is_an_error_for_the_operator() {
    let server = OpenIdServer::start().await;
    let wrong = provider(&server).client_secret(Secret::new("another secret"));
    let error = sign_in(&server, &wrong).await.unwrap_err();
    let SignInError::Unavailable { reason } = &error else { panic!("{error:?}") };
    assert!(reason.contains("invalid_client"), "{reason}");
    assert!(!error.to_string().contains("invalid_client"), "{error}");
}

/// The claims of a person are data of the provider, whatever they contain.
#[tokio::test]
async fn claims_of_odd_shapes_give_no_rights() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    for groups in [json!("boss,staff"), json!([["boss"]]), json!({ "boss": 1 }), Value::Null] {
        server.behaviour().person = json!({ "sub": "1", "name": ["Ada"], "groups": groups });
        let identity = sign_in(&server, &provider).await.unwrap().identity;
        assert!(identity.roles.is_empty() && identity.scopes.is_empty(), "{identity:?}");
        assert_eq!(identity.display_name, None);
    }
}

#[tokio::test]
async fn a_check_that_has_failed_keeps_nobody_from_signing_in_a_moment_later() {
    let server = OpenIdServer::start().await;
    let provider = provider(&server);
    let issuer = server.issuer.clone();
    server.behaviour().published_issuer = "https://elsewhere.example".to_owned();
    let failure = provider.check().await.unwrap_err();
    assert!(matches!(failure, SignInError::Unavailable { reason } if reason.contains("elsewhere")));
    assert!(provider.is_unavailable());
    server.behaviour().published_issuer = issuer;
    sign_in(&server, &provider).await.unwrap();
    assert!(!provider.is_unavailable());
}
