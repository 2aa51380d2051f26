//! Which tokens are accepted, and the challenges for other requests.

use std::sync::atomic::Ordering;

use data_encoding::BASE64URL_NOPAD;
use serde_json::{Value, json};
use test_support_mcp::client::{
    HttpAnswer, RunningServer, http_request, post, send, serve, stateless_request,
};
use test_support_mcp::tools::{kit, server};
use tokio::task::yield_now;
use toolwright::Secret;
use toolwright_mcp::{Claims, Jwks, ResourceServer, ScopeRule, StaticTokens, VerifyError};

use crate::issuer::{Issuer, Key, claims, now, unsigned};

pub(crate) const HERE: &str = "https://tools.example/mcp";
pub(crate) const ISSUER: &str = "https://login.example";
const METADATA: &str = "https://tools.example/.well-known/oauth-protected-resource/mcp";

/// Adds a token to a request.
pub(crate) fn with(token: &str, text: &str) -> String {
    let header = format!("\r\nAuthorization: Bearer {token}\r\n");
    text.replacen("\r\n", &header, 1)
}

/// A server that accepts tokens of this key, requires `read` and grants everything with it.
async fn protected(key: &Key) -> RunningServer {
    let jwks = Jwks::from_key_set(ISSUER, &json!({ "keys": [key.published()] })).unwrap();
    let oauth =
        ResourceServer::new(HERE, jwks).scope("read", ScopeRule::all()).required_scopes(["read"]);
    serve(&server(&kit()).oauth(oauth).build().unwrap()).await
}

fn good() -> Value {
    claims(ISSUER, HERE, "ada", "read")
}

async fn list(served: &RunningServer, token: &str) -> HttpAnswer {
    let text = with(token, &stateless_request(1, "tools/list", json!({})));
    send(served.addr, text).await
}

fn challenge(answer: &HttpAnswer) -> &str {
    answer.header("www-authenticate").unwrap_or_default()
}

#[tokio::test]
async fn a_good_token_is_let_in_whatever_the_revision() {
    let key = Key::new("k");
    let served = protected(&key).await;
    let token = key.sign(&good());
    let answer = list(&served, &token).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["result"]["cacheScope"], "private");
    let bearer = format!("Bearer {token}");
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let hello = test_support_mcp::client::initialize(version, json!({}));
        let answer = post(served.addr, &[("Authorization", &bearer)], &hello).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let session = answer.header("Mcp-Session-Id").unwrap();
        let headers = [("Authorization", &*bearer), ("Mcp-Session-Id", session)];
        let call = json!({ "name": "add", "arguments": { "a": 2, "b": 3 } });
        let call = test_support_mcp::client::request(1, "tools/call", call);
        let answer = post(served.addr, &headers, &call).await;
        assert_eq!(answer.json()["result"]["content"][0]["text"], "5");
        let bare = post(served.addr, &headers[1..], &call).await;
        assert_eq!(bare.status, 401, "the token belongs to every request");
    }
}

