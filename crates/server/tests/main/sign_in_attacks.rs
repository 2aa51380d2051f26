//! Attacks on sign-in and on its sessions: each is a test.

use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;
use test_support::openid_provider::{OpenIdServer, Signing, encode, person};
use toolwright::Secret;
use toolwright::testing::FnModel;
use toolwright_auth::{ScopeRule, SignIn};
use toolwright_mcp::{Claims, ResourceServer, TokenVerifier, VerifyError};
use toolwright_server::ServerBuilder;

use crate::sign_in::{Browser, PATH, builder, provider, start};
use crate::support::{TestServer, no_tools, serve};

/// Two providers, and a server that people sign in to with both.
async fn start_two() -> (OpenIdServer, OpenIdServer, TestServer) {
    let (corp, club) = (OpenIdServer::start().await, OpenIdServer::start().await);
    let sign_in = SignIn::new().provider(provider("corp", &corp)).provider(provider("club", &club));
    let server = serve(builder(sign_in)).await;
    (corp, club, server)
}

#[tokio::test]
async fn guessed_cookies_and_states_open_nothing_and_end_nothing() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    let cookie = ada.session().unwrap().clone();
    let (known, secret) = cookie.rsplit_once('.').unwrap();
    for n in 0..50 {
        let guess = format!("{known}.{n:0>width$x}", width = secret.len());
        let request = server.request("GET", "/api/info");
        let request = request.header("cookie", format!("toolwright_pass={guess}"));
        assert_eq!(server.send(request, "").await.status, 401);
        let state = format!("{n:0>64x}");
        let callback = format!("/api/login/corp/callback?state={state}&code=guess");
        assert_eq!(ada.get(&callback).await.status, 400);
    }
    assert_eq!(ada.status().await, 200, "the owner is not locked out");
    assert_eq!(corp.behaviour().requests["authorization_code"], 1, "the provider is not asked");
}

#[tokio::test]
async fn a_planted_session_cookie_does_not_become_the_session_of_the_victim() {
    let (corp, server) = start().await;
    let mut attacker = Browser::new(&server);
    corp.behaviour().person = person("9", "Eve", &[]);
    attacker.sign_in("corp", &corp).await;
    let planted = attacker.session().unwrap().clone();
    let mut victim = Browser::new(&server);
    victim.cookies.insert("toolwright_pass".to_owned(), planted.clone());
    corp.behaviour().person = person("1", "Ada", &["boss"]);
    victim.sign_in("corp", &corp).await;
    assert_ne!(victim.session(), Some(&planted));
    assert_eq!(victim.get("/api/me").await.json()["subject"], "corp:1");
    assert_eq!(attacker.get("/api/me").await.json()["subject"], "corp:9");
}

#[tokio::test]
async fn a_response_is_accepted_by_the_browser_that_began_and_by_no_other() {
    let (corp, server) = start().await;
    let mut attacker = Browser::new(&server);
    // The attacker stops before the callback, and has the victim open it: login CSRF.
    let callback = attacker.approved("corp", &corp).await;
    let mut victim = Browser::new(&server);
    let refused = victim.get(&callback).await;
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(victim.session(), None);
    victim.begin("corp").await;
    let refused = victim.get(&callback).await;
    assert_eq!((refused.status, victim.session()), (400, None), "not with a sign-in of its own");
    assert_eq!(attacker.get(&callback).await.status, 303, "nothing was spoilt");
}

#[tokio::test]
async fn nobody_is_sent_to_another_site_afterwards() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    for target in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "/a\r\nset-cookie: x=y",
        "evil",
    ] {
        let path = format!("/api/login/corp?return={}", encode(target));
        assert_eq!(ada.get(&path).await.status, 400, "{target}");
    }
    let begun = ada.get(&format!("/api/login/corp?return={}", encode("/#/c/1"))).await;
    let callback = corp.approve(begun.header("location"));
    let callback = callback.strip_prefix(&format!("http://{}", server.addr)).unwrap().to_owned();
    let done = ada.get(&callback).await;
    assert_eq!((done.status, done.header("location")), (303, "/#/c/1"));
    // A host that the request names is not a part of any address either.
    let mut request = server.request("GET", "/api/login/corp");
    request.headers_mut().unwrap().insert("host", "evil.example".parse().unwrap());
    assert_eq!(server.send(request, "").await.status, 403);
}

