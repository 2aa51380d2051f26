//! Clients that get a token from an authorization server, and our server that takes it: both sides meet.

use std::sync::Arc;

use axum::Router;
use futures::future::BoxFuture;
use serde_json::json;
use test_support::real;
use test_support_mcp::tools::{kit, server};
use tokio::net::TcpListener;
use toolwright::{Invoker, Registry, ToolCall};
use toolwright_mcp::{
    Jwks, OAuthClient, RemoteServer, ResourceServer, ScopeRule, Trust, UserAuthorizer,
};

use crate::issuer::Issuer;

/// Serves tools below `/mcp` of some router, `read` for those that change nothing, `all` for all.
async fn serve_protected(issuer: &Issuer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let oauth = ResourceServer::new(&url, Jwks::new(&issuer.url).unwrap())
        .scope("read", ScopeRule::read_only())
        .scope("all", ScopeRule::all())
        .required_scopes(["read"]);
    let server = server(&kit()).oauth(oauth).build().unwrap();
    let app = Router::new().nest("/mcp", server.router());
    let app = app.merge(server.well_known_router());
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

/// Authorizes without a user: the page redirects at once.
struct HeadlessBrowser;

impl UserAuthorizer for HeadlessBrowser {
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let stay = reqwest::redirect::Policy::none();
            let http = reqwest::Client::builder().redirect(stay).build().unwrap();
            let answer = http.get(page).send().await.unwrap();
            Ok(answer.headers()["location"].to_str().unwrap().to_owned())
        })
    }
}

#[tokio::test]
async fn our_client_is_authorized_and_sees_what_its_scopes_open() {
    let issuer = Issuer::open().await;
    let url = serve_protected(&issuer).await;
    let bare = RemoteServer::url("bare", &url).attach(&Registry::new()).await;
    assert!(matches!(bare, Err(toolwright_mcp::AttachError::Unauthorized { .. })), "{bare:?}");
    for (revision, scopes, sees) in [
        ("2026-07-28", &["read"][..], false),
        ("2026-07-28", &["read", "all"], true),
        ("2025-11-25", &["read"], false),
    ] {
        let registry = Registry::new();
        let oauth = OAuthClient::new("http://127.0.0.1:9/callback", Arc::new(HeadlessBrowser));
        let attach = RemoteServer::url("shop", &url)
            .revision(revision)
            .oauth(oauth.scopes(scopes.iter().copied()))
            .trust(Trust::Calls);
        let attached = attach.attach(&registry).await.unwrap();
        let invoker = Invoker::new(&registry).unwrap();
        let call = ToolCall::new("shop_add", json!({ "a": 2, "b": 3 }));
        assert_eq!(invoker.invoke(&call).await.text(), "5");
        assert_eq!(registry.get("shop_erase").is_some(), sees, "{scopes:?}");
        attached.detach().await;
    }
    let asked = issuer.asked.lock().unwrap().clone();
    assert_eq!(asked, ["read", "read all", "read"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_python_client_is_authorized_and_asks_for_more_where_more_is_needed() {
    if !real::is_installed() {
        return;
    }
    let issuer = Issuer::open().await;
    let url = serve_protected(&issuer).await;
    let output = tokio::task::spawn_blocking(move || real::python("oauth_client.py", &[&url]));
    let output = output.await.unwrap();
    assert!(output.contains("all well"), "{output}");
    let asked = issuer.asked.lock().unwrap().clone();
    assert!(asked.iter().any(|scopes| scopes == "read"), "{asked:?}");
    assert!(asked.iter().any(|scopes| scopes.contains("all")), "{asked:?}");
}