#[tokio::test]
async fn who_brings_no_token_is_told_where_to_get_one() {
    let served = protected(&Key::new("k")).await;
    let list = stateless_request(1, "tools/list", json!({}));
    let expected = format!(r#"Bearer scope="read", resource_metadata="{METADATA}""#);
    let other = list.replacen("\r\n", "\r\nAuthorization: Basic YWRhOnB3\r\n", 1);
    for text in [list, other, http_request("GET", &[], ""), http_request("DELETE", &[], "")] {
        let answer = send(served.addr, text).await;
        assert_eq!((answer.status, challenge(&answer)), (401, &*expected), "{answer:?}");
    }
}

#[tokio::test]
async fn a_header_that_is_garbled_and_a_token_in_the_address_are_bad_requests() {
    let key = Key::new("k");
    let served = protected(&key).await;
    let token = key.sign(&good());
    let list = stateless_request(1, "tools/list", json!({}));
    let query = |text: &str| text.replacen("/mcp", &format!("/mcp?x=1&access_token={token}"), 1);
    for text in [
        with("", &list),
        with("two words", &list),
        with("täken", &list),
        with(&token, &with(&token, &list)),
        with(&"a".repeat(17 << 10), &list),
        query(&list),
        with(&token, &query(&list)),
    ] {
        let answer = send(served.addr, text).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        let challenge = challenge(&answer);
        assert!(challenge.contains(r#"error="invalid_request""#), "{challenge}");
        assert!(!answer.body.contains(&token));
    }
}

#[tokio::test]
async fn a_token_that_is_not_good_here_and_now_is_refused() {
    let key = Key::new("k");
    let served = protected(&key).await;
    let but = |name: &str, value: Value| {
        let mut claims = good();
        claims[name] = value;
        key.sign(&claims)
    };
    let lacks = |name: &str| {
        let mut claims = good();
        claims.as_object_mut().unwrap().remove(name);
        key.sign(&claims)
    };
    let headed = |header: Value| key.sign_as(&header, &good());
    let token = key.sign(&good());
    let (head, signature) = token.rsplit_once('.').unwrap();
    let none = unsigned(&json!({ "alg": "none", "kid": "k" }), &good());
    let shared = unsigned(&json!({ "alg": "HS256", "kid": "k" }), &good());
    let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.public());
    let shared_signature = ring::hmac::sign(&secret, shared.as_bytes());
    let shared_signature = BASE64URL_NOPAD.encode(shared_signature.as_ref());
    for (token, why) in [
        (but("exp", json!(now() - 61)), "expired"),
        (but("exp", json!("tomorrow")), "garbles"),
        (but("exp", json!(1e300)), "out of bounds"),
        (but("exp", json!(-1)), "out of bounds"),
        (but("nbf", json!(now() + 90)), "not good yet"),
        (but("aud", json!("https://other.example/mcp")), "audience"),
        (but("aud", json!("https://tools.example")), "audience"),
        (but("aud", json!([])), "audience"),
        (but("iss", json!("https://evil.example")), "issuer"),
        (but("iss", json!("https://login.example/")), "issuer"),
        (but("sub", json!("")), "who brings it"),
        (lacks("sub"), "lacks"),
        (lacks("aud"), "lacks"),
        (lacks("exp"), "lacks"),
        (lacks("iss"), "lacks"),
        (Key::new("k").sign(&good()), "signature"),
        (Key::new("other").sign(&good()), "unknown key"),
        (format!("{none}."), "not signed"),
        (format!("{none}.{signature}"), "not signed"),
        (format!("{shared}.{shared_signature}"), "not signed"),
        (format!("{head}."), "signature"),
        (headed(json!({ "alg": "ES384", "kid": "k" })), "unknown key"),
        (headed(json!({ "alg": "RS256", "kid": "k" })), "unknown key"),
        (headed(json!({ "alg": "ES256", "kid": "k", "crit": ["b64"] })), "insists"),
        (headed(json!({ "alg": "ES256", "kid": "k", "typ": "dpop+jwt" })), "access"),
        ("a.b".to_owned(), "no signed"),
        ("a.b.c.d".to_owned(), "no signed"),
        ("opaque".to_owned(), "no signed"),
    ] {
        let answer = list(&served, &token).await;
        let challenge = challenge(&answer);
        assert_eq!(answer.status, 401, "{why}: {answer:?}");
        assert!(challenge.contains(r#"error="invalid_token""#), "{challenge}");
        assert!(challenge.contains(why), "{why}: {challenge}");
        assert!(challenge.contains(METADATA), "{challenge}");
    }
    assert_eq!(list(&served, &token).await.status, 200);
}

#[tokio::test]
async fn clocks_may_differ_and_audiences_be_written_otherwise() {
    let key = Key::new("k");
    let served = protected(&key).await;
    for (name, value) in [
        ("exp", json!(now() - 20)),
        ("exp", json!(now() as f64 + 0.5)),
        ("nbf", json!(now() + 20)),
        ("aud", json!(["https://other.example", HERE])),
        ("aud", json!("HTTPS://Tools.Example/mcp/")),
        ("scope", json!(["read", "write"])),
    ] {
        let mut claims = good();
        claims[name] = value;
        let answer = list(&served, &key.sign(&claims)).await;
        assert_eq!(answer.status, 200, "{claims}: {answer:?}");
    }
}

#[tokio::test]
async fn who_lacks_a_scope_that_all_need_is_told_which() {
    let key = Key::new("k");
    let served = protected(&key).await;
    let answer = list(&served, &key.sign(&claims(ISSUER, HERE, "ada", "readx profile"))).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    let challenge = challenge(&answer);
    for part in [r#"error="insufficient_scope""#, r#"scope="read""#, METADATA] {
        assert!(challenge.contains(part), "{challenge}");
    }
}

#[tokio::test]
async fn the_document_says_who_makes_tokens() {
    let served = protected(&Key::new("k")).await;
    let at = |path: &str| {
        http_request("GET", &[("Host", "tools.example")], "").replacen("/mcp", path, 1)
    };
    let root = "/.well-known/oauth-protected-resource";
    for path in [root, &format!("{root}/mcp")] {
        let answer = send(served.addr, at(path)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
        let wanted = json!({
            "resource": HERE, "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"], "scopes_supported": ["read"],
        });
        assert_eq!(answer.json(), wanted);
    }
    assert_eq!(send(served.addr, at(&format!("{root}/other"))).await.status, 404);
    let posted = http_request("POST", &[], "{}").replacen("/mcp", root, 1);
    assert_eq!(send(served.addr, posted).await.status, 405);
    let elsewhere = at(root).replacen("tools.example", "evil.example", 1);
    assert_eq!(send(served.addr, elsewhere).await.status, 403);
    let open = serve(&server(&kit()).build().unwrap()).await;
    let answer = send(open.addr, at(root).replacen("tools.example", "localhost", 1)).await;
    assert_eq!(answer.status, 404, "without OAuth there is no such document");
}

#[tokio::test]
async fn keys_are_fetched_once_and_again_for_a_new_one_but_not_for_every_stranger() {
    let issuer = Issuer::open().await;
    let jwks = Jwks::new(issuer.url.clone()).unwrap();
    let oauth = ResourceServer::new(HERE, jwks);
    let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
    let claims = claims(&issuer.url, HERE, "ada", "");
    let fetched = || issuer.fetched.load(Ordering::SeqCst);
    for _ in 0..3 {
        assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
    }
    assert_eq!(fetched(), 1);
    issuer.rotate("second");
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
    assert_eq!(fetched(), 2);
    for kid in ["x", "y", "z"] {
        let answer = list(&served, &Key::new(kid).sign(&claims)).await;
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
    }
    assert_eq!(fetched(), 2, "strangers do not make us fetch");
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
}

/// Moves the clock on; connections need one that runs.
async fn wait(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_stranger_does_not_keep_the_keys_of_the_issuer_out() {
    let issuer = Issuer::open().await;
    let oauth = ResourceServer::new(HERE, Jwks::new(issuer.url.clone()).unwrap());
    let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
    let claims = claims(&issuer.url, HERE, "ada", "");
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
    let old = issuer.key().sign(&claims);
    let stranger = list(&served, &Key::new("stranger").sign(&claims)).await;
    assert_eq!(stranger.status, 401, "the keys are those of now: {stranger:?}");
    issuer.rotate("second");
    // Nobody knows yet whether this key is one of the issuer's.
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 503);
    wait(6).await;
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
    wait(6).await;
    assert_eq!(list(&served, &old).await.status, 401, "the old key is not published any more");
}

#[tokio::test]
async fn a_key_that_is_published_while_others_are_on_their_way_is_not_unknown() {
    let issuer = Issuer::open().await;
    let oauth = ResourceServer::new(HERE, Jwks::new(issuer.url.clone()).unwrap());
    let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
    let claims = claims(&issuer.url, HERE, "ada", "");
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
    let on_the_way = issuer.way.write().await;
    let stranger = Key::new("stranger").sign(&claims);
    let follow = async {
        while issuer.fetched.load(Ordering::SeqCst) < 2 {
            yield_now().await;
        }
        issuer.rotate("second");
        let arrive = async {
            for _ in 0..1_000 {
                yield_now().await;
            }
            drop(on_the_way);
        };
        let new = issuer.key().sign(&claims);
        tokio::join!(list(&served, &new), arrive).0
    };
    let (stranger, new) = tokio::join!(list(&served, &stranger), follow);
    assert_eq!(stranger.status, 401, "{stranger:?}");
    assert_eq!(new.status, 503, "{new:?}");
    wait(6).await;
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
}

#[tokio::test]
async fn a_token_with_a_new_key_is_not_rejected_while_keys_cannot_be_fetched() {
    let issuer = Issuer::open().await;
    let oauth = ResourceServer::new(HERE, Jwks::new(issuer.url.clone()).unwrap());
    let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
    let claims = claims(&issuer.url, HERE, "ada", "");
    let old = issuer.key().sign(&claims);
    assert_eq!(list(&served, &old).await.status, 200);
    issuer.rotate("second");
    issuer.is_down.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 503);
    }
    assert_eq!(list(&served, &old).await.status, 200, "the keys of before are still good");
    issuer.is_down.store(false, Ordering::SeqCst);
    wait(6).await;
    assert_eq!(list(&served, &issuer.key().sign(&claims)).await.status, 200);
}

#[tokio::test]
async fn while_keys_cannot_be_had_nobody_is_let_in() {
    let issuer = Issuer::open().await;
    let key = issuer.key();
    for jwks in [
        Jwks::with_keys_url(issuer.url.clone(), &format!("{}/nowhere", issuer.url)),
        Jwks::with_keys_url(issuer.url.clone(), &format!("{}/register", issuer.url)),
        Jwks::new(format!("{}/realm", issuer.url)),
        Jwks::new(issuer.url.replace("127.0.0.1", "localhost")),
    ] {
        let oauth = ResourceServer::new(HERE, jwks.unwrap());
        let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
        let answer = list(&served, &key.sign(&claims(&issuer.url, HERE, "ada", ""))).await;
        assert_eq!(answer.status, 503, "{answer:?}");
        assert!(answer.header("retry-after").is_some());
    }
}

#[tokio::test]
async fn tokens_of_a_table_and_of_a_closure_are_checked_alike() {
    let ours = Claims::new("ada", [HERE]);
    let theirs = Claims::new("ada", ["https://other.example/mcp"]);
    let table = StaticTokens::new()
        .token(&Secret::new("opaque-1"), ours.clone())
        .token(&Secret::new("opaque-2"), theirs);
    let table = ResourceServer::new(HERE, table).authorization_server(ISSUER);
    let closure = ResourceServer::new(HERE, move |token: Secret| {
        let ours = ours.clone();
        async move {
            match token.expose() {
                "opaque-1" => Ok(ours),
                "opaque-2" => Ok(ours.expires(std::time::UNIX_EPOCH)),
                "opaque-3" => Err(VerifyError::unavailable("down")),
                _ => Err(VerifyError::invalid_token("who \"is\"\r\nthat?")),
            }
        }
    });
    let closure = closure.authorization_server(ISSUER);
    for (oauth, third) in [(table, 401), (closure, 503)] {
        let served = serve(&server(&kit()).oauth(oauth).build().unwrap()).await;
        for (token, status) in
            [("opaque-1", 200), ("opaque-2", 401), ("opaque-3", third), ("opaque-4", 401)]
        {
            let answer = list(&served, token).await;
            assert_eq!(answer.status, status, "{token}: {answer:?}");
        }
    }
}

#[test]
fn a_protection_that_makes_no_sense_is_not_built() {
    let table = StaticTokens::new;
    let here = || ResourceServer::new(HERE, table()).authorization_server(ISSUER);
    for (oauth, part) in [
        (ResourceServer::new("tools", table()), "resource"),
        (ResourceServer::new("http://tools.example/", table()), "https"),
        (ResourceServer::new(HERE, table()), "authorization_server"),
        (here().authorization_server("login"), "authorization server"),
        (here().scope("two words", ScopeRule::all()), "two words"),
        (here().required_scopes(["a\"b"]), "a\"b"),
    ] {
        let error = server(&kit()).oauth(oauth).build().unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
    let both = server(&kit()).token(Secret::new("a long enough token"));
    assert!(both.oauth(here()).build().is_err());
    let kit = kit();
    let careful =
        kit.invoker.with_policy(|_, policy| policy.approval = toolwright::ApprovalPolicy::Always);
    let scoped = here().scope("read", ScopeRule::all());
    let builder = toolwright_mcp::McpServer::builder(careful.unwrap()).oauth(scoped);
    assert!(builder.build().unwrap_err().to_string().contains("adjust"));
}