#[tokio::test]
async fn a_prefix_that_is_another_host_sends_nobody_there() {
    let corp = OpenIdServer::start().await;
    for trusted in [vec![], vec!["127.0.0.1"]] {
        let expected = if trusted.is_empty() { 303 } else { 400 };
        let server = builder(SignIn::new().provider(provider("corp", &corp)))
            .configure_auth(|auth| auth.trusted_proxies(trusted));
        let server = serve(server).await;
        let mut ada = Browser::new(&server);
        let callback = ada.approved("corp", &corp).await;
        for path in [&*callback, "/api/login/corp", "/api/login/corp/callback?state=x"] {
            let request = server.request("GET", path).header("cookie", ada.cookie_header());
            let request = request.header("accept", "text/html");
            let request = request.header("x-forwarded-prefix", "//evil.example");
            let answer = server.send(request, "").await;
            assert_eq!(answer.status, expected, "{path}: {answer:?}");
            let location = answer.header("location");
            assert!(!location.contains("evil"), "{path}: {location}");
        }
    }
}

#[tokio::test]
async fn a_client_that_begins_many_sign_ins_keeps_nobody_out() {
    let (corp, server) = start().await;
    for _ in 0..1_100 {
        assert_eq!(server.get("/api/login/corp").await.status, 303);
    }
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    assert_eq!(ada.status().await, 200);
}

#[tokio::test]
async fn responses_of_two_providers_are_not_mixed_up() {
    let (corp, club, server) = start_two().await;
    // The person begins at one; an attacker who controls it sends them to the other, whose code comes back to the first.
    let mut ada = Browser::new(&server);
    let callback = ada.approved("corp", &corp).await;
    let elsewhere = callback.replace("/login/corp/", "/login/club/");
    assert_eq!(ada.get(&elsewhere).await.status, 400);
    let (own, other) = (encode(&corp.issuer), encode(&club.issuer));
    let callback = ada.approved("corp", &corp).await;
    let mixed = ada.get(&callback.replace(&own, &other)).await;
    assert_eq!(mixed.status, 401, "{mixed:?}");
    let callback = ada.approved("corp", &corp).await;
    let unnamed = ada.get(&callback.replace(&format!("&iss={own}"), "")).await;
    assert_eq!(unnamed.status, 401, "{unnamed:?}");
    assert_eq!(ada.session(), None);
    // No code has reached either of them.
    assert!(corp.behaviour().requests.is_empty() && club.behaviour().requests.is_empty());
}

#[tokio::test]
async fn the_same_subject_at_two_providers_is_two_people() {
    let (corp, club, server) = start_two().await;
    let (mut ada, mut eve) = (Browser::new(&server), Browser::new(&server));
    ada.sign_in("corp", &corp).await;
    eve.sign_in("club", &club).await;
    ada.send("POST", &format!("{PATH}/prompt"), r#"{"text":"Hi"}"#).await;
    assert_eq!(eve.get("/api/me").await.json()["subject"], "club:1");
    assert_eq!(eve.get("/api/conversations").await.json(), json!([]));
}

#[tokio::test]
async fn a_replayed_state_is_refused() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    let callback = ada.approved("corp", &corp).await;
    let cookies = ada.cookies.clone();
    assert_eq!(ada.get(&callback).await.status, 303);
    let mut again = Browser { server: &server, cookies };
    assert_eq!((again.get(&callback).await.status, again.session()), (400, None));
    let doubled = format!("{callback}&state=other");
    assert_eq!(again.get(&doubled).await.status, 400);
    assert_eq!(corp.behaviour().requests["authorization_code"], 1);
}

#[tokio::test]
async fn tokens_with_another_nonce_signature_or_algorithm_begin_no_session() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    for signing in [Signing::None, Signing::HmacOfPublicKey, Signing::WrongKey] {
        corp.behaviour().signing = signing;
        let refused = ada.sign_in("corp", &corp).await;
        assert_eq!((refused.status, ada.session()), (401, None), "{signing:?}");
    }
    corp.behaviour().signing = Signing::Published;
    for changes in [
        json!({ "nonce": "of an earlier sign-in" }),
        json!({ "nonce": null }),
        json!({ "aud": "another client" }),
        json!({ "iss": "https://evil.example" }),
        json!({ "exp": 1 }),
    ] {
        corp.behaviour().id_token_changes = changes.clone();
        let refused = ada.sign_in("corp", &corp).await;
        assert_eq!((refused.status, ada.session()), (401, None), "{changes}");
    }
    corp.behaviour().id_token_changes = json!({});
    corp.rotate_keys();
    assert_eq!(ada.sign_in("corp", &corp).await.status, 303, "keys may be rotated");
    assert_eq!(ada.status().await, 200);
}

/// A server that replaces cookies with every response, and accepts the value before no longer than it has to.
async fn start_rotating() -> (OpenIdServer, TestServer) {
    let corp = OpenIdServer::start().await;
    let server = builder(SignIn::new().provider(provider("corp", &corp))).limits(|limits| {
        limits.session_rotation_interval = Duration::ZERO;
        limits.session_rotation_grace = Duration::ZERO;
    });
    (corp, serve(server).await)
}

#[tokio::test]
async fn a_copy_of_a_cookie_that_was_replaced_ends_the_session() {
    let (corp, server) = start_rotating().await;
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    let mut thief = Browser { server: &server, cookies: ada.cookies.clone() };
    let first = ada.session().unwrap().clone();
    assert_eq!(ada.status().await, 200);
    assert_ne!(ada.session(), Some(&first), "it was replaced");
    assert_eq!(ada.status().await, 200);
    assert_eq!(thief.status().await, 401);
    assert_eq!(ada.status().await, 401, "which of the two is the owner is unknown");
}

#[tokio::test]
async fn a_thief_who_is_the_first_to_use_a_cookie_loses_the_session_too() {
    let (corp, server) = start_rotating().await;
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    let mut thief = Browser { server: &server, cookies: ada.cookies.clone() };
    assert_eq!((thief.status().await, thief.status().await), (200, 200));
    assert_eq!(ada.status().await, 401);
    assert_eq!(thief.status().await, 401);
}

#[tokio::test]
async fn a_response_that_gets_lost_costs_nobody_their_session() {
    let (corp, server) = start_rotating().await;
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    let before = ada.cookies.clone();
    for _ in 0..3 {
        assert_eq!(ada.status().await, 200);
        // The new value never arrives.
        ada.cookies = before.clone();
    }
    assert_eq!((ada.status().await, ada.status().await), (200, 200));
}

#[tokio::test]
async fn a_stolen_refresh_token_ends_the_session_when_the_provider_notices() {
    let (corp, server) = start().await;
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    assert_eq!(ada.status().await, 200);
    // The provider sees one of its refresh tokens twice.
    corp.end_all_sessions();
    assert_eq!(ada.status().await, 401);
    assert_eq!(ada.get("/api/sessions").await.status, 401);
}

#[tokio::test]
async fn renewed_tokens_of_another_person_end_the_session() {
    let (corp, server) = start().await;
    corp.behaviour().expires_in = Some(0);
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    corp.behaviour().person = person("2", "Eve", &["boss"]);
    assert_eq!(ada.status().await, 401);
}

#[tokio::test]
async fn pages_of_other_sites_cannot_use_the_session() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    ada.sign_in("corp", &corp).await;
    for (method, path) in [
        ("POST", "/api/conversations/c/prompt"),
        ("DELETE", "/api/session"),
        ("DELETE", "/api/sessions/00"),
        ("GET", "/api/me"),
    ] {
        for (name, value) in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")]
        {
            let request = server.request(method, path).header("cookie", ada.cookie_header());
            let request = request.header(name, value).header("content-type", "application/json");
            assert_eq!(server.send(request, r#"{"text":"Hi"}"#).await.status, 403, "{path} {name}");
        }
    }
    assert_eq!(ada.status().await, 200);
}

#[tokio::test]
async fn a_declined_sign_in_is_explained_and_begins_nothing() {
    let (corp, server) = start().await;
    let mut ada = Browser::new(&server);
    for (accept, expected) in [("*/*", 403), ("text/html", 303)] {
        let callback = ada.approved("corp", &corp).await;
        let state = callback.split("state=").nth(1).unwrap();
        let path = format!("/api/login/corp/callback?error=access_denied&state={state}");
        let request = server.request("GET", &path).header("cookie", ada.cookie_header());
        let refused = server.send(request.header("accept", accept), "").await;
        assert_eq!(refused.status, expected, "{refused:?}");
        if expected == 303 {
            assert_eq!(refused.header("location"), "/#sign-in=declined");
        }
        assert!(!format!("{:?}", refused.headers).contains("toolwright_pass"));
    }
    for path in ["/api/login/nowhere", "/api/login/nowhere/callback?state=x"] {
        assert_eq!(ada.get(path).await.status, 404, "{path}");
    }
}

/// Verifies tokens whose text is their subject.
struct TokenIsSubject {
    issuer: String,
}

impl TokenVerifier for TokenIsSubject {
    fn issuer(&self) -> Option<&str> {
        Some(&self.issuer)
    }

    fn verify<'a>(&'a self, token: &'a Secret) -> BoxFuture<'a, Result<Claims, VerifyError>> {
        // A token has no colon.
        let subject = token.expose().replace('_', ":");
        Box::pin(std::future::ready(Ok(Claims::new(subject, ["http://localhost/mcp"]))))
    }
}

#[tokio::test]
async fn tokens_of_an_authorization_server_cannot_claim_the_subject_of_a_person() {
    let corp = OpenIdServer::start().await;
    for (issuer, token, expected) in [
        ("https://other.example", "corp_1", None),
        ("https://other.example", "1", Some("1")),
        // The provider is the authorization server of the tokens, too: the person is the same.
        (&*corp.issuer, "1", Some("corp:1")),
    ] {
        let verifier = TokenIsSubject { issuer: issuer.to_owned() };
        let oauth = ResourceServer::new("http://localhost/mcp", verifier);
        let server = builder(SignIn::new().provider(provider("corp", &corp)))
            .configure_auth(|auth| auth.oauth(oauth));
        let server = serve(server).await;
        let request = server.request("GET", "/api/me");
        let request = request.header("authorization", format!("Bearer {token}"));
        let response = server.send(request, "").await;
        match expected {
            None => assert_eq!(response.status, 401, "{response:?}"),
            Some(subject) => assert_eq!(response.json()["subject"], subject),
        }
        let mut ada = Browser::new(&server);
        ada.sign_in("corp", &corp).await;
        assert_eq!(ada.get("/api/me").await.json()["subject"], "corp:1");
    }
}

#[tokio::test]
async fn a_person_without_a_required_scope_gets_no_session() {
    let corp = OpenIdServer::start().await;
    let verifier = TokenIsSubject { issuer: "https://other.example".to_owned() };
    let oauth = ResourceServer::new("http://localhost/mcp", verifier)
        .scope("look", ScopeRule::all())
        .required_scopes(["look"]);
    let server = ServerBuilder::new(no_tools(), FnModel::echo())
        .sign_in(SignIn::new().provider(provider("corp", &corp)))
        .configure_auth(|auth| auth.oauth(oauth));
    let server = serve(server).await;
    let mut browser = Browser::new(&server);
    corp.behaviour().person = person("3", "Mallory", &[]);
    let refused = browser.sign_in("corp", &corp).await;
    assert_eq!((refused.status, browser.session()), (403, None), "{refused:?}");
    corp.behaviour().person = person("1", "Ada", &["staff"]);
    assert_eq!(browser.sign_in("corp", &corp).await.status, 303);
    assert_eq!(browser.status().await, 200);
}
